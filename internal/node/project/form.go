package project

import (
	"slices"

	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// Form returns where skills of a library that people write here depart from the form of a skill.
func Form(lib *skill.Library) (out []policy.Problem) {
	for _, s := range lib.All() {
		if s.Source == "project" || s.Source == "user" {
			out = append(out, skill.Form(&s.Skill)...)
		}
	}
	return out
}

// Checked joins what loading found and what a check found besides. A warning that the check takes for an error is there once.
func Checked(loaded, more []policy.Problem) []policy.Problem {
	out := slices.DeleteFunc(slices.Clone(loaded), func(p policy.Problem) bool {
		return p.Warning && slices.ContainsFunc(more, func(q policy.Problem) bool { return q.File == p.File && q.Message == p.Message })
	})
	return append(out, more...)
}

// CheckFiles lists every problem of the files: what loading them found, what their skills lack, names that do not exist, and what cannot
// work. A variable or secret that is not here is none: files are checked where the values of production are not.
func (v *View) CheckFiles() []policy.Problem {
	all := append([]policy.Problem{}, v.Problems...)
	for _, s := range v.Skills.All() {
		for _, p := range s.Problems {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return Checked(all, slices.Concat(v.Names(), v.UnworkableAnywhere(), Form(v.Skills)))
}
