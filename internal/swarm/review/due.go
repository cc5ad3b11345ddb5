package review

import (
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
)

// Defaults are what a session has where its person says nothing (requirements, C52).
func Defaults() book.Reviews {
	return book.Reviews{Enabled: true, Code: true, Architecture: true, AutoTrigger: true}
}

// Wanted are the types of the reviews of a session.
func Wanted(r book.Reviews) (out []string) {
	for i, on := range []bool{r.Code, r.Architecture} {
		if r.Enabled && on {
			out = append(out, Names()[i])
		}
	}
	return out
}

// Due adds the reviews that begin by themselves, once nothing is left to be done, and returns what happened; none: no review is due. tip is
// the end of the branch. A commit is reviewed once.
func Due(s *book.Session, tip string) (events []book.Event) {
	r := s.Settings.Reviews
	if !r.AutoTrigger || tip == s.Base || r.SkipOnFailure && s.Has(book.Failed) {
		return nil
	}
	var types []string
	for _, t := range Wanted(r) {
		if last := s.Review(t); last == nil || last.Base != tip {
			types = append(types, t)
		}
	}
	return begin(s, tip, types, "begins, because nothing is left to be done (myc swarm review settings --enabled=false goes without)")
}

// Ask adds the reviews that a person asks for, of what has landed, and has the session go on for them. Without types it is each that the
// session wants, or every one if it wants none. What is reviewed already is reviewed again only by force.
func Ask(s *book.Session, tip string, types []string, force bool) ([]book.Event, error) {
	if len(types) == 0 {
		if types = Wanted(s.Settings.Reviews); len(types) == 0 {
			types = Names()
		}
	}
	switch {
	case s.State == book.Paused:
		return nil, text.Hinted(fmt.Errorf("the session is paused"), "myc swarm resume")
	case s.Busy():
		return nil, text.Hinted(fmt.Errorf("workers are not done yet, so there is nothing to be reviewed as a whole"),
			"reviews begin when nothing is left to be done; myc swarm review settings shows how")
	case tip == s.Base:
		return nil, fmt.Errorf("nothing has landed, so there is nothing to be reviewed")
	}
	for _, t := range types {
		last := s.Review(t)
		switch {
		case !slices.Contains(Names(), t):
			return nil, fmt.Errorf("there is no review %q: it is one of %s", t, strings.Join(Names(), ", "))
		case last == nil:
		case !last.Over():
			return nil, fmt.Errorf("the review of the %s is not over", t)
		case last.State == book.Completed && last.Base == tip && !force:
			return nil, text.Hinted(fmt.Errorf("the %s was reviewed as it is", t), "--force reviews it again")
		}
	}
	if err := s.Reopen(); err != nil {
		return nil, err
	}
	s.State = book.Reviewing
	return begin(s, tip, types, "is asked for by a person"), nil
}

// begin adds reviews of the end of the branch.
func begin(s *book.Session, tip string, types []string, why string) (events []book.Event) {
	for _, t := range types {
		s.Reviews = append(s.Reviews, &book.Review{Type: t, Attempt: book.Attempt{N: next(s, t), State: book.Pending, Base: tip}})
		events = append(events, book.Event{Kind: "review", Feature: Label(t), Text: "the review of the " + t + " " + why})
	}
	return events
}

// next is the number of the next attempt at a review of a type.
func next(s *book.Session, kind string) int {
	n := 1
	for _, r := range s.Reviews {
		if r.Type == kind {
			n = max(n, r.N+1)
		}
	}
	return n
}

// Again has another reviewer begin a review anew.
func Again(s *book.Session, r *book.Review) {
	r.N, r.State = next(s, r.Type), book.Pending
	r.Attempt = book.Attempt{N: r.N, State: book.Pending, Base: r.Base, Cost: r.Cost, Turns: r.Turns, Reason: r.Reason}
}

// Label is a review as events and commands name it: review-code.
func Label(kind string) string { return "review-" + kind }

// Find returns the last review that a label names; nil: there is none.
func Find(s *book.Session, label string) *book.Review {
	kind, ok := strings.CutPrefix(label, "review-")
	if !ok {
		return nil
	}
	return s.Review(kind)
}

// Configure changes what a person chose about the reviews of a session.
func Configure(s *book.Session, to book.Reviews) []book.Event {
	if s.Settings.Reviews == to {
		return nil
	}
	s.Settings.Reviews = to
	return []book.Event{{Kind: "review", Text: "a person changed the reviews: " + Settings(to)}}
}

// Settings says in words what a person chose.
func Settings(r book.Reviews) string {
	types := Wanted(r)
	if len(types) == 0 {
		return "none"
	}
	when := "when a person asks for them"
	switch {
	case r.AutoTrigger && r.SkipOnFailure:
		when = "by themselves, if no feature has failed"
	case r.AutoTrigger:
		when = "by themselves, when nothing is left to be done"
	}
	return strings.Join(types, " and ") + ", " + when
}
