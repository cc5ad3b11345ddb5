package socket

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/rpc"
)

type params struct {
	ID string `json:"id"`
}

// loop is a connection to a table in this process.
type loop struct {
	table  Table
	caller op.Caller
}

func (l loop) Call(ctx context.Context, method string, p, result any) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	out, refusal := l.table.Methods()[method](ctx, l.caller, raw)
	if refusal != nil {
		return refusal
	}
	if raw, err = json.Marshal(out); err != nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

// TestSocket: an operation is done as it was asked for, an error keeps its kind and its hint, an act of a person is refused to an agent, and
// an unknown member is an error.
func TestSocket(t *testing.T) {
	acts := op.Op[params, params]{Name: "things/act", Act: "act on things"}
	looks := op.Op[params, params]{Name: "things/look"}
	table := Table{Rows: map[string]Row{}, Guard: func(c op.Caller, act string) error {
		if c.PID == 7 {
			return failure.New(failure.Denied, errors.New(act+": only a person may do this"), "")
		}
		return nil
	}}
	do := func(_ context.Context, _ op.Caller, p params) (params, error) {
		if p.ID == "none" {
			return p, failure.New(failure.NotFound, errors.New("there is none"), "look elsewhere")
		}
		return params{p.ID + "!"}, nil
	}
	Handle(table, acts, do)
	Handle(table, looks, do)
	person, agent := loop{table, op.Caller{PID: 1}}, loop{table, op.Caller{PID: 7}}
	for _, c := range []struct {
		by   loop
		op   op.Op[params, params]
		kind failure.Kind
	}{{person, acts, failure.Other}, {person, looks, failure.Other}, {agent, looks, failure.Other}, {agent, acts, failure.Denied}} {
		r, err := Call(t.Context(), c.by, c.op, params{"x"})
		if failure.Of(err).Kind != c.kind || (err == nil) != (c.kind == failure.Other) || err == nil && r.ID != "x!" {
			t.Errorf("%s by %d: %+v %v", c.op.Name, c.by.caller.PID, r, err)
		}
	}
	if _, err := Call(t.Context(), person, looks, params{"none"}); failure.Of(err).Kind != failure.NotFound || !strings.Contains(err.Error(), "none") {
		t.Errorf("%v", err)
	}
	_, refusal := table.Methods()["things/look"](t.Context(), op.Caller{}, []byte(`{"id":"x","more":1}`))
	if refusal == nil || refusal.Code != failure.Invalid.RPC() {
		t.Errorf("a member too many: %v", refusal)
	}
	var none *rpc.Error
	if _, e := table.Methods()["things/look"](t.Context(), op.Caller{}, nil); e != none {
		t.Errorf("no parameters: %v", e)
	}
}
