package mcpserver

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/gate"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// maxRounds bounds how often a server of the modern era may ask for input during one call of a client with a handshake.
const maxRounds = 16

// restore returns a retry's params with the state that the server itself sent in the place of ours.
func (st requestState) restore(params []byte) []byte {
	if !st.Has {
		return rawjson.Set(params, "requestState", nil)
	}
	return rawjson.Set(params, "requestState", rawjson.Quote(st.Inner))
}

// stateOf is the state that holds a server's own.
func stateOf(reply gate.Reply) requestState {
	st := requestState{Call: reply.Open}
	st.Inner, st.Has = rawjson.Text(rawjson.Member(reply.Result, "requestState"))
	return st
}

// forwardInput answers a modern client with its server's input_required, the server's state inside ours.
func (s *Server) forwardInput(ctx context.Context, l Link, r gate.Request, reply gate.Reply) (result, refusal []byte) {
	if err := checkInput(l.capabilities, rawjson.Member(reply.Result, "inputRequests")); err != nil {
		r.Continues = reply.Open
		s.gate.Abandon(ctx, l.session, r, err)
		if e := missing(err); e != nil {
			return nil, e.Raw()
		}
		return refused(l, r, err)
	}
	return rawjson.Set(reply.Result, "requestState", rawjson.Quote(s.sealer.sealState(l.session, &r, stateOf(reply)))), nil
}

// fulfilInput answers a modern server's input_required by asking a client of the era with a handshake, until the call is over.
func (s *Server) fulfilInput(ctx context.Context, l Link, r gate.Request, reply gate.Reply) (gate.Reply, error) {
	params := r.Params
	for round := 1; reply.Open != ""; round++ {
		r.Continues = reply.Open
		answers, refusal, err := askAll(ctx, r, reply, round)
		if err != nil {
			s.gate.Abandon(ctx, l.session, r, err)
			if refusal != nil {
				return gate.Reply{Error: refusal}, nil
			}
			return gate.Reply{}, err
		}
		r.Params = stateOf(reply).restore(params)
		if answers != nil {
			r.Params = rawjson.Set(r.Params, "inputResponses", answers)
		}
		if reply, err = s.gate.Call(ctx, l.session, r); err != nil {
			return reply, err
		}
	}
	return reply, nil
}

// askAll puts the requests of one round to the client, all at once, and gathers the answers. refusal is the error with which the
// client answered one of them.
func askAll(ctx context.Context, r gate.Request, reply gate.Reply, round int) (answers, refusal []byte, err error) {
	requests := rawjson.Member(reply.Result, "inputRequests")
	if round > maxRounds {
		return nil, nil, fmt.Errorf("the server asked for input %d times; the call is given up", maxRounds)
	}
	if r.Peer == nil {
		return nil, nil, errNobody
	}
	if err := checkInput(r.Peer.Capabilities(), requests); err != nil {
		return nil, nil, err
	}
	if requests == nil { // the server is busy, and wants to be called again
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(time.Duration(round) * 100 * time.Millisecond):
			return nil, nil, nil
		}
	}
	type answered struct {
		key             string
		result, refusal []byte
		err             error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := 0
	all := make(chan answered, maxQuestions)
	for key, request := range rawjson.Members(requests) {
		n++
		method := rawjson.TextAt(request, "method")
		go func() {
			a := answered{key: key}
			a.result, a.refusal, a.err = r.Peer.Ask(ctx, method, rawjson.Member(request, "params"))
			all <- a
		}()
	}
	answers = []byte("{}")
	for range n {
		a := <-all
		if err == nil && (a.err != nil || a.refusal != nil) {
			if refusal, err = a.refusal, a.err; err == nil {
				err = fmt.Errorf("the client refused the server's request %s: %s", a.key, rpc.ErrorOf(a.refusal).Message)
			}
			cancel() // the others are not needed
		}
		if err == nil {
			answers = rawjson.Set(answers, a.key, a.result)
		}
	}
	return answers, refusal, err
}

// codeVisitFirst is the error of MCP 2025-11-25 with which a server names web pages that the user must visit before the call can work.
const codeVisitFirst = -32042

// visitFirst translates that error for modern clients, which do not know its code: they are asked to elicit a visit of each page. The
// call is over; the client's retry is a new call.
func visitFirst(l Link, serverErr []byte) (result, refusal []byte) {
	if !l.Modern() || rpc.ErrorOf(serverErr).Code != codeVisitFirst {
		return nil, serverErr
	}
	var pages []jsontext.Value
	if json.Unmarshal(rawjson.Path(serverErr, "data", "elicitations"), &pages) != nil || len(pages) == 0 || len(pages) > maxQuestions {
		return nil, (&rpc.Error{Code: rpc.CodeInternal, Message: rpc.ErrorOf(serverErr).Message}).Raw()
	}
	requests := []byte("{}")
	for i, page := range pages {
		request := rawjson.Set([]byte(`{"method":"elicitation/create"}`), "params", rawjson.Set(page, "mode", []byte(`"url"`)))
		requests = rawjson.Set(requests, "visit"+strconv.Itoa(i+1), request)
	}
	if e := missing(checkInput(l.capabilities, requests)); e != nil {
		return nil, e.Raw()
	}
	return inputRequired(requests), nil
}

// inputRequired is the result that asks a modern client for input.
func inputRequired(requests []byte) []byte {
	return append(append([]byte(`{"resultType":"input_required","inputRequests":`), requests...), '}')
}
