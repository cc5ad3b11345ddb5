package review

import (
	"fmt"
	"strings"

	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
)

// Results are the last reviews of a session, as commands and tools print them for programs.
type Results struct {
	Settings book.Reviews   `json:"settings"`
	Overall  book.Severity  `json:"overall,omitempty"`
	Reviews  []*book.Review `json:"reviews"` // of each type the last one
}

// Last are the last reviews of a session.
func Last(s *book.Session) Results {
	out := Results{Settings: s.Settings.Reviews, Overall: s.Overall(), Reviews: []*book.Review{}}
	for _, t := range Names() {
		if r := s.Review(t); r != nil {
			out.Reviews = append(out.Reviews, r)
		}
	}
	return out
}

// Result is what a review found, in two words, or how it stands.
func Result(r *book.Review) string {
	if r.Findings == nil {
		return r.State.Words()
	}
	return string(r.Findings.Severity) + ", " + text.Count(len(r.Findings.Issues), "issue")
}

// Told is a review for people: a line, and what it found, of issues those of its type.
func Told(r *book.Review, issues []Found) (head, body string) {
	head = fmt.Sprintf("Review of the %s, of %.12s: %s", r.Type, r.Base, Result(r))
	var b strings.Builder
	if r.Findings == nil {
		if r.Reason != "" {
			fmt.Fprintf(&b, "  %s\n", text.OneLine(r.Reason))
		}
		return head, b.String()
	}
	fmt.Fprintf(&b, "  %s\n", text.Flatten(r.Findings.Summary))
	for _, i := range issues {
		if i.Type == r.Type {
			b.WriteString(i.Told())
		}
	}
	for _, s := range r.Findings.Recommendations {
		fmt.Fprintf(&b, "  - %s\n", text.Flatten(s))
	}
	for _, s := range r.Notes {
		fmt.Fprintf(&b, "  (%s)\n", text.OneLine(s))
	}
	return head, b.String()
}

// Told is an issue for people, with the number by which it is chosen.
func (f Found) Told() string {
	where := ""
	if f.File != "" {
		where = " " + f.File
		if f.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, f.Line)
		}
	}
	if f.Feature != "" {
		where += " (mended by " + f.Feature + ")"
	}
	said := fmt.Sprintf("  %d  %s, %s%s: %s\n", f.Index, f.Severity, f.Category, text.OneLine(where), text.Flatten(f.Message))
	if f.Suggestion != "" {
		said += fmt.Sprintf("     → %s\n", text.Flatten(f.Suggestion))
	}
	return said
}
