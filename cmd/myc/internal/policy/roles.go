package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// roleRow is one role in the shape of `myc policy roles --json`.
type roleRow struct {
	Role     string   `json:"role"`
	Skills   []string `json:"skills"`
	Tools    int      `json:"tools"`
	Servers  []string `json:"servers"`
	Memory   string   `json:"memory"`
	Inherits []string `json:"inherits"`
	Shipped  bool     `json:"shipped,omitzero"` // its file comes with the program and is not in the project
}

func (a *app) rolesCmd() *cobra.Command {
	c := &cobra.Command{Use: "roles", Short: "List and show roles",
		Example: "  myc roles list\n  myc roles show guest", Args: base.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.rolesList(true) }}
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "List roles", Example: "  myc roles list --json", Args: base.NoArgs,
			RunE: func(*cobra.Command, []string) error { return a.rolesList(true) }},
		&cobra.Command{Use: "show ROLE", Short: "Show a role: its skills, tools and prompt", Example: "  myc roles show developer",
			Args: base.ArgRange(1, 1, "one role"),
			RunE: func(_ *cobra.Command, args []string) error { return a.roleCheck(args[0], true) }},
	)
	return c
}

// rolesList lists the roles. files tells with --json which of their files are shipped, which myc policy roles does not promise.
func (a *app) rolesList(files bool) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	of, err := filesOf(v.Project)
	if err != nil {
		return err
	}
	rows := []roleRow{}
	for _, id := range v.Policy.Roles() {
		c, _ := v.Check(id)
		servers := slices.DeleteFunc(c.Tools, func(t project.RoleTool) bool { return strings.HasPrefix(t.Name, policy.AgentServer+"__") })
		row := roleRow{Role: id, Skills: []string{}, Tools: len(servers), Servers: c.Servers, Memory: c.Memory.Policy,
			Inherits: c.Chain[1:], Shipped: files && of.shipped(id)}
		for _, s := range c.Skills {
			row.Skills = append(row.Skills, s.Name)
		}
		rows = append(rows, row)
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{r.Role, fmt.Sprint(r.Tools), base.OrDash(strings.Join(r.Servers, ", ")), r.Memory,
			base.OrDash(strings.Join(r.Inherits, " → ")), strings.Join(r.Skills, ", "), of.shown(r.Role)})
	}
	a.Table(base.Column{Name: "ROLE"}, base.Column{Name: "TOOLS"}, base.Column{Name: "SERVERS", Least: 12, Drop: 2},
		base.Column{Name: "MEMORY", Drop: 3}, base.Column{Name: "INHERITS", Least: 8, Drop: 4}, base.Column{Name: "SKILLS", Least: 20, Drop: 1},
		base.Column{Name: "FILE", Least: 12, Drop: 5}).
		Print(cells...)
	return a.RefuseBroken(v.Problems)
}

// roleCheck shows one role; for an unknown one it lists the known ones. files is as for rolesList.
func (a *app) roleCheck(role string, files bool) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	c, ok := v.Check(role)
	if !ok {
		return failure.Hint(fmt.Errorf("role %q: no skill and no role file names it", role),
			"known roles: "+strings.Join(v.Policy.Roles(), ", "))
	}
	of, err := filesOf(v.Project)
	if err != nil {
		return err
	}
	c.Shipped = files && of.shipped(role)
	if a.JSON {
		if err := a.PrintJSON(c); err != nil {
			return err
		}
		return a.RefuseBroken(v.Problems)
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
	a.Facts([][]string{
		{"role", c.Role}, {"file", of.shown(role)}, {"chain", strings.Join(c.Chain, " → ")},
		{"skills", base.OrDash(strings.Join(skills, ", "))},
		{"servers", base.OrDash(strings.Join(c.Servers, ", "))}, {"memory", memory}, {"model", base.OrDash(modelText(c.Model))},
		{"prompt", base.OrDash(c.Prompt)},
	})
	a.remotePrompt(c.Remote)
	fmt.Fprintf(a.Out, "\n%s\n", text.Count(len(c.Tools), "tool"))
	var rows [][]string
	for _, t := range c.Tools {
		rows = append(rows, []string{"  " + t.Name, t.From})
	}
	a.Facts(rows)
	return a.RefuseBroken(v.Problems)
}

// modelText names the model of a role, with what is set of it.
func modelText(m *policy.Model) string {
	if m == nil {
		return ""
	}
	words := []string{strings.Trim(m.Provider+"/"+m.Model, "/")}
	if m.Temperature != nil {
		words = append(words, fmt.Sprintf("temperature %g", *m.Temperature))
	}
	if m.MaxTokens > 0 {
		words = append(words, fmt.Sprintf("at most %d tokens", m.MaxTokens))
	}
	for _, key := range slices.Sorted(maps.Keys(m.Options)) {
		words = append(words, fmt.Sprintf("%s %v", key, m.Options[key]))
	}
	return text.Cell(strings.Join(words, ", "), 80)
}
