// Package builtin is what the built-in servers share: tools that are declared as JSON and implemented as functions of the server, arguments
// that are checked against their schemas, and answers in the form of MCP.
package builtin

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
)

// Table has the tools of a server of type S. It is safe for concurrent use.
type Table[S any] struct {
	tools map[string]*tool[S]
	defs  []policy.Definition
}

// Func is the function of a tool. It gets the scope of the caller and checked arguments. Its error is shown to the model.
type Func[S any] func(ctx context.Context, s S, scope policy.Scope, args []byte) (Answer, error)

// tool is the schema and the function of a tool.
type tool[S any] struct {
	props    map[string]property
	required []string
	run      Func[S]
}

// With returns a function that decodes the checked arguments into the struct that f takes.
func With[S, T any](f func(ctx context.Context, s S, scope policy.Scope, args T) (Answer, error)) Func[S] {
	return func(ctx context.Context, s S, scope policy.Scope, raw []byte) (Answer, error) {
		var args T
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &args); err != nil {
				return Answer{}, fmt.Errorf("arguments: %s", jsonReason(err))
			}
		}
		return f(ctx, s, scope, args)
	}
}

// Entered is [With] for functions that begin alike: enter makes what they work with of the server and the scope, or says why the call is
// refused.
func Entered[S, C, T any](enter func(s S, scope policy.Scope) (C, error),
	f func(ctx context.Context, c C, args T) (Answer, error)) Func[S] {
	return With(func(ctx context.Context, s S, scope policy.Scope, args T) (Answer, error) {
		c, err := enter(s, scope)
		if err != nil {
			return Answer{}, err
		}
		return f(ctx, c, args)
	})
}

// Parse joins the definitions of a server's tools, a JSON array as clients see them, with their functions by name.
func Parse[S any](server, definitions string, funcs map[string]Func[S]) (*Table[S], error) {
	var raws []jsontext.Value
	if err := json.Unmarshal([]byte(definitions), &raws); err != nil {
		return nil, fmt.Errorf("read the definitions of the server %s: %w", server, err)
	}
	t := &Table[S]{tools: map[string]*tool[S]{}}
	for _, raw := range raws {
		var d struct {
			Name        string `json:"name"`
			InputSchema struct {
				Properties map[string]property `json:"properties"`
				Required   []string            `json:"required"`
			} `json:"inputSchema"`
			Annotations map[string]any `json:"annotations"`
		}
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, fmt.Errorf("read the definitions of the server %s: %w", server, err)
		}
		run, ok := funcs[d.Name]
		if !ok {
			return nil, fmt.Errorf("the server %s defines %s but has no function for it", server, d.Name)
		}
		t.tools[d.Name] = &tool[S]{props: d.InputSchema.Properties, required: d.InputSchema.Required, run: run}
		hints := map[string]bool{}
		for k, v := range d.Annotations {
			if b, ok := v.(bool); ok {
				hints[k] = b
			}
		}
		t.defs = append(t.defs, policy.Definition{Item: policy.Item{Server: server, Name: d.Name}, Raw: raw, Annotations: hints})
	}
	return t, nil
}

// Definitions returns the tools. The caller must not change them.
func (t *Table[S]) Definitions() []policy.Definition { return t.defs }

// Do answers an MCP request (tools/call) as every backend does: with a raw result or a raw JSON-RPC error object. A fault of the tool or an
// argument is a result with isError, so that a model can read it and try again. An unknown method or tool is a JSON-RPC error. err is
// always nil, because there is no transport.
func (t *Table[S]) Do(ctx context.Context, s S, scope policy.Scope, method string, params []byte) (result, rpcErr []byte, err error) {
	if method != "tools/call" {
		return nil, rpcError(codeMethodNotFound, "method not found: "+method), nil
	}
	var p struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, rpcError(codeInvalidParams, "params of tools/call must be an object with name and arguments: "+jsonReason(err)), nil
	}
	one, ok := t.tools[p.Name]
	if !ok {
		return nil, rpcError(codeInvalidParams, "unknown tool: "+p.Name), nil
	}
	if err := one.check(p.Arguments); err != nil {
		return failure(p.Name, err), nil, nil
	}
	out, err := one.run(ctx, s, scope, p.Arguments)
	if err != nil {
		return failure(p.Name, err), nil, nil
	}
	raw, err := json.Marshal(out)
	if err != nil {
		message := "the answer of " + p.Name + " cannot be written as JSON: " + err.Error()
		return nil, rpcError(codeInternal, message), nil //nolint:nilerr // the error is in the answer
	}
	return raw, nil, nil
}
