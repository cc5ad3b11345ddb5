package skill

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// Form returns where a skill departs from the form of a skill (A5): it has no description, its version is no version, or it names a role
// twice. A skill in force works all the same; the commands that check files fail with it.
func Form(s *Skill) (out []policy.Problem) {
	if strings.TrimSpace(s.Description) == "" {
		out = append(out, s.at("description").problem("the skill has no description",
			"say in a sentence what it is for: people and models choose by it"))
	}
	if v := s.Metadata.Version; v != "" && !isVersion(v) {
		out = append(out, s.at("version").problem(fmt.Sprintf("version: %q is not a version", v), "write three numbers: 1.0.0"))
	}
	seen := map[string]bool{}
	for i, role := range s.AllowedRoles {
		if seen[role] {
			out = append(out, s.at(fmt.Sprintf("allowedRoles[%d]", i)).problem(fmt.Sprintf("allowedRoles: %q is there twice", role),
				"name each role once"))
		}
		seen[role] = true
	}
	for i := range out {
		if out[i].File == "" {
			out[i].File = s.File
		}
	}
	return out
}

// Located adds the place in the file of a skill to what a policy says against its declaration.
func Located(problems []policy.Problem, skills []Skill) []policy.Problem {
	for i, p := range problems {
		at := slices.IndexFunc(skills, func(s Skill) bool { return s.Name == p.Skill })
		if p.Skill == "" || p.File != "" || at < 0 {
			continue
		}
		place := skills[at].at(p.Key).problem("", "")
		problems[i].File, problems[i].Line = cmp.Or(place.File, skills[at].File), place.Line
	}
	return problems
}

// isVersion reports whether a text is a version of semver.org. The shorter forms 1 and 1.2 are read too.
func isVersion(s string) bool {
	numbers, _, _ := strings.Cut(s, "+")
	numbers, _, _ = strings.Cut(numbers, "-")
	parts := strings.Split(numbers, ".")
	for _, p := range parts {
		if p == "" || strings.Trim(p, yamlfile.Digits) != "" {
			return false
		}
	}
	return len(parts) <= 3
}
