package ops

import (
	"context"
	"fmt"

	"mycelium/internal/swarm"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
)

// HandOver moves a branch of the person's forward to that of the session; moved is false where the branch has that commit already. A
// session that has ended is closed by that. No tool does it: it is a person's.
func (o Ops) HandOver(ctx context.Context, s *book.Session, into string) (tip ground.Commit, moved bool, err error) {
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return "", false, err
	}
	if tip, moved, err = g.HandOver(ctx, into); err != nil {
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
// does it: it is a person's.
func (o Ops) Accept(ctx context.Context, s *book.Session, feature, tip string) error {
	if _, err := Find(s, feature); err != nil {
		return err
	}
	return swarm.Accept(ctx, o.Book, s.ID, feature, tip, o.By)
}
