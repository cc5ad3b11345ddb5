package gateway

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"mycelium/internal/gate"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// maxAsks bounds the questions that wait for one client, and those that wait within one parked call.
const maxAsks = 32

var (
	errNobody   = errors.New("this client cannot be asked")
	errBusy     = errors.New("the client has too many questions open")
	errUnasked  = errors.New("the client does not read, so it cannot be asked")
	errNoAnswer = errors.New("the client did not answer in time")
)

// asks are the questions to one client that wait for its answer. An answer is matched by its id here and nowhere else: the answer of
// one client never settles a question to another.
type asks struct {
	mu   sync.Mutex
	last int64
	open map[string]chan rpc.Message
}

func (a *asks) begin() (id []byte, answer <-chan rpc.Message, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.open) >= maxAsks {
		return nil, nil, errBusy
	}
	if a.open == nil {
		a.open = map[string]chan rpc.Message{}
	}
	a.last++
	id = strconv.AppendInt(nil, a.last, 10)
	c := make(chan rpc.Message, 1)
	a.open[string(id)] = c
	return id, c, nil
}

// end forgets a question; a late answer settles nothing.
func (a *asks) end(id []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, string(id))
}

// settle hands an answer to whoever waits for it. The first one counts.
func (a *asks) settle(m rpc.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, ok := a.open[string(m.ID)]; ok {
		delete(a.open, string(m.ID))
		c <- m
	}
}

// ask sends a request of ours to a client of the era with a handshake, and waits for the answer.
func (l link) ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error) {
	if refusal := undeclared(l.capabilities, method, params); refusal != nil {
		return nil, refusal.Raw(), nil
	}
	id, answer, err := l.asks.begin()
	if err != nil {
		return nil, nil, err
	}
	defer l.asks.end(id)
	ctx, cancel := context.WithTimeoutCause(ctx, gate.Patience, errNoAnswer)
	defer cancel()
	if !l.send(rpc.Message{ID: id, Method: method, Params: params}) {
		return nil, nil, errUnasked
	}
	select {
	case m := <-answer:
		return m.Result, m.Error, nil
	case <-l.gone:
		return nil, nil, errGone
	case <-ctx.Done():
		reason := append([]byte(`{"requestId":`), id...)
		l.send(rpc.Message{Method: "notifications/cancelled", Params: append(reason, '}')})
		return nil, nil, context.Cause(ctx)
	}
}

// peer is the client of one call, as the gate and the backend see it.
type peer struct {
	capabilities []byte
	notify       func(method string, params []byte)                                                         // nil: nothing
	ask          func(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error) // nil: it cannot be asked
}

// Capabilities are what the client declared, as far as it reaches through us.
func (p peer) Capabilities() []byte { return p.capabilities }

// Notify passes on what the client asked for.
func (p peer) Notify(method string, params []byte) {
	if p.notify != nil {
		p.notify(method, params)
	}
}

// Ask asks the client.
func (p peer) Ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error) {
	if p.ask == nil {
		if refusal := undeclared(p.capabilities, method, params); refusal != nil {
			return nil, refusal.Raw(), nil
		}
		return nil, nil, errNobody
	}
	return p.ask(ctx, method, params)
}

// askable are the capabilities of a client that let servers ask it something.
func askable() [3]string { return [3]string{"elicitation", "sampling", "roots"} }

// canBeAsked reports whether a client declared anything that it can be asked.
func canBeAsked(capabilities []byte) bool {
	for _, key := range askable() {
		if isObject(rawjson.Member(capabilities, key)) {
			return true
		}
	}
	return false
}

// askedBy reports whether the client may be asked something while a request with this method is served.
func (c *client) askedBy(method string) bool {
	switch method {
	case "tools/call", "resources/read", "prompts/get":
		return canBeAsked(c.capabilities)
	}
	return false
}

// passable are a client's capabilities as servers may know them: without what it cannot be asked over this link, and without
// tasks that the client would run for servers (2025-11-25), which we do not carry.
func passable(capabilities []byte, asked bool) []byte {
	if capabilities == nil {
		return nil
	}
	if !asked {
		for _, key := range askable() {
			capabilities = rawjson.Set(capabilities, key, nil)
		}
	}
	return rawjson.Set(capabilities, "tasks", nil)
}

// undeclared is the error of a client without the capability that a server's request needs; nil: it has it.
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
		case "form": // as it did before there were modes, {} means forms
			ok = has("elicitation") && (has("elicitation", "form") || !has("elicitation", "url"))
		case "url":
			ok = has("elicitation", "url")
		}
		if !ok && has("elicitation") {
			return invalidParams("this client does not have the capability for elicitation of mode " + mode)
		}
	case "sampling/createMessage":
		ok = has("sampling") && (rawjson.Member(params, "tools") == nil || has("sampling", "tools"))
		if !ok && has("sampling") {
			return invalidParams("this client does not have the capability for sampling with tools")
		}
	case "roots/list":
		ok = has("roots")
	}
	if ok {
		return nil
	}
	return &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "Method not found: this client does not have the capability for " + method}
}
