package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/text"
)

// property is the part of an argument's schema that is checked here.
type property struct {
	Type string   `json:"type"`
	Enum []string `json:"enum"`
}

// check checks the arguments against the schema: they are an object without duplicate and unknown keys, with every required key, and every
// value has its type. A case variant of a key is unknown.
func (t *tool[S]) check(raw []byte) error {
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

// check checks the type of a value.
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

// jsonReason is the text of a JSON error without names of Go types.
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
			return fmt.Sprintf("a key appears twice: %s", e.JSONPointer)
		}
		return fmt.Sprintf("no valid JSON at byte %d", e.ByteOffset)
	}
	return "no valid JSON"
}
