package drive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/node/acts"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
)

// bounds makes sure that workers run in the sandbox, or that a person at a terminal takes it on themselves that they do not. It returns the
// session as it is then.
func (a *app) bounds(ctx context.Context, o *open.Swarm, s *book.Session, without bool) (*book.Session, error) {
	if without {
		return a.unbound(ctx, o, s)
	}
	if s.Unsandboxed != nil { // of the driver before this one
		changed, err := o.Change(ctx, s.ID, "", func(s *book.Session) ([]book.Event, error) {
			s.Unsandboxed = nil
			return []book.Event{{Kind: "session", Text: "workers run in the sandbox again"}}, nil
		})
		if err != nil {
			return s, err
		}
		s = changed
	}
	if _, err := a.verify(ctx, o, o.Dir, []string{"true"}, false); err != nil {
		return s, failure.Hint(fmt.Errorf("the swarm starts no workers where the sandbox cannot be built: %w", err),
			"myc sandbox capabilities says what is missing")
	}
	return s, nil
}

// unbound records that a person has workers run outside of the sandbox.
func (a *app) unbound(ctx context.Context, o *open.Swarm, s *book.Session) (*book.Session, error) {
	if !base.StdinIsTerminal(a.In) {
		return s, failure.New(failure.Denied, errors.New("--unsandboxed: only a person at a terminal may do this"),
			"leave it out: workers run in the sandbox")
	}
	if !a.Confirm("Without the sandbox, workers and what verifies their work reach what you reach: your files, your network. Go on? [y/N] ") {
		return s, errors.New("nothing was started")
	}
	by := acts.User(os.Getuid())
	note := fmt.Sprintf("workers of the swarm run without the sandbox, session %s, by %s", s.ID, by)
	record, err := acts.Record(ctx, o.Project, acts.Act{Act: "swarm auto --unsandboxed", Item: s.ID}, note)
	if err != nil {
		return s, err
	}
	return o.Change(ctx, s.ID, "", func(s *book.Session) ([]book.Event, error) {
		s.Unsandboxed = &book.Unsandboxed{At: time.Now(), By: by, Record: record}
		return []book.Event{{Kind: "session", Text: "workers run without the sandbox, by " + by}}, nil
	})
}
