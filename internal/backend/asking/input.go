package asking

import (
	"bytes"
	"context"
	"fmt"

	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// Result returns the result of a server in which each question to the client names the server (MCP 2026-07-28: input_required, and tasks
// that wait for input). Any other result stays as it is. The error refuses a question.
func (a Asker) Result(result []byte) ([]byte, *rpc.Error) {
	if !bytes.Contains(result, []byte("inputRequests")) && !bytes.Contains(result, []byte(`\u00`)) { // an escape can hide the name
		return result, nil
	}
	requests := rawjson.Member(result, "inputRequests")
	if requests == nil || requests[0] != '{' {
		return result, nil
	}
	fields, _ := rawjson.Fields(requests)
	for i, f := range fields {
		params, refusal := a.Question(rawjson.TextAt(f.Value, "method"), rawjson.Member(f.Value, "params"))
		if refusal != nil {
			return nil, refusal
		}
		fields[i].Value = rawjson.Set(f.Value, "params", params)
	}
	return rawjson.Set(result, "inputRequests", rawjson.Object(fields...)), nil
}

// codeVisitFirst is the error of MCP 2025-11-25 with which a server names web pages that the user must visit before the call can work.
const codeVisitFirst = -32042

// Error is Result for the error object of a server. A page whose address is refused is an error.
func (a Asker) Error(rpcErr []byte) ([]byte, *rpc.Error) {
	if string(rawjson.Member(rpcErr, "code")) != fmt.Sprint(codeVisitFirst) {
		return rpcErr, nil
	}
	pages, ok := rawjson.List(rawjson.Path(rpcErr, "data", "elicitations"))
	if !ok {
		return rpcErr, nil
	}
	for i, page := range pages {
		if page[0] != '{' {
			return rpcErr, nil
		}
		named, refusal := a.page(page)
		if refusal != nil {
			return nil, refusal
		}
		pages[i] = named
	}
	return rawjson.Replace(rpcErr, rawjson.Array(pages), "data", "elicitations"), nil
}

// Peer returns the client of a call, which sees whose questions it gets. refused is told of a question that was not passed on. A nil peer
// stays nil.
func (a Asker) Peer(p mcpclient.Peer, refused func(method string, why *rpc.Error)) mcpclient.Peer {
	if p == nil {
		return nil
	}
	return named{p, a, refused}
}

type named struct {
	mcpclient.Peer
	asker   Asker
	refused func(method string, why *rpc.Error)
}

func (n named) Ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error) {
	params, refusal := n.asker.Question(method, params)
	if refusal != nil {
		n.refused(method, refusal)
		return nil, refusal.Raw(), nil
	}
	return n.Peer.Ask(ctx, method, params)
}

// Notify passes on a notification; one of a task may carry questions.
func (n named) Notify(method string, params []byte) {
	named, refusal := n.asker.Result(params)
	if refusal != nil {
		n.refused(method, refusal)
		named = rawjson.Set(params, "inputRequests", nil)
	}
	n.Peer.Notify(method, named)
}
