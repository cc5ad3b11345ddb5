// Package socket is the face of operations on the socket of a node. It decodes parameters, refuses acts of a person to agents, and
// gives an error its code; and it asks for an operation from the other end.
package socket

import (
	"context"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"

	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// Func does an operation for a caller.
type Func[P, R any] func(ctx context.Context, c op.Caller, p P) (R, error)

// Guard refuses an act to a caller that is an agent, or works for one (decision 9).
type Guard func(c op.Caller, act string) error

// Table is the operations that a socket serves.
type Table struct {
	Guard Guard
	Rows  map[string]Row // by name
}

// Row is an operation as the socket serves it.
type Row struct {
	Act, About string // as in [op.Op]
	Route      op.Route
	Params     reflect.Type
	Do         func(ctx context.Context, c op.Caller, params []byte) (any, *rpc.Error)
}

// Methods are the functions of the rows, by name.
func (t Table) Methods() map[string]func(ctx context.Context, c op.Caller, params []byte) (any, *rpc.Error) {
	out := map[string]func(ctx context.Context, c op.Caller, params []byte) (any, *rpc.Error){}
	for name, row := range t.Rows {
		out[name] = row.Do
	}
	return out
}

// Handle has f do an operation.
func Handle[P, R any](to Table, o op.Op[P, R], f Func[P, R]) {
	to.Rows[o.Name] = Row{o.Act, o.About, o.Route, reflect.TypeFor[P](), func(ctx context.Context, c op.Caller, params []byte) (any, *rpc.Error) {
		p, err := Decode(to.Guard, c, o, params)
		if err != nil {
			return nil, failure.ToRPC(err)
		}
		r, err := f(ctx, c, p)
		if err != nil {
			return nil, failure.ToRPC(err)
		}
		return r, nil
	}}
}

// Decode reads the parameters of an operation for a caller that may do it. Both ends are this program, so that malformed parameters are a
// bug or come from a stranger.
func Decode[P, R any](guard Guard, c op.Caller, o op.Op[P, R], params []byte) (p P, err error) {
	if o.Act != "" {
		if err := guard(c, o.Act); err != nil {
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

// Conn is a connection to a node.
type Conn interface {
	Call(ctx context.Context, method string, params, result any) error
}

// Call asks a node for an operation.
func Call[P, R any](ctx context.Context, c Conn, o op.Op[P, R], p P) (r R, err error) {
	err = failure.FromRPC(c.Call(ctx, o.Name, p, &r))
	return r, err
}
