// Package answers is the table of the requests that the socket of a node answers. It decodes their parameters, refuses agents what only a
// person may do, and gives an error its code.
package answers

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/fence"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// Table is the requests that the socket answers, by name.
type Table map[string]func(ctx context.Context, c daemon.Caller, params []byte) (any, *rpc.Error)

// Handle has f answer a method.
func Handle[P, R any](to Table, m api.Method[P, R], f func(ctx context.Context, c daemon.Caller, p P) (R, error)) {
	to[m.Name] = func(ctx context.Context, c daemon.Caller, params []byte) (any, *rpc.Error) {
		p, err := Decode(c, m, params)
		if err != nil {
			return nil, failure.ToRPC(err)
		}
		r, err := f(ctx, c, p)
		if err != nil {
			return nil, failure.ToRPC(err)
		}
		return r, nil
	}
}

// Decode reads the parameters of a method for a caller that may use it. Both ends are this program, so a malformed request is a bug
// or comes from a stranger.
func Decode[P, R any](c daemon.Caller, m api.Method[P, R], params []byte) (p P, err error) {
	if m.Act != "" {
		if err := PersonOnly(c, m.Act); err != nil {
			return p, err
		}
	}
	if len(params) > 0 {
		if err := rawjson.Decode(params, &p, json.RejectUnknownMembers(true)); err != nil {
			return p, failure.New(failure.Invalid, fmt.Errorf("parameters: %w", err), "")
		}
	}
	return p, nil
}

// PersonOnly refuses an act to agents (decision 9).
func PersonOnly(c daemon.Caller, act string) error {
	if why := fence.AgentBehind(c.PID); why != "" {
		return failure.New(failure.Denied, fmt.Errorf("%s: only a person may do this, and %s", act, why), "")
	}
	return nil
}
