package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/internal/config"
	"mycelium/internal/daemon"
	"mycelium/internal/policy"
	"mycelium/internal/rpc"
	"mycelium/internal/skill"
)

// toolRow is one tool in the shape of `myc tools --json`; Visible and Reason only with --all.
type toolRow struct {
	Name        string   `json:"name"`
	Server      string   `json:"server"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Category    string   `json:"category"`
	Mutates     bool     `json:"mutates"`
	Skills      []string `json:"skills"`
	Visible     *bool    `json:"visible,omitempty"`
	Reason      string   `json:"reason,omitempty"`
}

type toolsParams struct {
	sessionParams
	All bool `json:"all,omitempty"`
}

func (a *app) toolsCmd() *cobra.Command {
	var p toolsParams
	look := func(use, example string) *cobra.Command {
		c := &cobra.Command{
			Use: use, Short: "What a session would see", Example: example, Args: noArgs,
			RunE: func(c *cobra.Command, _ []string) error { return a.tools(c.Context(), p) },
		}
		c.Flags().StringVar(&p.Role, "role", "", "role to look as (default: session.defaultRole)")
		c.Flags().StringSliceVar(&p.Skills, "skill", nil, "active skills (default: the start set of the role)")
		c.Flags().BoolVar(&p.All, "all", false, "every tool, the hidden ones with the reason (for the operator)")
		return c
	}
	c := look("tools", "  myc tools --role guest\n  myc tools --role developer --skill reader --json\n  myc tools --all")
	c.AddCommand(look("list", "  myc tools list --role guest"), &cobra.Command{
		Use: "sync", Short: "Write .mycelium/tools/index.yaml and categories.yaml", Example: "  myc tools sync --json", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.toolsSync(c.Context()) },
	}, a.toolsDiffCmd(), a.toolsApproveCmd())
	return c
}

func (a *app) tools(ctx context.Context, p toolsParams) error {
	if p.All {
		if err := a.needPerson("list hidden tools"); err != nil {
			return err
		}
	}
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.done()
	if err := a.learnPending(ctx, c); err != nil {
		return err
	}
	var rows []toolRow
	if err := c.ask(ctx, "tools", p, &rows); err != nil {
		return err
	}
	a.warnBroken(ctx, c)
	if a.json {
		return a.printJSON(rows)
	}
	text := [][]string{{"TOOL", "CATEGORY", "", "SKILLS", "DESCRIPTION"}}
	for _, r := range rows {
		mutates := ""
		if r.Mutates {
			mutates = "mutates"
		}
		line := []string{r.Name, r.Category, mutates, firstLine(orDash(strings.Join(r.Skills, ", ")), 40), firstLine(r.Description, 60)}
		if r.Visible != nil {
			mark := "hidden"
			if *r.Visible {
				mark = "visible"
			}
			line = append([]string{mark}, append(line[:4:4], firstLine(r.Reason, 70))...)
		}
		text = append(text, line)
	}
	if p.All {
		text[0] = []string{"", "TOOL", "CATEGORY", "", "SKILLS", "REASON"}
	}
	table(a.out, text)
	return nil
}

// toolsMethod lists what a session with these parameters would see.
func (n *node) toolsMethod(_ context.Context, c daemon.Caller, params []byte) (any, *rpc.Error) {
	var p toolsParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	if p.All {
		if why := agentBehind(c.PID); why != "" {
			return nil, &rpc.Error{Code: codeDenied, Message: "list hidden tools: only a person may do this, and " + why}
		}
	}
	spec, e := n.spec(c, p.sessionParams)
	if e != nil {
		return nil, e
	}
	v := n.current()
	scope, err := v.scope(spec.Role, spec.Skills)
	if err != nil {
		return nil, &rpc.Error{Code: codeNoRole, Message: err.Error()}
	}
	scope.Principal.Roles = spec.Roles
	rows, err := v.rows(scope, p.All)
	if err != nil {
		return nil, internalError(err)
	}
	return rows, nil
}

// scope is the scope of a role with active skills; nil skills: its start set.
func (v *view) scope(role string, skills []string) (policy.Scope, error) {
	if role != "" {
		if _, ok := v.policy.Role(role); !ok {
			return policy.Scope{}, fmt.Errorf("Unknown role: %s", role) //nolint:staticcheck,revive // the same words everywhere
		}
	}
	open := v.policy.OpenSkills(role)
	for _, name := range skills {
		if !slices.Contains(open, name) {
			return policy.Scope{}, fmt.Errorf("no skill %q is open to this role (open are: %s)", name, orDash(strings.Join(open, ", ")))
		}
	}
	if skills == nil {
		skills = v.policy.StartSkills(role)
	}
	return policy.Scope{Principal: policy.Principal{ID: "local", Role: role}, Skills: skills}, nil
}

// rows describes the tools that a scope sees, or all of them with why.
func (v *view) rows(scope policy.Scope, all bool) ([]toolRow, error) {
	categories, err := config.ReadCategories(v.project)
	if err != nil {
		return nil, err
	}
	rows := []toolRow{}
	for _, d := range v.catalog.Definitions {
		if d.Item.Kind != policy.Tool {
			continue
		}
		visible := v.policy.Visible(scope, d.Item)
		if !visible && !all {
			continue
		}
		info := categories.Describe(d)
		r := toolRow{
			Name: d.Item.String(), Server: d.Item.Server, Title: info.Title, Description: info.Description,
			Category: info.Category, Mutates: info.Mutates, Skills: v.granting(scope, d.Item),
		}
		if all {
			x := v.policy.Explain(policy.Call{Scope: scope, Item: d.Item, Time: time.Now()})
			r.Visible, r.Reason = &visible, x.Reason
			if names := v.inactive(scope, d.Item); !visible && len(names) > 0 {
				r.Reason = fmt.Sprintf("%s (%s would)", x.Reason, strings.Join(names, ", "))
			}
		}
		rows = append(rows, r)
	}
	if all {
		noteFindings(rows, v.pool.Review())
		rows = append(rows, heldRows(categories, v.pool.Catalog().Held)...)
	}
	slices.SortFunc(rows, func(x, y toolRow) int { return cmp.Compare(x.Name, y.Name) })
	return rows, nil
}

// granting are the active skills that make a tool visible.
func (v *view) granting(scope policy.Scope, it policy.Item) []string {
	out := []string{}
	for _, name := range scope.Skills {
		one := scope
		one.Skills = []string{name}
		if sk, ok := v.skills.Skill(name); ok && grantsTool(sk, it) && v.policy.Visible(one, it) {
			out = append(out, name)
		}
	}
	return out
}

// inactive are the skills that are open to the role and would make a tool visible if they were active.
func (v *view) inactive(scope policy.Scope, it policy.Item) []string {
	scope.Skills = v.policy.OpenSkills(scope.Principal.Role)
	return v.granting(scope, it)
}

func grantsTool(sk *skill.Skill, it policy.Item) bool {
	return slices.ContainsFunc(sk.AllowedTools, func(s string) bool {
		p, err := policy.ParsePattern(skill.ToolPattern(s))
		return err == nil && p.Match(it)
	})
}
