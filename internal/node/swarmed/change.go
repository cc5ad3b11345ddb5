package swarmed

import (
	"context"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/ops"
)

// Change is what an attempt changes.
type Change struct {
	Files     []ground.File
	Governing []string // paths of those of the files that govern agents
	Diff      string   // of the governing ones
}

// ChangeOf returns what an attempt changes. The difference is cut where it is longer than most bytes.
func ChangeOf(ctx context.Context, o ops.Ops, s *book.Session, a *book.Attempt, most int) (c Change, err error) {
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return c, err
	}
	if a.Proof != nil {
		c.Files = a.Proof.Files
	}
	for _, f := range c.Files {
		if Governs(g.Prefix(), f.Path) {
			c.Governing = append(c.Governing, f.Path)
		}
	}
	c.Diff, err = ground.Patch(ctx, g, ground.Commit(a.Base), ground.Commit(a.Tip), c.Governing, most)
	return c, err
}
