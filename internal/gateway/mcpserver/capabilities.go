package mcpserver

import (
	"errors"
	"fmt"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// CodeMissingCapability is the error of MCP 2026-07-28 for a request that needs a capability which the client did not declare.
const CodeMissingCapability = -32021

// askable are the capabilities of a client that let servers ask it something.
var askable = [...]string{"elicitation", "sampling", "roots"}

// canBeAsked reports whether a client declared that it can be asked something.
func canBeAsked(capabilities []byte) bool {
	for _, key := range askable {
		if isObject(rawjson.Member(capabilities, key)) {
			return true
		}
	}
	return false
}

// mayAsk reports whether a server may ask the client something while it serves a method.
func mayAsk(method string) bool {
	return method == "tools/call" || method == "resources/read" || method == "prompts/get"
}

// passable are a client's capabilities as servers may know them: without those to ask it if it cannot be asked over this link, and
// without tasks that the client would run for servers (2025-11-25), which we do not carry.
func passable(capabilities []byte, asked bool) []byte {
	if capabilities == nil {
		return nil
	}
	if !asked {
		for _, key := range askable {
			capabilities = rawjson.Set(capabilities, key, nil)
		}
	}
	return rawjson.Set(capabilities, "tasks", nil)
}

// undeclared is the error of a client without the capability that a server's request needs; nil: the client has it.
func undeclared(capabilities []byte, method string, params []byte) *rpc.Error {
	has := func(path ...string) bool { return isObject(rawjson.Path(capabilities, path...)) }
	ok := false
	switch method {
	case "elicitation/create":
		mode := "form"
		if m := rawjson.Member(params, "mode"); m != nil {
			mode, _ = rawjson.Text(m)
		}
		switch mode {
		case "form": // as before there were modes, {} means forms
			ok = has("elicitation") && (has("elicitation", "form") || !has("elicitation", "url"))
		case "url":
			ok = has("elicitation", "url")
		}
		if !ok && has("elicitation") {
			return rpc.InvalidParams("this client does not have the capability for elicitation of mode " + mode)
		}
	case "sampling/createMessage":
		ok = has("sampling") && (rawjson.Member(params, "tools") == nil || has("sampling", "tools"))
		if !ok && has("sampling") {
			return rpc.InvalidParams("this client does not have the capability for sampling with tools")
		}
	case "roots/list":
		ok = has("roots")
	}
	if ok {
		return nil
	}
	return &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "Method not found: this client does not have the capability for " + method}
}

// checkInput returns what is wrong with the requests that a server wants its client to fulfil. Only requests for which the client
// declared the capability are passed to it.
func checkInput(capabilities, requests []byte) error {
	if requests == nil {
		return nil
	}
	if !isObject(requests) {
		return errors.New("the server asks for input in a form that is not valid")
	}
	n := 0
	for key, request := range rawjson.Members(requests) {
		method, ok := rawjson.Text(rawjson.Member(request, "method"))
		if n++; !ok || n > maxQuestions {
			return errors.New("the server asks for input in a form that is not valid")
		}
		if bad := undeclared(capabilities, method, rawjson.Member(request, "params")); bad != nil {
			return &missingError{
				needed: neededFor(method, rawjson.Member(request, "params")),
				text:   fmt.Sprintf("the server asks for input (%s) that this client cannot give: %s", key, bad.Message),
			}
		}
	}
	return nil
}

// missingError ends a call whose client lacks a capability.
type missingError struct {
	needed []byte // the capability, in the shape of client capabilities
	text   string
}

func (e *missingError) Error() string { return e.text }

// neededFor is the capability that a request of a server needs.
func neededFor(method string, params []byte) []byte {
	switch method {
	case "elicitation/create":
		if rawjson.TextAt(params, "mode") == "url" {
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
	return &rpc.Error{Code: CodeMissingCapability, Message: lacks.text, Data: rawjson.Set(nil, "requiredCapabilities", lacks.needed)}
}
