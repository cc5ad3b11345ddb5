package base

import (
	"context"
	"fmt"
	"strings"
	"time"

	"mycelium/internal/audit/index"
	"mycelium/internal/store"
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
func ParseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	age := s
	if days, ok := strings.CutSuffix(s, "d"); ok {
		age = days + "h"
	}
	d, err := time.ParseDuration(age)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is neither an age such as 24h or 7d nor a time such as 2026-11-21T10:00:00Z", s)
	}
	if age != s {
		d *= 24
	}
	return time.Now().Add(-d), nil
}
