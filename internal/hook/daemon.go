package hook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/harness"
	"mycelium/internal/rpc"
)

// Method is the daemon's method that answers an event.
const Method = "hook"

// TokenVar is the environment variable that carries the token of a session to what belongs to it.
const TokenVar = "MYCELIUM_TOKEN" //nolint:gosec // a name, no credential

// Params are the params of [Method]: one event of an agent, and the token of its session where it has one.
type Params struct {
	Token string        `json:"token,omitempty"`
	Event harness.Event `json:"event"`
}

// Daemon decides events by asking the daemon of a project.
type Daemon struct {
	Dir   string // the project folder
	Token string // of the agent's session; "": it has none
	// Alone decides where no daemon runs. It must heed its context.
	Alone func(ctx context.Context, e harness.Event) (harness.Answer, error)
}

// How the hook deals with a daemon that dies or does not answer.
const (
	greetWithin = 5 * time.Second        // a live daemon greets within milliseconds, a frozen one never
	comeback    = 30 * time.Second       // how long a daemon that died in the middle of a question is waited for
	redialAfter = 100 * time.Millisecond // and how often it is looked for
)

// errLost means that the daemon took the event and went away without an answer.
var errLost = errors.New("the daemon ended in the middle")

// Decide asks the daemon; without one Alone decides. A daemon that dies in the middle is waited for a while, since a question to people
// survives it. Decide starts nothing.
func (d *Daemon) Decide(ctx context.Context, e harness.Event) (harness.Answer, error) {
	paths, err := daemon.PathsOf(d.Dir)
	if err != nil {
		return harness.Answer{}, err
	}
	var until time.Time // the daemon was there and has gone: how long it is waited for
	began := time.Now()
	for {
		answer, err := d.ask(ctx, paths, e)
		var refused *rpc.Error
		switch {
		case err == nil:
			return answer, nil
		case errors.As(err, &refused):
			return answer, fmt.Errorf("the daemon refused: %s", refused.Message)
		case ctx.Err() != nil:
			return answer, err
		case errors.Is(err, errLost) && until.IsZero():
			until = time.Now().Add(comeback)
		case !errors.Is(err, daemon.ErrNotRunning) && !errors.Is(err, errLost):
			return answer, err
		}
		if until.IsZero() || time.Now().After(until) {
			break
		}
		select {
		case <-ctx.Done():
			return answer, ctx.Err()
		case <-time.After(redialAfter):
		}
		e.Deadline = max(e.Deadline-time.Since(began).Milliseconds(), 1)
		began = time.Now()
	}
	return d.Alone(ctx, e)
}

// ask sends an event to the daemon. daemon.ErrNotRunning: there is none.
func (d *Daemon) ask(ctx context.Context, paths daemon.Paths, e harness.Event) (answer harness.Answer, err error) {
	greet, cancel := context.WithTimeout(ctx, greetWithin)
	defer cancel()
	c, err := daemon.Dial(greet, paths)
	if err != nil {
		if greet.Err() != nil {
			return answer, fmt.Errorf("the daemon of this project does not answer: %w", err)
		}
		return answer, err
	}
	defer func() { _ = c.Close() }()
	err = c.Call(ctx, Method, Params{Token: d.Token, Event: e}, &answer)
	var refused *rpc.Error
	if err != nil && ctx.Err() == nil && !errors.As(err, &refused) {
		err = fmt.Errorf("%w: %w", errLost, err)
	}
	return answer, err
}
