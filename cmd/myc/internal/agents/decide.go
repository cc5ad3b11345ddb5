package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/hook"
	"mycelium/internal/node"
	"mycelium/internal/node/api"
	"mycelium/internal/rpc"
)

// How the hook deals with a daemon that dies or does not answer.
const (
	hookGreet    = 5 * time.Second        // a live daemon greets within milliseconds, a frozen one never
	hookComeback = 30 * time.Second       // how long a daemon that died in the middle of a question is waited for
	hookRedial   = 100 * time.Millisecond // and how often it is looked for
)

// hookDecide asks the daemon; without one the files decide. A daemon that dies in the middle is waited for a while, since a question to
// people survives it; nothing is started.
func (a *app) hookDecide(ctx context.Context, e hook.Event) (hook.Answer, error) {
	dir, err := a.ProjectDir()
	if err != nil {
		return hook.Answer{}, err
	}
	paths, err := daemon.PathsOf(dir)
	if err != nil {
		return hook.Answer{}, err
	}
	var until time.Time // the daemon was there and has gone: how long it is waited for
	began := time.Now()
	for {
		answer, err := a.hookAsk(ctx, paths, e)
		var refused *rpc.Error
		switch {
		case err == nil:
			return answer, nil
		case errors.As(err, &refused):
			return answer, fmt.Errorf("the daemon refused: %s", refused.Message)
		case ctx.Err() != nil:
			return answer, err
		case errors.Is(err, errHookLost) && until.IsZero():
			until = time.Now().Add(hookComeback)
		case !errors.Is(err, daemon.ErrNotRunning) && !errors.Is(err, errHookLost):
			return answer, err
		}
		if until.IsZero() || time.Now().After(until) {
			break
		}
		select {
		case <-ctx.Done():
			return answer, ctx.Err()
		case <-time.After(hookRedial):
		}
		e.Deadline = max(e.Deadline-time.Since(began).Milliseconds(), 1)
		began = time.Now()
	}
	return node.HookAlone(ctx, &a.Loader, e)
}

// errHookLost means that the daemon took the event and went away without an answer.
var errHookLost = errors.New("the daemon ended in the middle")

// hookAsk sends an event to the daemon. daemon.ErrNotRunning: there is none.
func (a *app) hookAsk(ctx context.Context, paths daemon.Paths, e hook.Event) (answer hook.Answer, err error) {
	greet, cancel := context.WithTimeout(ctx, hookGreet)
	defer cancel()
	c, err := daemon.Dial(greet, paths)
	if err != nil {
		if greet.Err() != nil {
			return answer, fmt.Errorf("the daemon of this project does not answer: %w", err)
		}
		return answer, err
	}
	defer func() { _ = c.Close() }()
	err = c.Call(ctx, "hook", api.HookParams{Token: a.Getenv(api.TokenVar), Event: e}, &answer)
	var refused *rpc.Error
	if err != nil && ctx.Err() == nil && !errors.As(err, &refused) {
		err = fmt.Errorf("%w: %w", errHookLost, err)
	}
	return answer, err
}
