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

// byThemselves are the types of the reviews that begin without being asked for, where a feature has failed or none has.
func byThemselves(r book.Reviews, failed bool) []string {
	if !r.AutoTrigger || failed && r.SkipOnFailure {
		return nil
	}
	return Wanted(r)
}

// Due adds the reviews that begin by themselves, once nothing is left to be done, and returns what happened; none: no review is due. tip is
// the end of the branch. A commit is reviewed once.
func Due(s *book.Session, tip string) (events []book.Event) {
	if tip == s.Base {
		return nil
	}
	var types []string
	for _, t := range byThemselves(s.Settings.Reviews, s.Has(book.Failed)) {
		if last := s.Review(t); last == nil || last.Base != tip {
			types = append(types, t)
		}
	}
	return begin(s, tip, types, "begins, because nothing is left to be done (myc swarm review settings --enabled=false goes without)")
}

// Ask adds the reviews that are asked for, of what has landed, and has the session go on for them. Without types it is each that the
// session wants, or every one if it wants none. What is reviewed already is reviewed again only by force. by is who asks.
func Ask(s *book.Session, tip string, types []string, force bool, by string) ([]book.Event, error) {
	if len(types) == 0 {
		if types = Wanted(s.Settings.Reviews); len(types) == 0 {
			types = Names()
		}
	}
	switch {
	case s.State == book.Paused:
		return nil, text.Hinted(fmt.Errorf("the session is paused"), "myc swarm resume, or the tool resume_session, goes on")
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
			return nil, text.Hinted(fmt.Errorf("the %s was reviewed as it is", t), "--force, or forceRerun of the tool, reviews it again")
		}
	}
	if err := s.Reopen(); err != nil {
		return nil, err
	}
	s.State = book.Reviewing
	return begin(s, tip, types, "is asked for by "+by), nil
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

// Change is what is to be different about the reviews of a session; nil leaves what there is.
type Change struct{ Enabled, SkipOnFailure, Code, Architecture, AutoTrigger *bool }

// of are the settings with the change. Where there were no reviews at all, those that are turned on begin from the defaults.
func (c Change) of(r book.Reviews) book.Reviews {
	if r == (book.Reviews{}) && c.Enabled != nil && *c.Enabled {
		r = Defaults()
	}
	for _, one := range []struct {
		is *bool
		to *bool
	}{{&r.Enabled, c.Enabled}, {&r.SkipOnFailure, c.SkipOnFailure}, {&r.Code, c.Code}, {&r.Architecture, c.Architecture},
		{&r.AutoTrigger, c.AutoTrigger}} {
		if one.to != nil {
			*one.is = *one.to
		}
	}
	return r
}

// Configure changes which reviews a session has. Where fewer is not set, a change is refused by which a review would not come that would
// come now. by is who changes it.
func Configure(s *book.Session, c Change, fewer bool, by string) ([]book.Event, error) {
	was := s.Settings.Reviews
	to := c.of(was)
	if to == was {
		return nil, nil
	}
	lost := missing(Wanted(was), Wanted(to)) || missing(byThemselves(was, false), byThemselves(to, false)) ||
		missing(byThemselves(was, true), byThemselves(to, true))
	if lost && !fewer {
		return nil, text.Hinted(fmt.Errorf("an agent takes no review away: the session has %s", Settings(was)),
			"a person does: myc swarm review settings")
	}
	s.Settings.Reviews = to
	return []book.Event{{Kind: "review", Text: by + " changed the reviews: " + Settings(to)}}, nil
}

// missing reports whether a list lacks something that another one has.
func missing(has, list []string) bool {
	return slices.ContainsFunc(has, func(t string) bool { return !slices.Contains(list, t) })
}

// Settings says in words which reviews a session has.
func Settings(r book.Reviews) string {
	types := Wanted(r)
	if len(types) == 0 {
		return "none"
	}
	when := "when they are asked for"
	switch {
	case r.AutoTrigger && r.SkipOnFailure:
		when = "by themselves, if no feature has failed"
	case r.AutoTrigger:
		when = "by themselves, when nothing is left to be done"
	}
	return strings.Join(types, " and ") + ", " + when
}
