package base

import (
	"context"
	"time"

	"mycelium/internal/audit/index"
	"mycelium/internal/store"
	"mycelium/internal/text"
)

// WithIndex calls f with the audit index. It needs no node, and works beside one.
func (a *App) WithIndex(ctx context.Context, f func(*index.Index) error) error {
	p, err := a.Load()
	if err != nil {
		return err
	}
	o, err := p.AuditLog()
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, p.StoreURL())
	if err != nil {
		return err
	}
	defer db.Close()
	x := index.New(db, o)
	owner, err := a.Running(ctx)
	if err != nil && !a.WarnStranger(err) {
		return err
	}
	if owner != nil {
		owner.Close() // a node keeps the index up to date
	} else {
		progress := Tell(a.Err, "reading the log into the index", "")
		err := x.Follow(ctx)
		progress.End()
		if err != nil {
			return err
		}
	}
	return f(x)
}

// ParseTime reads a time (RFC 3339) or an age such as 24h or 7d. "" is the zero time.
func ParseTime(s string) (time.Time, error) { return text.ParseTime(s, time.Now()) }
