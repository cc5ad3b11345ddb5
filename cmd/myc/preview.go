package main

import (
	"fmt"
	"slices"

	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// previewRow says what a skill would change for one role (B22).
type previewRow struct {
	Role        string   `json:"role"`
	Added       []string `json:"added"`
	Removed     []string `json:"removed"`
	Concealment struct {
		Before float64 `json:"before"`
		After  float64 `json:"after"`
	} `json:"concealment"`
}

// skillPreview compares the policy with and without a skill. A skill that is in place is compared with its absence, a shipped
// one with its presence.
func (a *app) skillPreview(name, role string) error {
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	with, without := *v.project, *v.project
	without.Skills = slices.DeleteFunc(slices.Clone(v.project.Skills), func(s skill.Skill) bool { return s.Name == name })
	if len(without.Skills) == len(v.project.Skills) {
		shipped, _ := skill.Load(skill.Shipped(), "shipped", "shipped")
		i := slices.IndexFunc(shipped, func(s skill.Skill) bool { return s.Name == name })
		if i < 0 {
			return unknownSkill(name)
		}
		with.Skills = append(slices.Clone(v.project.Skills), shipped[i])
	}
	before, _, _ := without.Compile(v.catalog)
	after, _, _ := with.Compile(v.catalog)
	rows := slices.DeleteFunc(v.changes(before, after), func(r previewRow) bool { return role != "" && r.Role != role })
	if role != "" && len(rows) == 0 {
		return hinted(fmt.Errorf("role %q: no skill and no role file names it", role), "myc policy roles lists them")
	}
	if a.json {
		return a.printJSON(rows)
	}
	for _, r := range rows {
		if len(r.Added)+len(r.Removed) == 0 {
			fmt.Fprintf(a.out, "%s: no change\n", r.Role)
			continue
		}
		fmt.Fprintf(a.out, "%s: %.0f %% concealed → %.0f %%\n", r.Role, 100*r.Concealment.Before, 100*r.Concealment.After)
		for _, t := range r.Added {
			fmt.Fprintf(a.out, "  + %s\n", t)
		}
		for _, t := range r.Removed {
			fmt.Fprintf(a.out, "  - %s\n", t)
		}
	}
	return nil
}

// changes compares two policies over one catalog, role by role.
func (v *view) changes(before, after *policy.Policy) []previewRow {
	rows := []previewRow{}
	for _, c := range skill.Preview(before, after, v.catalog.Definitions, v.catalog.Definitions) {
		row := previewRow{Role: c.Role, Added: names(c.Added), Removed: names(c.Removed)}
		row.Concealment.Before, row.Concealment.After = c.Before, c.After
		rows = append(rows, row)
	}
	return rows
}

func names(items []policy.Item) []string {
	out := []string{}
	for _, it := range items {
		out = append(out, it.String())
	}
	return out
}
