package project

import (
	"slices"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
)

// doctorNames reports rules and roles in force that name what does not exist, and skills without what a skill has to have.
func doctorNames(v *project.View, add base.Report) {
	for _, p := range slices.Concat(v.Names(), project.Form(v.Skills)) {
		report(p, "names", "", add)
	}
}

// doctorOnDisk reports what is wrong with the files as they are on disk, where those are not the accepted ones.
func (a *app) doctorOnDisk(v *project.View, add base.Report) {
	c, err := v.Project.Candidate()
	if err != nil || len(c.Changes) == 0 {
		return
	}
	disk := *a.App
	disk.OnDisk = true
	w, err := disk.OpenView()
	if err != nil {
		add("problem", "files", "on disk: "+err.Error(), "")
		return
	}
	defer w.Close()
	known := slices.Concat(v.Problems, v.Names(), project.Form(v.Skills))
	if !v.Project.Missing() {
		known = append(known, c.Why...) // doctorTrust says it
	}
	same := func(p policy.Problem) bool {
		return slices.ContainsFunc(known, func(q policy.Problem) bool { return q.File == p.File && q.Message == p.Message })
	}
	for _, p := range project.Checked(w.Problems, slices.Concat(w.Names(), project.Form(w.Skills))) {
		if !p.Warning && !same(p) {
			report(p, "files", "not accepted yet: ", add)
		}
	}
}

// report adds a problem as a finding.
func report(p policy.Problem, what, before string, add base.Report) {
	level, hint := "problem", p.Hint
	if p.Warning {
		level = "warning"
	}
	p.Hint, p.Warning = "", false
	add(level, what, before+project.ProblemText(p), hint)
}
