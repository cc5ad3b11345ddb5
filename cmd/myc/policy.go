package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"mycelium/internal/gate"
	"mycelium/internal/policy"
)

func (a *app) policyCmd() *cobra.Command {
	c := &cobra.Command{Use: "policy", Short: "What the policy says, and why", Example: "  myc policy check --role developer", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	var role string
	check := &cobra.Command{Use: "check", Short: "What a role may see: chain, skills, servers, tools, memory", Example: "  myc policy check --role developer --json", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if role == "" {
				return usageError("policy check: which role? Name one with --role")
			}
			return a.roleCheck(role)
		}}
	check.Flags().StringVarP(&role, "role", "r", "", "role")
	var q question
	explain := &cobra.Command{Use: "explain", Short: "Why a call would be allowed, asked or denied", Args: noArgs,
		Example: `  myc policy explain --tool files__write_file --args '{"path":".env.local"}' --role developer`,
		RunE:    func(*cobra.Command, []string) error { return a.explain(q) }}
	explain.Flags().StringVar(&q.Tool, "tool", "", "tool, server__name")
	explain.Flags().StringVar(&q.args, "args", "{}", "arguments, a JSON object")
	explain.Flags().StringVar(&q.Role, "role", "", "role (default: session.defaultRole)")
	explain.Flags().StringSliceVar(&q.Skills, "skill", nil, "active skills (default: the start set of the role)")
	c.AddCommand(check,
		&cobra.Command{Use: "roles", Short: "Every role with its skills, tools, servers and memory", Example: "  myc policy roles --json", Args: noArgs,
			RunE: func(*cobra.Command, []string) error { return a.rolesList() }},
		explain,
		&cobra.Command{Use: "eval", Short: "Decide calls: JSON Lines on stdin, decisions on stdout", Args: noArgs,
			Example: `  echo '{"id":1,"tool":"files__read_file","args":{"path":"a"},"role":"guest"}' | myc policy eval`,
			RunE:    func(c *cobra.Command, _ []string) error { return a.eval(c.Context()) }},
		&cobra.Command{Use: "test [FILE …]", Short: "Run the examples that rule files carry, and txtar corpora", Example: "  myc policy test rules.yaml", Args: cobra.ArbitraryArgs,
			RunE: func(_ *cobra.Command, files []string) error { return a.policyTest(files) }},
		a.policyReplay())
	return c
}

// question is one call to judge: a line of `policy eval`, or the flags of `policy explain`.
type question struct {
	ID     jsontext.Value `json:"id"`
	Tool   string         `json:"tool"`
	Args   jsontext.Value `json:"args"`
	Role   string         `json:"role"`
	Skills []string       `json:"skills"`
	Cwd    string         `json:"cwd"`
	args   string
}

// answer is one line of `policy eval`'s output.
type answer struct {
	ID     jsontext.Value `json:"id"`
	Effect string         `json:"effect"`
	Rule   string         `json:"rule"`
	Reason string         `json:"reason"`
	Result *policy.Guard  `json:"result,omitempty"` // what would be done to the result
}

func (a *app) explain(q question) error {
	if q.Tool == "" {
		return usageError("policy explain: which tool? Name one with --tool")
	}
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	q.Args = jsontext.Value(q.args)
	call, err := v.call(q)
	if err != nil {
		return usageError("policy explain: %w", err)
	}
	x := v.policy.Explain(call)
	x.Tool = q.Tool
	if x.Skills == nil {
		x.Skills = []string{}
	}
	if a.json {
		return a.printJSON(x)
	}
	rule := ""
	if x.Rule != "" {
		rule = " by " + x.Rule
	}
	fmt.Fprintf(a.out, "%s%s: %s\n", x.Effect, rule, visible(x.Reason))
	if x.Result != nil {
		fmt.Fprintf(a.out, "result: %s\n", x.Result)
	}
	fmt.Fprintln(a.out)
	rows := [][]string{{"STEP", "", "RULE", "WHY"}}
	for _, s := range x.Trace {
		mark := "·"
		if s.Match {
			mark = "✓"
		}
		rows = append(rows, []string{s.Step, mark, orDash(s.Rule), s.Why})
	}
	table(a.out, rows)
	return nil
}

// call is the policy's form of a question. An unknown role is no error here: the policy answers it.
func (v *view) call(q question) (policy.Call, error) {
	args, err := policy.ParseArgs(q.Args)
	if err != nil {
		return policy.Call{}, fmt.Errorf("args: %w", err)
	}
	role := q.Role
	if role == "" {
		role = v.project.File.Session.DefaultRole
	}
	skills := q.Skills
	if skills == nil {
		skills = v.policy.StartSkills(role)
	}
	dir := v.project.Dir
	if q.Cwd != "" {
		if !filepath.IsAbs(q.Cwd) {
			return policy.Call{}, fmt.Errorf("cwd: %q is not absolute", q.Cwd)
		}
		dir = filepath.Clean(q.Cwd)
	}
	it, err := policy.ParseTool(canonicalTool(q.Tool))
	if err != nil {
		it = policy.Item{Name: q.Tool}
	}
	facts, err := gate.Facts(it, v.annotations(it), args, dir, v.project.Home)
	if err != nil {
		return policy.Call{}, err
	}
	return policy.Call{
		Scope: policy.Scope{Principal: policy.Principal{ID: "local", Role: role}, Skills: skills},
		Item:  it, Args: args, Facts: facts, Time: time.Now(),
	}, nil
}

// annotations are the hints of a tool as far as its server is trusted.
func (v *view) annotations(it policy.Item) policy.Annotations {
	for _, d := range v.catalog.Definitions {
		if d.Item == it {
			return d.Annotations
		}
	}
	return nil
}

// canonicalTool lets a bare name stand for an agent's own tool, as in rules.
func canonicalTool(name string) string {
	if !strings.Contains(name, "__") {
		return policy.AgentServer + "__" + name
	}
	return name
}

// eval answers JSON Lines. A line that cannot be read is answered with a denial that says so, in its place.
func (a *app) eval(ctx context.Context) error {
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	in := bufio.NewReader(a.in)
	for n := 1; ctx.Err() == nil; n++ {
		line, readErr := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := a.printLine(v.answer(line, n)); err != nil {
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

func (v *view) answer(line []byte, n int) answer {
	var q question
	if err := json.Unmarshal(line, &q, json.RejectUnknownMembers(true)); err != nil {
		return answer{ID: orNull(q.ID), Effect: "deny", Reason: fmt.Sprintf("line %d cannot be read: %s", n, jsonFault(line, err))}
	}
	call, err := v.call(q)
	if err != nil {
		return answer{ID: orNull(q.ID), Effect: "deny", Reason: fmt.Sprintf("line %d: %v", n, err)}
	}
	d := v.policy.Decide(call)
	out := answer{ID: orNull(q.ID), Effect: d.Effect.String(), Rule: d.Rule, Reason: d.Reason}
	if d.Unknown {
		out.Effect = "unknown"
	}
	if d.Guard != (policy.Guard{}) {
		out.Result = &d.Guard
	}
	return out
}

// jsonFault says what is wrong with a line in words that need no knowledge of Go.
func jsonFault(line []byte, err error) string {
	var wrong *json.SemanticError
	switch {
	case jsontext.Value(line).Kind() != '{' || !jsontext.Value(line).IsValid():
		return "it is no JSON object"
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
