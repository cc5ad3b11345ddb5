package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/credential"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// The control tools are two servers in this process. A call of one goes the way of every other call: the policy decides it and
// the log has it; only the answer is made here. None of them takes a session as an argument: they act on the caller's own.

// tool is one control tool.
type tool struct {
	item        policy.Item
	title       string
	description string
	readOnly    bool
	params      []param
	run         func(ctx context.Context, g *Gate, c *Admission, a arguments) (any, error)
}

// param is one argument of a control tool.
type param struct {
	name        string
	kind        string // string, boolean, integer, strings (an array of them) or counts (an object of integers)
	required    bool
	enum        []string
	members     []string // of counts
	description string
}

// arguments are the arguments of a control tool, checked against its params.
type arguments policy.Args

// changes reports whether the tool changes what the session is.
func (t tool) changes() bool { return t.item == setRoleItem || t.item == setSkillsItem }

// text is a string argument, "" when it is absent.
func (a arguments) text(name string) string { s, _ := a[name].(string); return s }

// has reports whether an argument was given.
func (a arguments) has(name string) bool { return a[name] != nil }

// list is an argument of strings.
func (a arguments) list(name string) []string {
	values, _ := a[name].([]any)
	out := make([]string, 0, len(values))
	for _, v := range values {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// controlTools is the table of both servers.
func controlTools() []tool { return append(routerTools(), skillTools()...) }

// ControlDefinitions are the definitions of the control tools. The catalog that a policy is compiled with must have them.
func ControlDefinitions() []policy.Definition {
	var out []policy.Definition
	for _, t := range controlTools() {
		out = append(out, policy.Definition{Item: t.item, Raw: t.definition(), Annotations: map[string]bool{"readOnlyHint": t.readOnly}})
	}
	return out
}

// definition is the tool as tools/list shows it, its name not yet prefixed.
func (t tool) definition() []byte {
	properties := map[string]any{}
	required := []string{}
	for _, p := range t.params {
		schema := map[string]any{"type": p.kind, "description": p.description}
		if p.kind == "strings" {
			schema["type"], schema["items"] = "array", map[string]any{"type": "string"}
		}
		if p.kind == "counts" {
			members := map[string]any{}
			for _, m := range p.members {
				members[m] = map[string]any{"type": "integer", "minimum": 0}
			}
			schema["type"], schema["properties"], schema["additionalProperties"] = "object", members, false
		}
		if p.enum != nil {
			schema["enum"] = p.enum
		}
		properties[p.name] = schema
		if p.required {
			required = append(required, p.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	raw, err := json.Marshal(struct {
		Name        string         `json:"name"`
		Title       string         `json:"title"`
		Description string         `json:"description"`
		InputSchema map[string]any `json:"inputSchema"`
		Annotations map[string]any `json:"annotations"`
	}{t.item.Name, t.title, t.description, schema, map[string]any{
		"title": t.title, "readOnlyHint": t.readOnly, "destructiveHint": false, "openWorldHint": false,
	}}, view.Encoding)
	if err != nil {
		panic("gate: a control tool has no JSON form: " + err.Error()) // the table is ours; a test marshals all of it
	}
	return raw
}

// check compares arguments with the table.
func (t tool) check(args policy.Args) (arguments, error) {
	for name := range args {
		if !slices.ContainsFunc(t.params, func(p param) bool { return p.name == name }) {
			return nil, session.Refusal(fmt.Sprintf("Unknown argument: %s (%s)", credential.Excerpt(name, session.MaxEcho), t.takes()))
		}
	}
	for _, p := range t.params {
		v, given := args[p.name]
		if !given || v == nil {
			if p.required {
				return nil, session.Refusal(fmt.Sprintf("Argument %s is required (%s)", p.name, t.takes()))
			}
			continue
		}
		if want := p.mismatch(v); want != "" {
			return nil, session.Refusal(fmt.Sprintf("Argument %s must be %s", p.name, want))
		}
	}
	return arguments(args), nil
}

func (t tool) takes() string {
	if len(t.params) == 0 {
		return "this tool takes none"
	}
	names := make([]string, len(t.params))
	for i, p := range t.params {
		names[i] = p.name
	}
	return "this tool takes: " + strings.Join(names, ", ")
}

// mismatch says what a value should have been, or "".
func (p param) mismatch(v any) string {
	ok := false
	want := "a " + p.kind
	switch p.kind {
	case "string":
		_, ok = v.(string)
	case "boolean":
		_, ok = v.(bool)
	case "integer":
		n, is := v.(int64)
		ok, want = is && n >= 0, "an integer, 0 or more"
	case "strings":
		list, is := v.([]any)
		ok = is && !slices.ContainsFunc(list, func(e any) bool { _, text := e.(string); return !text })
		want = "an array of strings"
	case "counts":
		counts, is := v.(map[string]any)
		ok, want = is, "an object of integers, 0 or more: "+strings.Join(p.members, ", ")
		for name, n := range counts {
			count, is := n.(int64)
			ok = ok && is && count >= 0 && slices.Contains(p.members, name)
		}
	}
	if ok && p.enum != nil && !slices.Contains(p.enum, v.(string)) {
		return "one of " + strings.Join(p.enum, ", ")
	}
	if ok {
		return ""
	}
	return want
}

// control answers a call of one of our own servers.
func (g *Gate) control(ctx context.Context, c *Admission) (Reply, error) {
	switch c.Item.Kind {
	case policy.Prompt:
		return c.skillPrompt()
	case policy.Resource:
		return c.skillResource()
	default:
	}
	t, ok := g.tools[c.Item]
	if !ok {
		return Reply{}, fmt.Errorf("call %s: the policy's catalog names a control tool that does not exist", c.Item)
	}
	a, err := t.check(c.args)
	if err == nil && c.Child != nil && t.changes() {
		err = session.Refusal("A subagent does not change the role or the skills of the session that it belongs to")
	}
	var answer any
	if err == nil {
		answer, err = t.run(ctx, g, c, a)
	}
	var said session.Refusal
	switch {
	case err == nil:
		return toolResult(answer)
	case errors.As(err, &said):
		return toolError(string(said))
	case errors.Is(err, session.ErrNoSession):
		return Reply{}, err
	default:
		g.logger.Error("a control tool failed", "call", c.id, "session", c.session.ID, "tool", c.Item.String(), "error", err)
		return toolError("This could not be done, and nothing was changed. The operator's log says why.")
	}
}

// content is one text block of a result.
type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// toolResult is a CallToolResult with one text block that holds the JSON, and the same as structured content.
func toolResult(v any) (Reply, error) {
	text, err := json.Marshal(v, view.Encoding)
	if err != nil {
		return Reply{}, fmt.Errorf("answer control tool: %w", err)
	}
	return result(struct {
		Content    []content      `json:"content"`
		Structured jsontext.Value `json:"structuredContent"`
		IsError    bool           `json:"isError"`
	}{[]content{{"text", string(text)}}, text, false})
}

// toolError is a CallToolResult that tells the model what is wrong.
func toolError(text string) (Reply, error) {
	return result(struct {
		Content []content `json:"content"`
		IsError bool      `json:"isError"`
	}{[]content{{"text", text}}, true})
}

func result(v any) (Reply, error) {
	raw, err := json.Marshal(v, view.Encoding)
	if err != nil {
		return Reply{}, fmt.Errorf("answer: %w", err)
	}
	return Reply{Result: raw}, nil
}
