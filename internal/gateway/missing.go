package gateway

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// Codes of single revisions.
const (
	codeMissingCapability = -32021 // MCP 2026-07-28: the request needs a capability that the client did not declare
	codeVisitFirst        = -32042 // MCP 2025-11-25 only: the user has to visit web pages before the call can work
)

// missingError is a call that cannot go on because its client lacks a capability.
type missingError struct {
	needed []byte // the capability, in the shape of client capabilities
	text   string
}

func (e *missingError) Error() string { return e.text }

// neededFor is the capability that a request of a server needs.
func neededFor(method string, params []byte) []byte {
	switch method {
	case "elicitation/create":
		if mode := rawjson.TextAt(params, "mode"); mode == "url" {
			return []byte(`{"elicitation":{"url":{}}}`)
		}
		return []byte(`{"elicitation":{"form":{}}}`)
	case "sampling/createMessage":
		if rawjson.Member(params, "tools") != nil {
			return []byte(`{"sampling":{"tools":{}}}`)
		}
		return []byte(`{"sampling":{}}`)
	case "roots/list":
		return []byte(`{"roots":{}}`)
	}
	return nil
}

// missing is the modern era's answer to a request that needs a capability which its client did not declare; nil for any other error.
func missing(err error) *rpc.Error {
	var lacks *missingError
	if !errors.As(err, &lacks) || lacks.needed == nil {
		return nil
	}
	return &rpc.Error{Code: codeMissingCapability, Message: lacks.text, Data: rawjson.Set(nil, "requiredCapabilities", lacks.needed)}
}

// visitFirst translates the error with which a server of 2025-11-25 names pages that the user has to visit first: modern clients do not
// know its code, and are asked the way that they know. The call is over; a client that comes back makes it anew.
func visitFirst(l link, refusal []byte) (result, bad []byte) {
	if !l.modern() || rpc.ErrorOf(refusal).Code != codeVisitFirst {
		return nil, refusal
	}
	var pages []jsontext.Value
	if json.Unmarshal(rawjson.Path(refusal, "data", "elicitations"), &pages) != nil || len(pages) == 0 || len(pages) > maxAsks {
		return nil, (&rpc.Error{Code: rpc.CodeInternal, Message: rpc.ErrorOf(refusal).Message}).Raw()
	}
	requests := []byte("{}")
	for i, page := range pages {
		request := rawjson.Set(rawjson.Set(nil, "method", []byte(`"elicitation/create"`)), "params", rawjson.Set(page, "mode", []byte(`"url"`)))
		requests = rawjson.Set(requests, "visit"+strconv.Itoa(i+1), request)
	}
	if e := missing(checkInput(l.capabilities, requests)); e != nil {
		return nil, e.Raw()
	}
	return append(append([]byte(`{"resultType":"input_required","inputRequests":`), requests...), '}'), nil
}
