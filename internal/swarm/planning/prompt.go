package planning

import (
	"fmt"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/proposal"
	"mycelium/internal/text"
	"strings"
)

// Planned reports whether two planners compete for a feature before a worker is given it: it is as complex as the session says, or a person
// asked for it, and no plan is chosen yet.
func Planned(s *book.Session, f *book.Feature) bool {
	if f.Planning != nil {
		return f.Planning.Winner == ""
	}
	return s.Settings.Planned > 0 && len(f.Attempts) == 0 && plan.Score(f.Feature).Total >= s.Settings.Planned
}

// File is the file in the project of its worktree that a planner writes, and the only one that it may write.
func File(feature, planner string) string {
	return feature + ".plan-" + strings.ToLower(planner) + ".json"
}

// Prompt is what a planner is asked to do.
func Prompt(s *book.Session, f *book.Feature, p *book.Planner, material string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You plan one feature of a larger task, and implement nothing. Another planner plans the same feature without "+
		"knowing of you, and\n"+
		"the better plan is given to the one who implements it. Read what you need in this project: a git worktree of your own, of\n"+
		"which you may change one file only, the plan.\n\n# Feature %s\n\n%s\n", f.ID, strings.TrimSpace(f.Description))
	if f.Details != "" {
		fmt.Fprintf(&b, "\n%s\n", f.Details)
	}
	if s.Task != "" {
		fmt.Fprintf(&b, "\nThe larger task, for orientation only: %s\n", text.Truncate(s.Task, 2000))
	}
	if p.Name == proposal.B { // two plans of the same kind would be no choice
		b.WriteString("\nLook for the way with the least change and the least risk.\n")
	} else {
		b.WriteString("\nLook for the way that leaves the program in the best shape.\n")
	}
	if more := f.Planning.Prompts[one(p.Name == proposal.B)]; more != "" {
		fmt.Fprintf(&b, "\n%s\n", more)
	}
	fmt.Fprintf(&b, "\n# How the work ends\n\nWrite the plan into the file %s, which is there and empty. It is one JSON object of "+
		"this form and has no\n"+
		"other members; paths are relative to the project:\n\n%s\n\nEach step says which files it touches and how it is seen that it is "+
		"done: a plan "+
		"that can be tested is the better\none. Change nothing else, commit nothing, and then end your turn with one sentence.\n",
		File(f.ID, p.Name), proposal.Form)
	if p.Reason != "" {
		fmt.Fprintf(&b, "\n# The planner before you\n\nIts plan was not taken: %s\n", p.Reason)
	}
	return b.String() + material
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
