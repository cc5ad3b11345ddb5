package project

import (
	"fmt"
	"path/filepath"
	"strings"

	"mycelium/internal/config"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// ProblemText is one problem as a line: file:line: message (hint).
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

// BrokenFiles reports whether a file that could have restricted calls did not load. A broken skill is none: it removes itself.
func BrokenFiles(p *config.Project, _ []policy.Problem) bool {
	return p.Broken.All != "" || len(p.Broken.Roles) > 0
}

func FirstProblem(ps []policy.Problem) string {
	for _, p := range ps {
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
