package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/internal/backend"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// skillRow is one skill in the shape of `myc skill list --json`.
type skillRow struct {
	Name        string         `json:"name"`
	DisplayName string         `json:"displayName"`
	Description string         `json:"description"`
	Roles       []string       `json:"roles"`
	Tools       []string       `json:"tools"`
	Triggers    []string       `json:"triggers"`
	Valid       bool           `json:"valid"`
	Problems    []problemShape `json:"problems"`
	Source      string         `json:"source"`
}

type problemShape struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

func (a *app) skillCmd() *cobra.Command {
	c := &cobra.Command{Use: "skill", Short: "Skills: what makes tools exist", Example: "  myc skill list", Args: noArgs, RunE: func(*cobra.Command, []string) error { return a.skillList() }}
	var template, role string
	add := &cobra.Command{Use: "add NAME", Short: "Add a skill from a template, or a shipped one by its name", Example: "  myc skill add my-skill --template code-reviewer", Args: argRange(1, 1, "one name"),
		RunE: func(_ *cobra.Command, args []string) error { return a.skillAdd(args[0], template) }}
	add.Flags().StringVar(&template, "template", "", "template (default: the shipped skill of that name, else basic)")
	preview := &cobra.Command{Use: "preview NAME", Short: "What adding a skill would change, for whom", Example: "  myc skill preview editor --role guest", Args: argRange(1, 1, "one skill"),
		RunE: func(_ *cobra.Command, args []string) error { return a.skillPreview(args[0], role) }}
	preview.Flags().StringVar(&role, "role", "", "one role only")
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "List skills, the invalid ones with what is wrong", Example: "  myc skill list --json", Args: noArgs, RunE: func(*cobra.Command, []string) error { return a.skillList() }},
		&cobra.Command{Use: "show NAME", Short: "Show a skill with its instructions", Example: "  myc skill show reader", Args: argRange(1, 1, "one skill"),
			RunE: func(_ *cobra.Command, args []string) error { return a.skillShow(args[0]) }},
		add,
		&cobra.Command{Use: "templates", Short: "List templates and shipped skills", Example: "  myc skill templates", Args: noArgs, RunE: func(*cobra.Command, []string) error { return a.skillTemplates() }},
		&cobra.Command{Use: "validate [PATH]", Short: "Check skills, also ones that are not in place yet", Example: "  myc skill validate skills/reader", Args: argRange(0, 1, "at most one folder"),
			RunE: func(_ *cobra.Command, args []string) error { return a.skillValidate(args) }},
		preview,
		a.skillApproveCmd(),
		&cobra.Command{Use: "load NAME", Short: "Let a skill that is in place take effect now, and say whether it does", Example: "  myc skill load reader", Args: argRange(1, 1, "one skill"),
			RunE: func(c *cobra.Command, args []string) error { return a.skillReload(c.Context(), args[0]) }},
		&cobra.Command{Use: "reload [NAME]", Short: "Read the files again", Example: "  myc skill reload", Args: argRange(0, 1, "at most one skill"),
			RunE: func(c *cobra.Command, args []string) error {
				return a.skillReload(c.Context(), strings.Join(args, ""))
			}})
	return c
}

func (a *app) skillList() error {
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	served := servedRows(v.pool.Catalog().Skills)
	rows := append(v.skillRows(v.skills), served...)
	if a.json {
		return a.printJSON(rows)
	}
	text := [][]string{{"SKILL", "STATE", "SOURCE", "ROLES", "TOOLS", "DESCRIPTION"}}
	for _, s := range v.skills.All() {
		text = append(text, []string{s.Name, string(s.State), string(s.Source), firstLine(strings.Join(v.rolesOf(s), ", "), 40), fmt.Sprint(len(s.AllowedTools)), firstLine(s.Description, 60)})
	}
	for _, s := range v.pool.Catalog().Skills {
		if s.State != backend.SkillApproved {
			text = append(text, []string{s.Name, s.State, "mcp:" + s.Server, "–", "0", firstLine(s.Description, 60)})
		}
	}
	table(a.out, text)
	for _, r := range served {
		p := r.Problems[0]
		fmt.Fprintf(a.err, "%s: %s (%s)\n", visible(p.File), p.Message, visible(p.Hint))
	}
	a.printProblems(v, func(p policy.Problem) bool { return isSkillFile(p.File) })
	return nil
}

// printProblems shows problems on stderr.
func (a *app) printProblems(v *view, which func(policy.Problem) bool) {
	for _, p := range v.problems {
		if which(p) {
			fmt.Fprintln(a.err, problemText(p))
		}
	}
}

func (v *view) skillRows(lib *skill.Library) []skillRow {
	rows := []skillRow{}
	for _, s := range lib.All() {
		r := skillRow{Name: s.Name, DisplayName: s.DisplayName, Description: s.Description, Roles: v.rolesOf(s), Tools: s.AllowedTools, Triggers: s.Triggers,
			Valid: s.State == skill.Valid, Problems: []problemShape{}, Source: string(s.Source)}
		for _, p := range s.Problems {
			r.Problems = append(r.Problems, problemShape{p.File, p.Line, p.Message, p.Hint})
		}
		rows = append(rows, r)
	}
	return rows
}

// rolesOf are the roles to which a skill is open; of one that does not take effect, those that it declares.
func (v *view) rolesOf(s skill.Checked) []string {
	roles := []string{}
	for _, r := range v.policy.Roles() {
		if slices.Contains(v.policy.OpenSkills(r), s.Name) {
			roles = append(roles, r)
		}
	}
	if s.State != skill.Valid && len(roles) == 0 {
		return append(roles, s.AllowedRoles...)
	}
	return roles
}

func (a *app) skillShow(name string) error {
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	all := v.skills.All()
	i := slices.IndexFunc(all, func(s skill.Checked) bool { return s.Name == name })
	if i < 0 {
		return a.noSkill(v, name)
	}
	s := all[i]
	if a.json {
		rows := v.skillRows(v.skills)
		j := slices.IndexFunc(rows, func(r skillRow) bool { return r.Name == name })
		return a.printJSON(struct {
			skillRow
			Instructions string          `json:"instructions"`
			Commands     []skill.Command `json:"commands"`
		}{rows[j], s.Instructions, s.Commands})
	}
	table(a.out, [][]string{{"skill", s.Name}, {"state", string(s.State)}, {"file", s.File}, {"roles", orDash(strings.Join(v.rolesOf(s), ", "))},
		{"tools", orDash(strings.Join(s.AllowedTools, ", "))}, {"triggers", orDash(strings.Join(s.Triggers, ", "))}, {"description", s.Description}})
	for _, p := range s.Problems {
		fmt.Fprintln(a.err, problemText(p))
	}
	fmt.Fprintf(a.out, "\n%s\n", strings.TrimSpace(s.Instructions))
	return nil
}

func unknownSkill(name string) error {
	return hinted(fmt.Errorf("skill %q: there is none of that name", name), "myc skill list shows them, myc skill templates what can be added")
}
