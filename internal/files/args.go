package files

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// tool is one row of the table: its definition, what its schema says of the arguments, and what it does.
type tool struct {
	props    map[string]property
	required []string
	run      func(ctx context.Context, s *Server, scope policy.Scope, args []byte) (answer, error)
}

// property is what an input schema says of one argument, as far as it is checked here.
type property struct {
	Type string   `json:"type"`
	Enum []string `json:"enum"`
}

// with decodes the arguments, which were checked before, into the struct that a tool's function takes.
func with[T any](f func(ctx context.Context, s *Server, scope policy.Scope, args T) (answer, error)) func(context.Context, *Server, policy.Scope, []byte) (answer, error) {
	return func(ctx context.Context, s *Server, scope policy.Scope, raw []byte) (answer, error) {
		var args T
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &args); err != nil {
				return answer{}, fmt.Errorf("arguments: %s", jsonReason(err))
			}
		}
		return f(ctx, s, scope, args)
	}
}

// check holds the arguments against the schema: an object, no key twice, no key that the schema does not name (a case variant is
// another key), nothing required missing, every value of its type.
func (t *tool) check(raw []byte) error {
	args := map[string]jsontext.Value{}
	if len(raw) > 0 {
		if jsontext.Value(raw).Kind() != '{' {
			return errors.New("arguments must be a JSON object")
		}
		if err := json.Unmarshal(raw, &args); err != nil {
			return fmt.Errorf("arguments: %s", jsonReason(err))
		}
	}
	for _, k := range sortedKeys(args) {
		p, ok := t.props[k]
		if !ok {
			known := sortedKeys(t.props)
			if near := text.Nearest(k, known); near != "" {
				return fmt.Errorf("unknown argument %q: did you mean %q? The arguments are %s", k, near, strings.Join(known, ", "))
			}
			return fmt.Errorf("unknown argument %q: the arguments are %s", k, strings.Join(known, ", "))
		}
		if err := p.check(k, args[k]); err != nil {
			return err
		}
	}
	for _, k := range t.required {
		if _, ok := args[k]; !ok {
			return fmt.Errorf("argument %q is required", k)
		}
	}
	return nil
}

// check holds one value against its type.
func (p property) check(name string, v jsontext.Value) error {
	switch k := v.Kind(); p.Type {
	case "string":
		if k != '"' {
			return fmt.Errorf("argument %q must be a string", name)
		}
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return fmt.Errorf("argument %q: %s", name, jsonReason(err))
		}
		if p.Enum != nil && !slices.Contains(p.Enum, s) {
			return fmt.Errorf("argument %q must be one of %s", name, strings.Join(p.Enum, ", "))
		}
	case "integer":
		var n int64
		if k != '0' || json.Unmarshal(v, &n) != nil || n < 0 {
			return fmt.Errorf("argument %q must be a whole number, not negative", name)
		}
	case "boolean":
		if k != 't' && k != 'f' {
			return fmt.Errorf("argument %q must be true or false", name)
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// jsonReason is what a JSON error says without the name of a Go type.
func jsonReason(err error) string {
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		where := string(e.JSONPointer)
		if where == "" {
			return "the value has the wrong type"
		}
		return fmt.Sprintf("the value at %s has the wrong type", where)
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fmt.Sprintf("a key stands twice: %s", e.JSONPointer)
		}
		return fmt.Sprintf("no valid JSON at byte %d", e.ByteOffset)
	}
	return "no valid JSON"
}
