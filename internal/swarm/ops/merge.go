package ops

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mycelium/internal/policy/sign"
	"mycelium/internal/swarm"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/text"
)

// Offer is what HandOver would do to a branch.
type Offer struct {
	Tip   ground.Commit // of the session
	New   bool          // the branch has not got it
	Files []ground.File // that would change
	Diff  string        // how
}

// Offer says what taking a session into a branch would change. The difference is cut where it is longer than most bytes.
func (o Ops) Offer(ctx context.Context, s *book.Session, into string, most int) (of Offer, err error) {
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return of, err
	}
	old, tip, shared, err := o.ends(ctx, g, s, into)
	if err != nil || old == tip {
		return Offer{Tip: tip}, err
	}
	of = Offer{Tip: tip, New: true}
	of.Files, of.Diff, err = g.Difference(ctx, shared, tip, most)
	return of, err
}

// ends is [ground.Repo.Ends] of a session. It refuses what is on the session's branch and has not landed there, by the book as it is now.
func (o Ops) ends(ctx context.Context, g *ground.Repo, s *book.Session, into string) (old, tip, shared ground.Commit, err error) {
	if old, tip, shared, err = g.Ends(ctx, into); err != nil {
		return "", "", "", err
	}
	now, err := o.Read(ctx, s.ID)
	if err == nil {
		err = now.CheckLanded(tip)
	}
	return old, tip, shared, err
}

// HandOver moves a branch of the person's forward to that of the session, which was shown at a commit; moved is false where the branch has
// that commit already. Moving it demands the second sign. A session that has ended is closed by that. No tool does it: it is a person's.
func (o Ops) HandOver(ctx context.Context, s *book.Session, into string, shown ground.Commit, second sign.Sign) (tip ground.Commit, moved bool,
	err error,
) {
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return "", false, err
	}
	old, tip, _, err := o.ends(ctx, g, s, into)
	switch {
	case err != nil:
		return "", false, err
	case tip != shown:
		return "", false, text.Hinted(fmt.Errorf("%.12s was shown, and the session is at %.12s by now", shown, tip), "look at it again")
	case old != tip:
		if err := sign.OfTaking(into).Check(second); err != nil {
			return "", false, err
		}
	}
	if moved, err = g.HandOver(ctx, into, tip); err != nil {
		return "", false, err
	}
	if moved {
		err = o.change(ctx, s.ID, func(*book.Session) (book.Event, error) {
			return book.Event{Kind: "session", Text: fmt.Sprintf("%s took it into %s, at %.12s", o.By, into, tip)}, nil
		})
	}
	if err != nil || s.Open() { // more may land
		return tip, moved, err
	}
	if err := o.change(ctx, s.ID, func(s *book.Session) (book.Event, error) {
		s.Closed = true
		// Again where the work is: a record of moving it is missing if the first try ended in between.
		return book.Event{Kind: "session", Text: fmt.Sprintf("the session is closed: %s is at %.12s", into, tip)}, nil
	}); err != nil {
		return tip, moved, err
	}
	return tip, moved, g.End(ctx)
}

// Accept lets a feature land that waits because it changes governing files: this very commit, which is tip unless that is empty. No tool
// does it: it is a person's. It demands the second sign.
func (o Ops) Accept(ctx context.Context, s *book.Session, feature, tip string, second sign.Sign) error {
	f, err := Find(s, feature)
	if err != nil {
		return err
	}
	if err := sign.OfLanding(feature).Check(second); err != nil && f.Governs {
		return err
	}
	return swarm.Accept(ctx, o.Book, s.ID, feature, tip, o.By)
}

// LeaveOut keeps the work of a session, or of a feature of it that waits, out as it was shown at a commit: nobody is asked about it again
// before something has changed. It can be taken all the same.
func (o Ops) LeaveOut(ctx context.Context, id, feature, mark string) error {
	return o.change(ctx, id, func(s *book.Session) (book.Event, error) {
		if feature != "" {
			if _, err := Find(s, feature); err != nil {
				return book.Event{}, err
			}
		}
		s.KeptOut = slices.DeleteFunc(s.KeptOut, func(k book.KeptOut) bool { return k.Feature == feature })
		s.KeptOut = append(s.KeptOut, book.KeptOut{Feature: feature, Mark: mark, By: o.By, At: time.Now()})
		kind := "session"
		if feature != "" {
			kind = "feature"
		}
		return book.Event{Kind: kind, Feature: feature, Text: fmt.Sprintf("%s keeps it out as it is, at %.12s", o.By, mark)}, nil
	})
}
