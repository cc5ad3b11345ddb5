package backend

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// Do sends one request to a server, starting it if needed, and returns the raw result or the raw JSON-RPC error object. peer
// (which may be nil) gets the progress and log notifications that belong to this call, in order, from the calling goroutine and
// before Do returns. err tells of the transport, in words for people.
// When ctx is cancelled the server is sent notifications/cancelled.
//
// A log line of a server names no call. It is passed on where it came on the call's own stream, or where the call is the only one that
// the server can be at work on; else it is dropped.
func (p *Pool) Do(ctx context.Context, scope policy.Scope, server, method string, params []byte, peer Peer) (result, rpcErr []byte, err error) {
	e := p.entry(server)
	if e == nil {
		return nil, nil, fmt.Errorf("server %q: %w", server, ErrUnknownServer)
	}
	if e.builtin != nil {
		result, rpcErr, err = e.inProcess(ctx, scope, method, params, peer)
	} else if err = e.screen(method, params); err == nil {
		result, rpcErr, err = e.guarded(ctx, call{method: method, params: params, peer: peer, principal: scope.Principal.ID})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("server %q: %w", server, err)
	}
	return result, rpcErr, nil
}

// call sends a request to a server outside. One that did not reach it, because its connection had ended unseen, is sent once more.
func (e *entry) call(ctx context.Context, r call) (result, rpcErr []byte, err error) {
	again := false
	for range 2 {
		c, _, nerr := e.need(ctx)
		if nerr != nil {
			return nil, nil, nerr
		}
		var absent *absentError
		if err = e.enter(ctx, c, r); errors.As(err, &absent) {
			return nil, nil, absent
		}
		if err == nil {
			c.loud(ctx, levelOf(rawjson.Path(r.params, "_meta", metaLevel)))
			result, rpcErr, err = c.request(ctx, r)
		}
		switch {
		case err == nil && c.mismatch(r.method, rpcErr) && !again && e.refresh(ctx) == nil:
			again = true
			continue // with the headers of the tool's new definition
		case err == nil:
			return result, rpcErr, nil
		case errors.Is(err, errLate):
			c.suspect()
			return nil, nil, &missedError{fmt.Sprintf("it did not answer %s within %v", r.method, r.limit.Round(time.Millisecond))}
		case ctx.Err() != nil:
			return nil, nil, err
		}
		var login *AuthorizationError
		if errors.As(err, &login) {
			return nil, nil, fmt.Errorf("%s failed: %w", r.method, login) // an answer, as far as the server's health goes
		}
		if !isNotSent(err) {
			if c.calls.reason() == nil {
				err = &missedError{err.Error()} // the connection stands: it is this call that got lost
			}
			break
		}
		err = c.secrets.error(err)
	}
	return nil, nil, fmt.Errorf("%s failed: %w", r.method, err)
}

// mismatch reports whether a server misses headers that it wants with a tool's call: its definition may be another than the one that we know.
func (c *conn) mismatch(method string, rpcErr []byte) bool {
	return rpcErr != nil && c.modern && method == "tools/call" && codeOf(rpcErr) == rpc.CodeHeaderMismatch
}

// enter is admit within the time of a call.
func (e *entry) enter(ctx context.Context, c *conn, r call) error {
	select {
	case <-c.first: // as nearly always
		return e.admit(ctx, c, r.method, r.params)
	default:
	}
	limited, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	err := e.admit(limited, c, r.method, r.params)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return errLate
	}
	return err
}

// inProcess calls a built-in server. A panic in it is an error of this call.
func (e *entry) inProcess(ctx context.Context, scope policy.Scope, method string, params []byte, peer Peer) (result, rpcErr []byte, err error) {
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
