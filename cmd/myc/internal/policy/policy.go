// Package policy has the commands that say what the policy decides and why, and what each role may see.
package policy

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/hook/install"
	"mycelium/internal/node/project"
	"mycelium/internal/node/why"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Command is `myc policy`.
func Command(a *base.App) *cobra.Command { return (&app{a}).policyCmd() }

// Roles is `myc roles`.
func Roles(a *base.App) *cobra.Command { return (&app{a}).rolesCmd() }

func (a *app) policyCmd() *cobra.Command {
	c := &cobra.Command{Use: "policy", Short: "Check, explain and test the policy", Example: "  myc policy check --role developer",
		Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	var role string
	check := &cobra.Command{Use: "check", Short: "Show what a role may see",
		Example: "  myc policy check --role developer --json", Args: base.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if role == "" {
				return failure.Usagef("policy check: which role? Name one with --role")
			}
			return a.roleCheck(role, false)
		}}
	check.Flags().StringVarP(&role, "role", "r", "", "role")
	var q question
	explain := &cobra.Command{Use: "explain", Short: "Explain how the policy decides a call", Args: base.NoArgs,
		Example: `  myc policy explain --tool files__write_file --args '{"path":".env.local"}' --role developer`,
		RunE:    func(*cobra.Command, []string) error { return a.explain(q) }}
	explain.Flags().StringVar(&q.Tool, "tool", "", "tool, server__name")
	explain.Flags().StringVar(&q.args, "args", "{}", "arguments, a JSON object")
	explain.Flags().StringVar(&q.Role, "role", "", "role (default: session.defaultRole)")
	explain.Flags().StringSliceVar(&q.Skills, "skill", nil, "active skills (default: those that are active at the start)")
	c.AddCommand(check,
		&cobra.Command{Use: "roles", Short: "Show every role with its skills, tools, servers and memory",
			Example: "  myc policy roles --json", Args: base.NoArgs,
			RunE: func(*cobra.Command, []string) error { return a.rolesList(false) }},
		explain,
		&cobra.Command{Use: "eval", Short: "Decide calls: JSON Lines on stdin, decisions on stdout", Args: base.NoArgs,
			Example: `  echo '{"id":1,"tool":"files__read_file","args":{"path":"a"},"role":"guest"}' | myc policy eval`,
			RunE:    func(c *cobra.Command, _ []string) error { return a.eval(c.Context()) }},
		a.testCmd(), a.policyReplay(), a.policyWords())
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

func (a *app) explain(q question) error {
	if q.Tool == "" {
		return failure.Usagef("policy explain: which tool? Name one with --tool")
	}
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	q.Args = jsontext.Value(q.args)
	call, err := callFor(v, q)
	if err != nil {
		return failure.Usagef("policy explain: %w", err)
	}
	x := v.Policy.Explain(call)
	x.Tool = q.Tool
	if x.Skills == nil {
		x.Skills = []string{}
	}
	if a.JSON {
		return a.PrintJSON(x)
	}
	rule := ""
	if x.Rule != "" {
		rule = " by " + x.Rule
	}
	fmt.Fprintf(a.Out, "%s%s: %s\n", x.Effect, rule, text.Flatten(x.Reason))
	if x.Result != nil {
		fmt.Fprintf(a.Out, "result: %s\n", x.Result)
	}
	if x.Outside != "" {
		fmt.Fprintf(a.Out, "outside: %s\n", x.Outside)
	}
	if !x.Sandbox.None() {
		fmt.Fprintf(a.Out, "sandbox: %s\n", x.Sandbox.String())
		for _, own := range install.InOwnSandboxes(a.Dir, a.Environ) {
			fmt.Fprintln(a.Out, "note: "+own)
		}
	}
	fmt.Fprintln(a.Out)
	var rows [][]string
	for _, s := range x.Trace {
		mark := "·"
		if s.Match {
			mark = "✓"
		}
		rows = append(rows, []string{s.Step, mark, base.OrDash(s.Rule), s.Why})
	}
	a.Table(base.Column{Name: "STEP"}, base.Column{}, base.Column{Name: "RULE", Least: 12, Drop: 1}, base.Column{Name: "WHY", Least: 30}).
		Print(rows...)
	return nil
}

// callFor returns a question as a call.
func callFor(v *project.View, q question) (policy.Call, error) {
	return why.Call(v, why.Question{Tool: q.Tool, Args: q.Args, Role: q.Role, Skills: q.Skills, Cwd: q.Cwd})
}
