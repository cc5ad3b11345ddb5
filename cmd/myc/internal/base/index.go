package base

import (
	"context"
	"fmt"
	"strings"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/node/project"
	"mycelium/internal/store"
)

// WithIndex opens the index beside whoever owns the project: reading needs no owner.
func (a *App) WithIndex(ctx context.Context, f func(*audit.Index) error) error {
	p, err := a.Load()
	if err != nil {
		return err
	}
	o, err := project.AuditOptions(p)
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, project.StoreURL(p))
	if err != nil {
		return err
	}
	defer db.Close()
	x := audit.NewIndex(db, o)
	owner, _, err := a.Running(ctx)
	if err != nil {
		return err
	}
	if owner != nil {
		_ = owner.Close() // it keeps the index up
	} else if err := x.Follow(ctx); err != nil {
		return err
	}
	return f(x)
}

// ParseTime reads a moment or an age; days are d.
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
