package backend

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"mycelium/internal/backend/asking"
	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/credential"
	"mycelium/internal/policy"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// Do sends one request to a server, starting the server if needed, and returns the raw result or the raw JSON-RPC error object. peer
// may be nil; it gets the progress and log notifications that belong to this call, in order, from the calling goroutine and before Do
// returns. err is a failure of the transport, in words for people. When ctx is cancelled, the server is sent notifications/cancelled.
//
// The calls of a session have their share of the queue of the server, and their answers of the memory. An empty session is our own.
//
// A log line of a server names no call. It is passed on if it came on the call's own stream, or if the server can only be at work on
// this call; otherwise it is dropped.
func (p *Pool) Do(
	ctx context.Context, scope policy.Scope, session, server, method string, params []byte, peer mcpclient.Peer,
) (result, rpcErr []byte, err error) {
	e := p.entry(server)
	if e == nil {
		return nil, nil, fmt.Errorf("server %q: %w", server, ErrUnknownServer)
	}
	if e.builtin != nil {
		result, rpcErr, err = e.inProcess(ctx, scope, method, params, peer)
	} else if err = e.checkHeld(method, params); err == nil {
		answer := p.memory.Claim(session)
		defer answer.Release() // the caller claims what it keeps
		asker := e.asker()
		result, rpcErr, err = e.limitedCall(ctx, mcpclient.Call{
			Method: method, Params: params, Peer: asker.Peer(peer, e.refusedQuestion), Principal: scope.Principal.ID, Session: session,
			Answer: answer,
		})
		if err == nil {
			result, rpcErr, err = e.nameQuestions(asker, method, result, rpcErr)
		}
	}
	if err != nil {
		return nil, nil, maskedError{fmt.Errorf("server %q: %w", server, err)}
	}
	return result, rpcErr, nil
}

// asker is the server as it asks clients.
func (e *entry) asker() asking.Asker {
	e.mu.Lock()
	defer e.mu.Unlock()
	return asking.Asker{Server: e.name, Trusted: e.cfg.Trust}
}

// nameQuestions puts the name of the server into the questions of an answer. A question that is refused ends the call.
func (e *entry) nameQuestions(asker asking.Asker, method string, result, rpcErr []byte) (namedResult, namedErr []byte, err error) {
	var refusal *rpc.Error
	if rpcErr != nil {
		namedErr, refusal = asker.Error(rpcErr)
	} else {
		namedResult, refusal = asker.Result(result)
	}
	if refusal != nil {
		e.refusedQuestion(method, refusal)
		return nil, nil, fmt.Errorf("%s asked its client for input, which was refused: %w", method, refusal)
	}
	return namedResult, namedErr, nil
}

// refusedQuestion records a question of the server that was not passed on.
func (e *entry) refusedQuestion(method string, why *rpc.Error) {
	e.log.Note(method + ": a question of the server was refused: " + why.Message)
	e.pool.logger.Warn("a question of a server was refused", "server", e.name, "method", method, "reason", why.Message)
}

// maskedError is an error whose text shows no secret.
type maskedError struct{ error }

func (e maskedError) Error() string { return credential.Mask(e.error.Error()) }

func (e maskedError) Unwrap() error { return e.error }

// call sends a request to a server outside of this process. A request that did not reach the server, because its connection had ended
// unnoticed, is sent once more.
func (e *entry) call(ctx context.Context, r mcpclient.Call) (result, rpcErr []byte, err error) {
	refreshed := false
	for range 2 {
		c, _, cerr := e.connect(ctx)
		if cerr != nil {
			return nil, nil, cerr
		}
		var absent *absentError
		if err = e.admitInTime(ctx, c, r); errors.As(err, &absent) {
			return nil, nil, absent
		}
		if err == nil {
			c.RaiseLogLevel(ctx, r.Params)
			result, rpcErr, err = c.Request(ctx, r)
		}
		switch {
		case err == nil && c.MissesHeaders(r.Method, rpcErr) && !refreshed && e.refresh(ctx) == nil:
			refreshed = true
			continue // with the headers of the tool's new definition
		case err == nil:
			c.answered.Add(1)
			return result, rpcErr, nil
		case errors.Is(err, mcpclient.ErrTimeout):
			c.callTimedOut()
			why := fmt.Sprintf("it did not answer %s within %v", r.Method, r.Limit.Round(time.Millisecond))
			if came := mcpclient.CameMeanwhile(err); came != "" {
				why += "; meanwhile " + came
			}
			return nil, nil, &noAnswerError{why}
		case ctx.Err() != nil:
			return nil, nil, err
		}
		if errors.Is(err, rpc.ErrBusy) { // we had no place for the answer: the server is not at fault
			return nil, nil, fmt.Errorf("it answered %s, and the answer was dropped: %w", r.Method, err)
		}
		var unusable *mcpclient.AnswerError
		if errors.As(err, &unusable) {
			return nil, nil, fmt.Errorf("%s failed: %w", r.Method, unusable)
		}
		var login *oauth.AuthorizationError
		if errors.As(err, &login) {
			return nil, nil, fmt.Errorf("%s failed: %w", r.Method, login) // the server did answer: its health is not in question
		}
		if !mcpclient.IsNotSent(err) {
			if c.Err() == nil {
				err = text.Hinted(&noAnswerError{err.Error()}, text.HintOf(err)) // the connection stands: only this call was lost
			}
			break
		}
		err = redactError(c.secrets, err)
	}
	return nil, nil, fmt.Errorf("%s failed: %w", r.Method, err)
}

// admitInTime is admit within the time of a call.
func (e *entry) admitInTime(ctx context.Context, c *connection, r mcpclient.Call) error {
	select {
	case <-c.learned: // nearly always
		return e.admit(ctx, c, r.Method, r.Params)
	default:
	}
	limited, cancel := context.WithTimeout(ctx, r.Limit)
	defer cancel()
	err := e.admit(limited, c, r.Method, r.Params)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return mcpclient.ErrTimeout
	}
	return err
}

// inProcess calls a built-in server. A panic in it is an error of this call.
func (e *entry) inProcess(
	ctx context.Context, scope policy.Scope, method string, params []byte, peer mcpclient.Peer,
) (result, rpcErr []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			e.pool.logger.Error("built-in server panicked", "server", e.name, "method", method, "panic", r, "stack", string(debug.Stack()))
			result, rpcErr, err = nil, nil, fmt.Errorf("%s failed: internal fault in the built-in server", method)
		}
	}()
	notify := func(string, []byte) {}
	if peer != nil {
		notify = peer.Notify
	}
	return e.builtin.Do(ctx, scope, method, params, notify)
}
