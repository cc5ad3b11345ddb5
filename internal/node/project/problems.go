package project

import (
	"fmt"
	"path/filepath"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// ProblemText formats a problem as a line: file:line: message (hint).
func ProblemText(p policy.Problem) string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
		}
		b.WriteString(": ")
	}
	if p.Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(text.Flatten(p.Message))
	if p.Hint != "" {
		b.WriteString(" (" + text.Flatten(p.Hint) + ")")
	}
	return b.String()
}

// Broken says which problem keeps the files from being used, if one that could restrict calls does not load; "" if all
// of them load. A skill that does not load grants nothing, so it does not count.
func (v *View) Broken() string {
	if v.Project.Broken.All == "" && len(v.Project.Broken.Roles) == 0 {
		return ""
	}
	for _, p := range v.Problems {
		if !p.Warning {
			return ProblemText(p)
		}
	}
	return "a file does not load"
}

// IsSkillFile reports whether a problem's file declares a skill.
func IsSkillFile(file string) bool {
	base := filepath.Base(file)
	return base == "SKILL.md" || base == "SKILL.yaml" || base == "SKILL.yml"
}
