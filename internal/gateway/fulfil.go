package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mycelium/internal/gate"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// maxRounds bounds how often a server of the modern era may ask again before its call of a client with a handshake is given up.
const maxRounds = 16

// restore puts into a retry's params what the server itself sent as its state, in the place of ours.
func (st requestState) restore(params []byte) []byte {
	if !st.Has {
		return rawjson.Set(params, "requestState", nil)
	}
	return rawjson.Set(params, "requestState", rawjson.Quote(st.Inner))
}

// inner is the state that holds a server's own.
func inner(reply gate.Reply) requestState {
	st := requestState{Call: reply.Open}
	st.Inner, st.Has = rawjson.Text(rawjson.Member(reply.Result, "requestState"))
	return st
}

// checkInput reports what is wrong with the requests that a server wants its client to fulfil: only what the client declared is
// passed to it.
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
		if n++; !ok || n > maxAsks {
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

// passOn hands a modern server's wish for input to a modern client, with the server's state inside ours.
func (s *Server) passOn(ctx context.Context, l link, r gate.Request, reply gate.Reply) (result, refusal []byte) {
	if err := checkInput(l.capabilities, rawjson.Member(reply.Result, "inputRequests")); err != nil {
		r.Continues = reply.Open
		s.gate.Abandon(ctx, l.session, r, err)
		if e := missing(err); e != nil {
			return nil, e.Raw()
		}
		return refused(l, r, err)
	}
	return rawjson.Set(reply.Result, "requestState", rawjson.Quote(s.sealState(l.session, &r, inner(reply)))), nil
}

// fulfil answers a modern server's wishes for input by asking a client of the era with a handshake, until the call is over.
func (s *Server) fulfil(ctx context.Context, l link, r gate.Request, reply gate.Reply) (gate.Reply, error) {
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
		r.Params = inner(reply).restore(params)
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
	if requests == nil { // it is busy, and wants to be called again
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
	all := make(chan answered, maxAsks)
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
