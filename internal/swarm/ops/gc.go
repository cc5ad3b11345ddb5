package ops

import (
	"context"
	"fmt"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/text"
)

// Remains are what git keeps of a session that is closed.
type Remains struct {
	Session string        `json:"session"`
	State   book.State    `json:"state"`
	Changed time.Time     `json:"changed"` // when something was last done with it
	Gone    []ground.Kept `json:"gone"`    // refs that may be removed
	Stay    []ground.Kept `json:"stay"`    // refs that have something that is nowhere else
	Bytes   int64         `json:"bytes"`   // that git stores for what only Gone has
}

// Remains are those of the sessions that were closed, and with which nothing was done since a time. Refs of which the book knows no
// session, such as those of another project in the same repository, are not ours to remove.
func (o Ops) Remains(ctx context.Context, before time.Time) ([]Remains, error) {
	out := []Remains{}
	ended, err := o.Ended(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range ended {
		if !s.Closed || !s.Changed.Before(before) {
			continue
		}
		r, err := o.RemainsOf(ctx, s, false)
		if err != nil {
			return nil, err
		}
		if len(r.Gone)+len(r.Stay) > 0 {
			out = append(out, r)
		}
	}
	return out, nil
}

// RemainsOf are those of one session. It is refused while something can still become of it. With all, what is nowhere else may be removed,
// too.
func (o Ops) RemainsOf(ctx context.Context, s *book.Session, all bool) (Remains, error) {
	out := Remains{Session: s.ID, State: s.State, Changed: s.Changed, Gone: []ground.Kept{}, Stay: []ground.Kept{}}
	if !s.Closed {
		return out, text.Hinted(fmt.Errorf("session %s is not closed: it may still need what git keeps of it", s.ID),
			"myc swarm merge takes over what has landed, myc swarm reset gives it up")
	}
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return out, err
	}
	var landed []ground.Commit
	for _, f := range s.Features {
		for _, a := range f.Attempts {
			if a.State == book.Landed {
				landed = append(landed, ground.Commit(a.Tip))
			}
		}
	}
	keep := ground.Keep{Repo: g}
	kept, err := keep.Kept(ctx, landed)
	if err != nil {
		return out, err
	}
	for _, k := range kept {
		if k.Needed && !all {
			out.Stay = append(out.Stay, k)
		} else {
			out.Gone = append(out.Gone, k)
		}
	}
	out.Bytes, err = keep.Frees(ctx, out.Gone, out.Stay)
	return out, err
}

// Remove removes what may go of a session. Git itself removes the files behind it, when it collects what nothing refers to.
func (o Ops) Remove(ctx context.Context, r Remains) error {
	if len(r.Gone) == 0 {
		return nil
	}
	g, err := o.Ground(ctx, r.Session)
	if err == nil {
		err = ground.Keep{Repo: g}.Forget(ctx, r.Gone)
	}
	if err != nil {
		return err
	}
	return o.change(ctx, r.Session, func(*book.Session) (book.Event, error) {
		return book.Event{Kind: "session", Text: fmt.Sprintf("%s removed %s that git kept of it; %d stay", o.By,
			text.Count(len(r.Gone), "ref"), len(r.Stay))}, nil
	})
}
