package swarm

import (
	"testing"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/confidence"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/view"
	"mycelium/internal/web/webtest"
)

// written is a session in which a text of an agent stands in each place that an agent can write to.
func written(x string) *book.Session {
	at := time.Unix(1, 0)
	attempt := &book.Attempt{N: 2, State: book.Running, Reason: x, Tip: x, Result: x, Session: x, Began: at, Ended: at, Folder: "/nowhere",
		Criteria: []book.Criterion{{What: x, Says: x}}, Proof: &book.Proof{Changed: 1}}
	feature := func(state book.State, id string) *book.Feature {
		return &book.Feature{Feature: plan.Feature{ID: id, Description: x, DependsOn: []string{x}}, State: state, Reason: x, Commit: x,
			Attempts: []*book.Attempt{attempt}}
	}
	taken := feature(book.Completed, "taken "+x)
	taken.Taking = &book.Taking{Commit: x}
	return &book.Session{ID: "s1", Task: x, State: book.Going, Branch: x, Began: at, Ended: at,
		Limits:      map[string]book.Limit{"": {Until: time.Unix(10, 0), Why: x}},
		Unsandboxed: &book.Unsandboxed{By: x, Record: "r"},
		Features:    []*book.Feature{feature(book.Pending, x), feature(book.Queued, "queued "+x), feature(book.Failed, "failed "+x), taken},
		Reviews: []*book.Review{{Type: "code", Attempt: *attempt, Notes: []string{x}, Findings: &book.Findings{Summary: x, Severity: book.Major,
			Recommendations: []string{x}, Issues: []book.Issue{{Category: x, Severity: book.Error, File: x, Line: 3, Message: x, Suggestion: x,
				Feature: x}}}}}}
}

// TestInjections has a text of an agent in each place of the room that an agent can write to.
func TestInjections(t *testing.T) {
	t.Parallel()
	s := webtest.Site(t, Room())
	webtest.HoldsText(t, func(x string) map[string]string {
		p := s.Root.Of("/home/" + x)
		of := written(x)
		seen := view.Seen{Session: of, Driver: x, Events: []book.Event{{Kind: x, Feature: x, Attempt: 2, Text: x}},
			Workers: []view.Worker{{Feature: x, Attempt: 1, Doing: x,
				Judgement: confidence.Judgement{Verdict: "working", Level: "high", Reason: x}}}}
		session := pageOf(p, seen, time.Unix(2, 0))
		session.Problem = x
		card := featureOf(p, of, of.Features[0], map[string]view.Worker{})
		others, more := overlapsOf([]ground.Overlap{{With: x, Files: []string{x, x}}})
		feature := featurePage{Name: x, Back: addressOf(p), featureCard: card, Problem: x, Done: x, Act: addressOf(p, "features", x), Wholly: x,
			Tries: []try{tryOf(of.Features[0].Attempts[0])}, Points: []point{pointOf(ground.Point{Name: x, Commit: "0123"})}, Others: others,
			More: more + 1, CanRetry: true, CanUndo: true}
		kept := feature
		kept.Why, kept.CanUndo = x, false
		terminal := terminalPage{Name: x, Worker: x, Back: addressOf(p), Stream: addressOf(p, "workers", x, "output"), Stands: "running",
			Live: true, Text: unpainted(painted([]string{x})[0]), Problem: x, Act: addressOf(p, "a"),
			Keyboard: addressOf(p, "workers", x, "keyboard"),
			Keys:     addressOf(p, "workers", x, "keys"), Other: true, Device: x, Hears: true, Result: x}
		mine := terminal
		mine.Yours = true
		wall := wallPage{Name: x, Back: addressOf(p), Stream: addressOf(p, "terminals", "output"),
			Terminals: []wallTerminal{{x, x, addressOf(p, "workers", x), unpainted(painted([]string{x})[0])}}}
		return map[string]string{
			"swarms": webtest.Show(s, "swarms", x, allSwarms{Problem: x, Projects: []listed{
				{Href: addressOf(p), Name: x, Dir: x, Task: x, Driver: x}, {Href: addressOf(p), Problem: x}}}),
			"session": webtest.Show(s, "swarm", x, session), "feature": webtest.Show(s, "feature", x, feature),
			"kept": webtest.Show(s, "feature", x, kept), "terminal": webtest.Show(s, "terminal", x, terminal),
			"mine": webtest.Show(s, "terminal", x, mine), "wall": webtest.Show(s, "terminals", x, wall)}
	})
}
