// Package control answers the calls of the gate's own two servers: mycelium-router (roles, active skills, context, reasoning) and
// mycelium-skills (the texts of skills, as tools, prompts and resources). A call of one of their tools takes the way of every other
// call: the policy decides it and the log has it; only the answer is made here. A control tool takes no session as an argument: it acts
// on the caller's own. The package also writes what agents are told about their session ([Tools.Instructions], [Brief]).
package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/credential"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// Tools answers the calls of the gate's own servers.
type Tools struct {
	Sessions *session.Registry
	Reload   func(context.Context) error // what reload_skills does; nil: it says that it cannot
	Scripts  Runner                      // what run_script does; nil: it says that it cannot
	Agents   Starter                     // what spawn_sub_agent does; nil: it says that it cannot
	Logger   *slog.Logger
	Now      func() time.Time
	Asks     bool // a person can be asked whether an agent may activate a skill

	byItem map[policy.Item]tool
}

// New prepares tools.
func New(x Tools) *Tools {
	x.byItem = map[policy.Item]tool{}
	for _, t := range controlTools() {
		x.byItem[t.item] = t
	}
	return &x
}

// Call is a call of one of the gate's own servers that the policy allowed.
type Call struct {
	ID      string
	Session *session.Session
	Caller  *session.Snapshot // as of the decision
	Child   *session.Child    // the subagent that calls; nil: the agent itself
	Item    policy.Item
	Args    policy.Args
	Began   time.Time

	// Budget is what the caller says that a sub-agent may cost, in USD; 0: it says nothing. It can only narrow.
	Budget float64

	// Tell passes a line on to a client that wants to hear of progress; it never waits.
	Tell func(line string)

	// Confirm asks a person whether the agent may activate skills, and returns those that it may.
	Confirm func(ctx context.Context, add []string) ([]string, error)
}

// now returns the caller as it is at this moment.
func (c *Call) now() *session.Snapshot { return c.Session.SnapshotFor(c.Child) }

// ErrUnknown means that the item of a call does not exist, or may not be told from one that does not.
var ErrUnknown = errors.New("unknown item")

// tool is one control tool.
type tool struct {
	item        policy.Item
	title       string
	description string
	readOnly    bool
	params      []param
	run         func(ctx context.Context, x *Tools, c *Call, a arguments) (any, error)
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

// changes reports whether the tool changes the role or the skills of the session.
func (t tool) changes() bool { return t.item == setRoleItem || t.item == setSkillsItem }

// text returns a string argument, "" if it is absent.
func (a arguments) text(name string) string { s, _ := a[name].(string); return s }

// has reports whether an argument was given.
func (a arguments) has(name string) bool { return a[name] != nil }

// list returns an argument of strings.
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

// Definitions returns the definitions of the control tools. The catalog that a policy is compiled with must have them.
func Definitions() []policy.Definition {
	var out []policy.Definition
	for _, t := range controlTools() {
		out = append(out, policy.Definition{Item: t.item, Raw: t.definition(), Annotations: map[string]bool{"readOnlyHint": t.readOnly}})
	}
	return out
}

// definition returns the tool as tools/list shows it, its name not yet prefixed.
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
	hints := map[string]any{"readOnlyHint": t.readOnly, "openWorldHint": false}
	if !t.readOnly { // it says nothing of a tool that only reads
		hints["destructiveHint"] = t.item.RunsScript() || t.item.StartsAgent()
	}
	raw, err := json.Marshal(struct {
		Name        string         `json:"name"`
		Title       string         `json:"title"`
		Description string         `json:"description"`
		InputSchema map[string]any `json:"inputSchema"`
		Annotations map[string]any `json:"annotations"`
	}{t.item.Name, t.title, t.description, schema, hints}, view.Encoding)
	if err != nil {
		panic("gate: a control tool has no JSON form: " + err.Error()) // the table is ours; a test marshals all of it
	}
	return raw
}

// check compares arguments with the table.
func (t tool) check(args policy.Args) (arguments, error) {
	for name := range args {
		if !slices.ContainsFunc(t.params, func(p param) bool { return p.name == name }) {
			return nil, failure(fmt.Sprintf("Unknown argument: %s (%s)", credential.Excerpt(name, session.MaxEcho), t.takes()))
		}
	}
	for _, p := range t.params {
		v, given := args[p.name]
		if !given || v == nil {
			if p.required {
				return nil, failure(fmt.Sprintf("Argument %s is required (%s)", p.name, t.takes()))
			}
			continue
		}
		if want := p.mismatch(v); want != "" {
			return nil, failure(fmt.Sprintf("Argument %s must be %s", p.name, want))
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

// mismatch returns what a value should have been, "" if it is right.
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

// failure is an error whose words reach the agent: its call has a mistake, or was made and did not succeed. What the session may not do is
// a [session.Refusal].
type failure string

func (f failure) Error() string { return string(f) }

// Answer answers a call with a raw result. refused says why, if the result tells the agent that its session may not do what it asks.
func (x *Tools) Answer(ctx context.Context, c *Call) (result []byte, refused string, err error) {
	switch c.Item.Kind {
	case policy.Prompt:
		result, err = skillPrompt(c)
		return result, "", err
	case policy.Resource:
		result, err = skillResource(c)
		return result, "", err
	default:
	}
	t, ok := x.byItem[c.Item]
	if !ok {
		return nil, "", fmt.Errorf("call %s: the policy's catalog names a control tool that does not exist", c.Item)
	}
	a, err := t.check(c.Args)
	if err == nil && c.Child != nil && t.changes() {
		err = session.Refusal("A subagent does not change the role or the skills of the session that it belongs to")
	}
	var answer any
	if err == nil {
		answer, err = t.run(ctx, x, c, a)
	}
	var may session.Refusal
	var said failure
	switch {
	case err == nil:
		result, err = toolResult(answer)
	case errors.As(err, &may):
		refused = string(may)
		result, err = toolError(refused)
	case errors.As(err, &said):
		result, err = toolError(string(said))
	case errors.Is(err, session.ErrNoSession):
	default:
		x.Logger.Error("a control tool failed", "call", c.ID, "session", c.Session.ID, "tool", c.Item.String(), "error", err)
		result, err = toolError("This could not be done, and nothing was changed. The operator's log says why.")
	}
	return result, refused, err
}

// content is one text block of a result.
type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// toolResult returns a CallToolResult with one text block that holds the JSON, and the same as structured content.
func toolResult(v any) ([]byte, error) {
	text, err := json.Marshal(v, view.Encoding)
	if err != nil {
		return nil, fmt.Errorf("answer control tool: %w", err)
	}
	return result(struct {
		Content    []content      `json:"content"`
		Structured jsontext.Value `json:"structuredContent"`
		IsError    bool           `json:"isError"`
	}{[]content{{"text", string(text)}}, text, failed(v)})
}

// failed reports whether an answer tells of something that was done and did not succeed.
func failed(v any) bool {
	switch r := v.(type) {
	case ScriptResult:
		return !r.Success
	case AgentResult:
		return !r.Success
	}
	return false
}

// toolError returns a CallToolResult that tells the model what is wrong.
func toolError(text string) ([]byte, error) {
	return result(struct {
		Content []content `json:"content"`
		IsError bool      `json:"isError"`
	}{[]content{{"text", text}}, true})
}

func result(v any) ([]byte, error) {
	raw, err := json.Marshal(v, view.Encoding)
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	return raw, nil
}
