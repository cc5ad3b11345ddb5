package swarm

import (
	"fmt"
	"strings"

	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
)

// promptOf is what a worker is asked to do. What failed before is told, because a worker knows nothing of the attempts before its own.
func promptOf(s *book.Session, f *book.Feature) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"You work on one feature of a larger task, in a git worktree of your own. Other workers work on other features in theirs.\n\n"+
			"# Feature %s\n\n%s\n", f.ID, strings.TrimSpace(f.Description))
	if f.Details != "" {
		fmt.Fprintf(&b, "\n%s\n", f.Details)
	}
	if len(f.Files) > 0 {
		fmt.Fprintf(&b, "\nThe plan names these files: %s\n", strings.Join(f.Files, ", "))
	}
	if f.Asked != "" {
		fmt.Fprintf(&b, "\n# What was asked besides\n\n%s\n", f.Asked)
	}
	if s.Task != "" {
		fmt.Fprintf(&b, "\nThe larger task, for orientation only: %s\n", text.Truncate(s.Task, 2000))
	}
	if done := landed(s, f); len(done) > 0 {
		b.WriteString("\n# What it builds on\n\nThese features are in your worktree already:\n")
		for _, d := range done {
			fmt.Fprintf(&b, "- %s: %s\n", d.ID, text.Cell(d.Description, 200))
		}
	}
	b.WriteString("\n# How the work ends\n\n" +
		"- Commit everything that belongs to the feature on the branch that is checked out, with a conventional commit message\n" +
		"  (feat: …, fix: …). Do not push, do not switch branches, and leave no uncommitted files.\n")
	for _, argv := range checksOf(s, f) {
		fmt.Fprintf(&b, "- This command must pass on what you commit: %s\n", strings.Join(argv, " "))
	}
	b.WriteString("- Then end your turn with one paragraph: what you did, and what you could not do.\n")
	if why := lastReason(f); why != "" {
		fmt.Fprintf(&b, "\n# The attempt before this one\n\nIt was given up: %s\n", text.Truncate(why, 4000))
	}
	return b.String()
}

// landed are the features that a feature depends on.
func landed(s *book.Session, f *book.Feature) (out []*book.Feature) {
	for _, id := range f.DependsOn {
		if d, err := s.Feature(id); err == nil {
			out = append(out, d)
		}
	}
	return out
}

// checksOf are the commands that a feature must pass: its own, then those of its session.
func checksOf(s *book.Session, f *book.Feature) [][]string {
	return append(ownChecks(f), s.Settings.Verify...)
}

// lastReason says why the attempt before was given up; "": there was none.
func lastReason(f *book.Feature) string {
	if a := f.Last(); a != nil {
		return a.Reason
	}
	return ""
}
