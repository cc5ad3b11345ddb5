package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/internal/policy"
)

// roleRow is one role in the shape of `myc policy roles --json`.
type roleRow struct {
	Role     string   `json:"role"`
	Skills   []string `json:"skills"`
	Tools    int      `json:"tools"`
	Servers  []string `json:"servers"`
	Memory   string   `json:"memory"`
	Inherits []string `json:"inherits"`
}

// roleCheck is `myc policy check --json`.
type roleCheck struct {
	Role    string       `json:"role"`
	Chain   []string     `json:"chain"`
	Skills  []roleSkill  `json:"skills"`
	Servers []string     `json:"servers"`
	Tools   []roleTool   `json:"tools"`
	Memory  memoryPolicy `json:"memory"`
	Prompt  string       `json:"prompt"`
}

type roleSkill struct {
	Name   string `json:"name"`
	Active bool   `json:"active"`
}

type roleTool struct {
	Name string `json:"name"`
	From string `json:"from"` // own, inherited or role file
}

type memoryPolicy struct {
	Policy string   `json:"policy"`
	Teams  []string `json:"teams"`
}

func (a *app) rolesCmd() *cobra.Command {
	c := &cobra.Command{Use: "roles", Short: "The roles that skills and role files name", Example: "  myc roles list\n  myc roles show guest", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.rolesList() }}
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "List roles", Example: "  myc roles list --json", Args: noArgs, RunE: func(*cobra.Command, []string) error { return a.rolesList() }},
		&cobra.Command{Use: "show ROLE", Short: "Show what a role comes to", Example: "  myc roles show developer", Args: argRange(1, 1, "one role"),
			RunE: func(_ *cobra.Command, args []string) error { return a.roleCheck(args[0]) }},
	)
	return c
}

func (a *app) rolesList() error {
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	rows := []roleRow{}
	for _, id := range v.policy.Roles() {
		c, _ := v.check(id)
		row := roleRow{Role: id, Skills: []string{}, Tools: len(c.Tools), Servers: c.Servers, Memory: c.Memory.Policy, Inherits: c.Chain[1:]}
		for _, s := range c.Skills {
			row.Skills = append(row.Skills, s.Name)
		}
		rows = append(rows, row)
	}
	if a.json {
		return a.printJSON(rows)
	}
	text := [][]string{{"ROLE", "TOOLS", "SERVERS", "MEMORY", "INHERITS", "SKILLS"}}
	for _, r := range rows {
		text = append(text, []string{r.Role, fmt.Sprint(r.Tools), orDash(strings.Join(r.Servers, ", ")), r.Memory, orDash(strings.Join(r.Inherits, " → ")), firstLine(strings.Join(r.Skills, ", "), 70)})
	}
	table(a.out, text)
	return a.refuseBroken(v.problems)
}

// roleCheck shows one role; for an unknown one it lists the known ones.
func (a *app) roleCheck(role string) error {
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	c, ok := v.check(role)
	if !ok {
		return hinted(fmt.Errorf("role %q: no skill and no role file names it", role), "known roles: "+strings.Join(v.policy.Roles(), ", "))
	}
	if a.json {
		if err := a.printJSON(c); err != nil {
			return err
		}
		return a.refuseBroken(v.problems)
	}
	var skills []string
	for _, s := range c.Skills {
		if s.Active {
			skills = append(skills, s.Name)
		} else {
			skills = append(skills, s.Name+" (not active at the start)")
		}
	}
	memory := c.Memory.Policy
	if len(c.Memory.Teams) > 0 {
		memory += " (" + strings.Join(c.Memory.Teams, ", ") + ")"
	}
	table(a.out, [][]string{
		{"role", c.Role}, {"chain", strings.Join(c.Chain, " → ")}, {"skills", orDash(strings.Join(skills, ", "))},
		{"servers", orDash(strings.Join(c.Servers, ", "))}, {"memory", memory}, {"prompt", orDash(firstLine(c.Prompt, 80))},
	})
	fmt.Fprintf(a.out, "\n%d tools\n", len(c.Tools))
	var rows [][]string
	for _, t := range c.Tools {
		rows = append(rows, []string{"  " + t.Name, t.From})
	}
	table(a.out, rows)
	return a.refuseBroken(v.problems)
}

// check says what a role may come to see with every skill open to it active.
func (v *view) check(role string) (roleCheck, bool) {
	r, ok := v.policy.Role(role)
	if !ok {
		return roleCheck{}, false
	}
	c := roleCheck{Role: role, Chain: r.Chain, Skills: []roleSkill{}, Servers: []string{}, Tools: []roleTool{}, Prompt: r.Prompt,
		Memory: memoryPolicy{Policy: r.Memory, Teams: r.MemoryTeams}}
	if len(c.Chain) == 0 {
		c.Chain = []string{role}
	}
	start := v.policy.StartSkills(role)
	for _, s := range r.Skills {
		c.Skills = append(c.Skills, roleSkill{Name: s, Active: slices.Contains(start, s)})
	}
	scope := policy.Scope{Principal: policy.Principal{ID: "local", Role: role}, Skills: r.Skills}
	for _, it := range v.policy.Items(scope, policy.Tool) {
		if it.IsControl() {
			continue
		}
		c.Tools = append(c.Tools, roleTool{Name: it.String(), From: v.from(role, r, it)})
		if !slices.Contains(c.Servers, it.Server) {
			c.Servers = append(c.Servers, it.Server)
		}
	}
	slices.Sort(c.Servers)
	return c, true
}

// from says where a role has a tool from: a skill that names the role itself, one that it inherits, or its role file.
func (v *view) from(role string, r policy.RoleView, it policy.Item) string {
	inherited := false
	for _, name := range r.Skills {
		sk, ok := v.skills.Skill(name)
		if !ok || !grantsTool(sk, it) {
			continue
		}
		if len(r.Chain) < 2 || sk.AllowedRoles == nil || slices.Contains(sk.AllowedRoles, role) || slices.Contains(sk.AllowedRoles, "*") {
			return "own"
		}
		inherited = true
	}
	if inherited {
		return "inherited"
	}
	return "role file"
}
