package swarm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/text"
)

// TakeBack has landed work of a feature taken back: a commit that reverts it goes through the merge queue, so that what lands is
// verified. Once it has landed the feature is then: [book.Pending], so that it is worked on anew, or [book.Failed]. to is empty, or the
// commit, perhaps shortened, that took the work back before: then the work comes again. A session that has ended goes on for that.
func TakeBack(ctx context.Context, b *book.Book, g *ground.Repo, session, feature, to string, then book.State) error {
	_, err := b.Change(ctx, session, "", func(s *book.Session) ([]book.Event, error) {
		f, err := s.Feature(feature)
		if err != nil {
			return nil, err
		}
		t := &book.Taking{Of: f.Commit, From: f.State, Then: then}
		said := "a person has what landed taken back"
		switch {
		case s.Closed:
			return nil, text.Hinted(fmt.Errorf("session %s is closed, so nothing lands on its branch any more", s.ID),
				fmt.Sprintf("git revert %.12s takes it back on your branch", f.Commit))
		case to != "" && (f.State == book.Failed || f.State == book.Pending) && len(to) >= 4 && strings.HasPrefix(f.TakenBack, to):
			t.Of, t.Again, t.Then = f.TakenBack, true, book.Completed
			said = "a person has what was taken back land again"
		case to != "" || f.State != book.Completed || f.Commit == "":
			return nil, fmt.Errorf("feature %s has nothing on the branch that could be taken back so: it is %s", f.ID, f.State)
		}
		c, err := g.TakeBack(ctx, ground.Commit(t.Of))
		if err != nil {
			return nil, err
		}
		t.Commit = string(c)
		f.State, f.Reason, f.Taking = book.Queued, "", t
		if !s.Open() {
			s.State, s.Ended = book.Going, time.Time{}
		}
		return []book.Event{{Kind: "feature", Feature: f.ID, Text: said}}, nil
	})
	return err
}

// taking is a feature whose work is taken back, or comes again, in the merge queue. A person asked for that, so it may change what
// governs agents.
func taking(f *book.Feature, said string) ground.Candidate {
	subject := text.Cell(said, 60)
	message, trailer := "revert: "+subject+"\n\nThis takes back "+f.Taking.Of+".", "Swarm-Takes-Back: "
	if f.Taking.Again {
		message, trailer = "feat: "+text.Cell(f.Description, 60)+"\n\nThis brings back what "+f.Taking.Of+" took back.", "Swarm-Feature: "
	}
	return ground.Candidate{ID: f.ID, Commit: ground.Commit(f.Taking.Commit), Message: message, Accepted: true,
		Trailers: []string{trailer + f.ID}}
}

// taken records that work was taken back, or has come again.
func taken(f *book.Feature, p *book.Proof) book.Event {
	t, a, said := f.Taking, f.Last(), "it has landed again"
	f.Taking, f.State, f.Tried, f.Retry = nil, t.Then, 0, time.Time{}
	f.Commit, f.Proof, f.TakenBack, a.State, a.Reason = "", p, "", book.Landed, ""
	if p != nil {
		f.Commit = p.After
	}
	if !t.Again {
		f.Commit, f.Proof, f.TakenBack = "", nil, f.Commit
		f.Reason = "a person took back what had landed"
		a.State, a.Reason = book.Failed, f.Reason
		said = "it is taken back"
		if f.TakenBack != "" {
			said = fmt.Sprintf("it is taken back; to have it again: myc swarm rollback %s --to %.12s", f.ID, f.TakenBack)
		}
	}
	return book.Event{Kind: "feature", Feature: f.ID, Attempt: a.N, Text: said}
}

// stays has a feature be what it was, because what a person asked for could not land. names are the files in conflict.
func (d merging) stays(ctx context.Context, feature string, names []string, why string) error {
	_, err := d.change(ctx, func(s *book.Session) ([]book.Event, error) {
		f, err := s.Feature(feature)
		if err != nil || f.Taking == nil {
			return nil, err
		}
		if len(names) > 0 {
			why += ", in " + text.Cell(strings.Join(names, ", "), 200)
			if with := landedIn(s, f, names); len(with) > 0 {
				why += ": " + strings.Join(with, ", ")
			}
		}
		what := "it cannot be taken back: "
		if f.Taking.Again {
			what = "it cannot land again: "
		}
		f.State, f.Taking, f.Reason = f.Taking.From, nil, what+why
		return []book.Event{{Kind: "feature", Feature: feature, Attempt: f.Last().N, Text: f.Reason}}, nil
	})
	return err
}

// landedIn are the other features that have landed in one of some files.
func landedIn(s *book.Session, of *book.Feature, names []string) (out []string) {
	for _, f := range s.Features {
		if f.ID != of.ID && f.Proof != nil && slices.ContainsFunc(f.Proof.Files, func(file ground.File) bool {
			return slices.Contains(names, file.Path)
		}) {
			out = append(out, f.ID)
		}
	}
	return out
}

// Touched are the files that each feature has changed (requirements, C12): where it has landed, and in its worktree.
func Touched(ctx context.Context, g *ground.Repo, s *book.Session) (map[string][]string, error) {
	touched := map[string][]string{}
	for _, f := range s.Features {
		var changed []ground.File
		if f.Proof != nil {
			changed = f.Proof.Files
		}
		if a := f.Last(); a != nil && f.State != book.Completed {
			tree, err := g.Named(book.NameOf(f.ID, a.N))
			if err != nil {
				return nil, err
			}
			if tree != nil {
				facts, err := tree.Facts(ctx, ground.Commit(a.Base))
				if err != nil {
					return nil, err
				}
				changed = slices.Concat(changed, facts.Touched)
			}
		}
		for _, file := range changed {
			touched[f.ID] = append(touched[f.ID], file.Path)
		}
	}
	return touched, nil
}
