package policy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// answer is one line of `policy eval`'s output.
type answer struct {
	ID     jsontext.Value `json:"id"`
	Effect string         `json:"effect"`
	Rule   string         `json:"rule"`
	Reason string         `json:"reason"`
	Result *policy.Guard  `json:"result,omitempty"` // how the result would be guarded

	Sandbox box.Box `json:"sandbox,omitzero"`  // that the call would run in
	Outside string  `json:"outside,omitempty"` // why a command would run outside of the wall
}

// eval answers JSON Lines. The answer to a line that cannot be read is a denial that says so.
func (a *app) eval(ctx context.Context) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	in := bufio.NewReader(a.In)
	for n := 1; ctx.Err() == nil; n++ {
		line, readErr := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := a.PrintLine(answerTo(v, line, n)); err != nil {
				return err
			}
		}
		if errors.Is(readErr, io.EOF) {
			return nil
		}
		if readErr != nil {
			return fmt.Errorf("policy eval: read stdin: %w", readErr)
		}
	}
	return ctx.Err()
}

func answerTo(v *project.View, line []byte, n int) answer {
	var q question
	if err := json.Unmarshal(line, &q, json.RejectUnknownMembers(true)); err != nil {
		return answer{ID: orNull(q.ID), Effect: "deny", Reason: fmt.Sprintf("line %d cannot be read: %s", n, jsonFault(line, err))}
	}
	call, err := callFor(v, q)
	if err != nil {
		return answer{ID: orNull(q.ID), Effect: "deny", Reason: fmt.Sprintf("line %d: %v", n, err)}
	}
	d := v.Policy.Decide(call)
	out := answer{ID: orNull(q.ID), Effect: d.Effect.String(), Rule: d.Rule, Reason: d.Reason, Sandbox: d.Sandbox, Outside: d.Outside}
	if d.Unknown {
		out.Effect = "unknown"
	}
	if d.Guard != (policy.Guard{}) {
		out.Result = &d.Guard
	}
	return out
}

// jsonFault describes what is wrong with a line without the words of Go.
func jsonFault(line []byte, err error) string {
	var wrong *json.SemanticError
	switch {
	case jsontext.Value(line).Kind() != '{' || !jsontext.Value(line).IsValid():
		return "it is not a JSON object"
	case !errors.As(err, &wrong):
		return err.Error()
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Sprintf("unknown key %q", wrong.JSONPointer.LastToken())
	}
	return fmt.Sprintf("%q has a value of the wrong kind", wrong.JSONPointer.LastToken())
}

func orNull(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("null")
	}
	return v
}
