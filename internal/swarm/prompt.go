package swarm

import (
	"context"
	"fmt"
	"strings"

	guard "mycelium/internal/policy/worker"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/material"
	"mycelium/internal/swarm/planning"
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
	if chosen := f.Chosen(); chosen != nil {
		b.WriteString("\n# The plan\n\nThis plan was made for the feature, and chosen. Follow it. Where it turns out to be wrong, do " +
			"what is right,\n" +
			"and say at the end what you did otherwise and why.\n\n" + chosen.Markdown())
	}
	b.WriteString("\n# How the work ends\n\n" +
		"- Commit everything that belongs to the feature on the branch that is checked out, with a conventional commit message\n" +
		"  (feat: …, fix: …). Do not push, do not switch branches, and leave no uncommitted files.\n")
	b.WriteString("- When you are done with a part, say in a line of its own how sure you are that the feature will be finished, from\n" +
		"  0 to 100, such as: Confidence: 80 (or call the tool " + guard.Report + ", if you have it)\n")
	b.WriteString("- Then end your turn with one paragraph: what you did, and what you could not do.\n")
	criteria := judged(s, f)
	if len(criteria) > 0 {
		b.WriteString("\n# When it is complete\n\n" + marks(criteria))
	}
	if a := f.Last(); a != nil && a.Reason != "" {
		fmt.Fprintf(&b, "\n# The attempt before this one\n\nIt was given up: %s\n", text.Truncate(a.Reason, 4000))
		if failed, _ := unmet(a.Criteria); failed != "" {
			fmt.Fprintf(&b, "\nWhat failed:\n\n%s\n", text.Middle(failed, 8000))
		}
		b.WriteString("\nFind out first why it failed, take another way where the last one led nowhere, and run the checks before you commit.\n")
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

// material is the material of a worker as a part of its prompt. A worker can do without it, so what goes wrong here stops none.
func (d *Driver) material(ctx context.Context, s *book.Session, f *book.Feature, from ground.Commit) string {
	if d.Rights == nil || s.Settings.Bare && f.Context.Empty() {
		return ""
	}
	b := material.Defaults()
	if s.Settings.Bare {
		b.Files, b.Patterns = 0, false
	}
	m, err := planning.Gather(ctx, d.Ground, s, f, from, d.Rights, d.Governs, b)
	if err != nil {
		d.Logger.Warn("a worker is given no files of the project", "feature", f.ID, "error", err)
		return ""
	}
	return m.Prompt()
}
