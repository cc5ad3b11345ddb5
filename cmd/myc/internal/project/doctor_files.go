package project

import (
	"fmt"
	"slices"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

func doctorTrust(v *project.View, add base.Report) {
	p := v.Project
	if p.User.Missing() {
		add("warning", "trust", fmt.Sprintf("nothing of your own files is accepted: %d of them have no effect", len(p.User.Untrusted)),
			"look at them and accept them: myc trust")
	}
	switch c, err := p.Candidate(); {
	case err != nil:
		add("problem", "trust", err.Error(), "")
	case p.Damaged != "", p.User.Damaged != "": // doctorFiles says it
	case p.Missing():
		add("warning", "trust", fmt.Sprintf("nothing of this folder is accepted: %d of its files have no effect", len(p.Untrusted)),
			"look at them and accept them: myc trust")
	case !p.Trusted && len(c.Changes) == 0:
		add("ok", "trust", "the folder has no files of Mycelium", "myc init writes them")
	case len(c.Changes) == 0:
		add("ok", "trust", "what governs "+p.Dir+" is as it was accepted", "")
	default:
		for _, ch := range c.Changes {
			if ch.Yours && p.User.Missing() {
				continue // told above
			}
			add("warning", "trust", fmt.Sprintf("%s (%s) waits to be accepted; until then it has no effect", ch.File, ch.What()),
				"look at the change and accept it: myc trust")
		}
		for _, pr := range c.Why {
			hint := pr.Hint
			pr.Hint = ""
			add("problem", "trust", "it cannot be accepted: "+project.ProblemText(pr), hint)
		}
	}
}

func doctorFiles(v *project.View, add base.Report) {
	bad, form := 0, project.Form(v.Skills)
	var changes []config.Change
	if c, err := v.Project.Candidate(); err == nil { // doctorTrust says the error
		changes = c.Changes
	}
	for _, p := range append(slices.Clone(v.Problems), v.Project.LeftOut...) {
		below := func(c config.Change) bool { return strings.HasPrefix(c.File, p.File+"/") }
		if p.Warning && p.File != "" && slices.ContainsFunc(changes, below) {
			continue // a folder without an accepted file: doctorTrust says what waits in it
		}
		level := "warning"
		if !p.Warning && !slices.Contains(v.Project.LeftOut, p) {
			level = "problem"
			bad++
		}
		if ofSkill(v, p) || slices.ContainsFunc(form, func(q policy.Problem) bool { return q.File == p.File && q.Message == p.Message }) {
			continue // reported with its skill, or by doctorNames
		}
		hint := p.Hint
		p.Hint, p.Warning = "", false
		add(level, "files", project.ProblemText(p), hint)
	}
	if bad == 0 {
		add("ok", "files", "every file loads", "")
	}
}

// ofSkill reports whether doctorSkills reports this problem.
func ofSkill(v *project.View, p policy.Problem) bool {
	return slices.ContainsFunc(v.Skills.All(), func(s skill.Checked) bool {
		return slices.ContainsFunc(s.Problems, func(q policy.Problem) bool {
			return q.File == p.File && q.Line == p.Line && q.Message == p.Message
		})
	})
}

func doctorSkills(v *project.View, add base.Report) {
	for _, s := range v.Skills.All() {
		for _, p := range s.Problems {
			level := "problem"
			if p.Warning || s.State == skill.Pending {
				level = "warning"
			}
			hint := p.Hint
			p.Hint, p.Warning = "", false
			add(level, "skill "+s.Name, project.ProblemText(p), hint)
		}
	}
	for _, s := range v.Skills.All() {
		if why := v.WhyClosed(s); why != "" {
			add("warning", "skill "+s.Name, why, "let a role use it: myc skill grant "+s.Name+" ROLE; or remove it")
		}
	}
	add("ok", "skills", fmt.Sprintf("%d valid", len(v.Skills.Grants())), "")
}

func doctorRoles(v *project.View, add base.Report) {
	conf := v.Project.File.Session
	if conf.DefaultRole == "" {
		add("warning", "roles", "session.defaultRole is not set: a client without a role sees control tools only",
			"set it in mycelium.yaml, or start clients with --role")
	}
	for _, role := range v.Policy.Roles() {
		if c, _ := v.Check(role); len(c.Tools) == 0 {
			add("warning", "role "+role, "it sees no tool", "myc policy check --role "+role)
		}
	}
}
