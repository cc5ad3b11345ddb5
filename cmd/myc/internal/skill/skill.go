// Package skill has the commands about skills.
package skill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/backend/pin"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/skill/need"
	"mycelium/internal/text"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Command is `myc skill`.
func Command(a *base.App) *cobra.Command { return (&app{a}).skillCmd() }

// skillRow is one skill in the shape of `myc skill list --json`.
type skillRow struct {
	Name        string              `json:"name"`
	DisplayName string              `json:"displayName"`
	Description string              `json:"description"`
	Roles       []string            `json:"roles"`
	Tools       []string            `json:"tools"`
	Triggers    []string            `json:"triggers"`
	Valid       bool                `json:"valid"`
	Problems    []base.ProblemShape `json:"problems"`
	Source      string              `json:"source"`
}

func (a *app) skillCmd() *cobra.Command {
	c := &cobra.Command{Use: "skill", Short: "Add, check and list skills", Example: "  myc skill list", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.skillList(c.Context()) }}
	var role string
	add := a.skillAddCmd()
	preview := &cobra.Command{Use: "preview NAME|PATH", Short: "Show what activating a skill changes, and for which role",
		Example: "  myc skill preview editor --role guest\n  myc skill preview ./drafts/my-skill",
		Args:    base.ArgRange(1, 1, "one skill"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.skillPreview(args[0], role) }}
	preview.Flags().StringVar(&role, "role", "", "one role only")
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "List skills, and what is wrong with the invalid ones", Example: "  myc skill list --json",
			Args: base.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return a.skillList(c.Context()) }},
		&cobra.Command{Use: "show NAME", Short: "Show a skill with its instructions", Example: "  myc skill show reader",
			Args: base.ArgRange(1, 1, "one skill"),
			RunE: func(c *cobra.Command, args []string) error { return a.skillShow(c.Context(), args[0]) }},
		add,
		&cobra.Command{Use: "templates", Short: "List templates and shipped skills", Example: "  myc skill templates",
			Args: base.NoArgs, RunE: func(*cobra.Command, []string) error { return a.skillTemplates() }},
		&cobra.Command{Use: "validate [PATH]", Short: "Check skills, also outside the skills folder",
			Example: "  myc skill validate skills/reader", Args: base.ArgRange(0, 1, "at most one folder"),
			RunE: func(c *cobra.Command, args []string) error { return a.skillValidate(c.Context(), args) }},
		preview,
		a.skillApproveCmd(),
		a.skillExportCmd(),
		&cobra.Command{Use: "load NAME", Short: "Load a skill of the skills folder, and say whether it is valid",
			Example: "  myc skill load reader", Args: base.ArgRange(1, 1, "one skill"),
			RunE: func(c *cobra.Command, args []string) error { return a.skillReload(c.Context(), args[0]) }},
		&cobra.Command{Use: "reload [NAME]", Short: "Read the skills again", Example: "  myc skill reload",
			Args: base.ArgRange(0, 1, "at most one skill"),
			RunE: func(c *cobra.Command, args []string) error {
				return a.skillReload(c.Context(), strings.Join(args, ""))
			}})
	return c
}

func (a *app) skillList(ctx context.Context) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	ships, err := shippedFiles(v)
	if err != nil {
		return err
	}
	served := servedRows(v.Pool.Catalog().Skills)
	lacks := need.Look(ctx, v.Skills.All())
	rows := append(skillRows(v, v.Skills, ships, lacks), served...)
	if a.JSON {
		return a.PrintJSON(rows)
	}
	var cells [][]string
	for _, s := range v.Skills.All() {
		cells = append(cells, []string{s.Name, string(s.State), sourceOf(s, ships),
			strings.Join(v.RolesOf(s), ", "), fmt.Sprint(len(s.AllowedTools)), lacksText(lacks[s.Name]), s.Description})
	}
	for _, s := range v.Pool.Catalog().Skills {
		if s.State != pin.SkillApproved {
			cells = append(cells, []string{s.Name, s.State, "mcp:" + s.Server, "–", "0", "–", s.Description})
		}
	}
	a.Table(base.Column{Name: "SKILL", Least: 12}, base.Column{Name: "STATE", Paint: base.ByEffect}, base.Column{Name: "SOURCE", Drop: 3},
		base.Column{Name: "ROLES", Least: 12, Drop: 2}, base.Column{Name: "TOOLS", Drop: 4}, base.Column{Name: "LACKS", Drop: 5},
		base.Column{Name: "DESCRIPTION", Least: 20, Drop: 1}).
		Print(cells...)
	for _, r := range served {
		p := r.Problems[0]
		fmt.Fprintf(a.Err, "%s: %s (%s)\n", text.Flatten(p.File), text.Flatten(p.Message), text.Flatten(p.Hint))
	}
	a.printProblems(v, func(p policy.Problem) bool { return project.IsSkillFile(p.File) })
	return nil
}

// printProblems shows problems on stderr.
func (a *app) printProblems(v *project.View, which func(policy.Problem) bool) {
	for _, p := range v.Problems {
		if which(p) {
			fmt.Fprintln(a.Err, project.ProblemText(p))
		}
	}
}

func skillRows(v *project.View, lib *skill.Library, ships map[string][]byte, lacks map[string][]need.Lack) []skillRow {
	rows := []skillRow{}
	for _, s := range lib.All() {
		r := skillRow{Name: s.Name, DisplayName: s.DisplayName, Description: s.Description, Roles: v.RolesOf(s),
			Tools: s.AllowedTools, Triggers: s.Triggers,
			Valid: s.State == skill.Valid, Problems: []base.ProblemShape{}, Source: sourceOf(s, ships)}
		for _, p := range s.Problems {
			r.Problems = append(r.Problems, base.ShapeOf(p))
		}
		for _, l := range lacks[s.Name] {
			r.Problems = append(r.Problems, base.ShapeOf(lackProblem(s, l)))
		}
		rows = append(rows, r)
	}
	return rows
}

func (a *app) skillShow(ctx context.Context, name string) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	all := v.Skills.All()
	i := slices.IndexFunc(all, func(s skill.Checked) bool { return s.Name == name })
	if i < 0 {
		return a.noSkill(v, name)
	}
	s := all[i]
	ships, err := shippedFiles(v)
	if err != nil {
		return err
	}
	lacks := need.Look(ctx, all[i:i+1])
	if a.JSON {
		rows := skillRows(v, v.Skills, ships, lacks)
		j := slices.IndexFunc(rows, func(r skillRow) bool { return r.Name == name })
		return a.PrintJSON(struct {
			skillRow
			Instructions string          `json:"instructions"`
			Commands     []skill.Command `json:"commands"`
			Requires     skill.Requires  `json:"requires,omitzero"`
		}{rows[j], s.Instructions, s.Commands, s.Requires})
	}
	a.Facts([][]string{{"skill", s.Name}, {"state", string(s.State)}, {"file", base.WithShipped(s.File, ships)},
		{"roles", base.OrDash(strings.Join(v.RolesOf(s), ", "))},
		{"tools", base.OrDash(strings.Join(s.AllowedTools, ", "))}, {"triggers", base.OrDash(strings.Join(s.Triggers, ", "))},
		{"commands", base.OrDash(strings.Join(commandTexts(s.Commands), ", "))}, {"requires", requiresText(s.Requires)},
		{"description", s.Description}})
	for _, p := range s.Problems {
		fmt.Fprintln(a.Err, project.ProblemText(p))
	}
	a.printLacks(s, lacks[s.Name])
	fmt.Fprintf(a.Out, "\n%s\n", strings.TrimSpace(s.Instructions))
	return nil
}

// commandTexts are the slash commands of a skill, each with what it runs.
func commandTexts(commands []skill.Command) (out []string) {
	for _, c := range commands {
		runs := c.ToolName
		if c.HandlerType == "script" {
			runs = c.ScriptPath
		}
		out = append(out, "/"+c.Name+" ("+runs+")")
	}
	return out
}
