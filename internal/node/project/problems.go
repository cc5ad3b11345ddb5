package project

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"mycelium/internal/config"
	"mycelium/internal/policy"
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
	b.WriteString(Visible(p.Message))
	if p.Hint != "" {
		b.WriteString(" (" + Visible(p.Hint) + ")")
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

// Visible replaces control and format characters by a visible form.
func Visible(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// VisibleText is visible for text of several lines.
func VisibleText(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Visible(lines[i])
	}
	return strings.Join(lines, "\n")
}

// IsSkillFile reports whether a problem's file declares a skill.
func IsSkillFile(file string) bool {
	base := filepath.Base(file)
	return base == "SKILL.md" || base == "SKILL.yaml" || base == "SKILL.yml"
}
