// Package open has the swarm of a project as its commands have it.
package open

import (
	"context"
	"errors"

	"mycelium/cmd/myc/internal/agents"
	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/node/project"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/planning"
)

// App is the program with the commands of this family.
type App struct {
	*base.App

	Anywhere bool        // a person lets agents be able to change this program
	Wall     agents.Wall // around each worker that is a Claude Code
}

// Swarm is the swarm of a project.
type Swarm struct {
	ops.Ops
	Project *config.Project
	db      *store.DB
	Paths   state.Paths
	View    *project.View // nil: nobody has asked for the policy yet
}

// Close closes what the swarm stands on.
func (o *Swarm) Close() {
	if o.View != nil {
		o.View.Close()
	}
	_ = o.db.Close()
}

// Open opens the swarm of this project, for a person.
func (a *App) Open(ctx context.Context, act string) (*Swarm, error) {
	if err := a.NeedPerson(act); err != nil {
		return nil, err
	}
	p, err := a.Load()
	if err != nil {
		return nil, err
	}
	paths, err := a.Know()
	if err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, p.StoreURL())
	if err != nil {
		return nil, err
	}
	on, err := swarmed.Ops(db, paths, ops.Person)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return &Swarm{Ops: on, Project: p, db: db, Paths: paths}, nil
}

// Now is the session that is open, else the last one.
func (o *Swarm) Now(ctx context.Context) (*book.Session, error) {
	s, err := o.Current(ctx)
	if absent := (*book.AbsentError)(nil); errors.As(err, &absent) {
		return nil, failure.New(failure.NotFound, err, "begin one: myc swarm init PLAN.md")
	}
	return s, err
}

// With opens the swarm, reads its session, and calls f.
func (a *App) With(ctx context.Context, act string, f func(o *Swarm, s *book.Session) error) error {
	o, err := a.Open(ctx, act)
	if err != nil {
		return err
	}
	defer o.Close()
	s, err := o.Now(ctx)
	if err != nil {
		return err
	}
	return f(o, s)
}

// Rights is what the policy gives the workers.
func (a *App) Rights(o *Swarm) (planning.Rights, error) {
	if o.View == nil {
		v, err := a.OpenView()
		if err != nil {
			return nil, err
		}
		o.View = v
	}
	return swarmed.Rights{View: o.View}, nil
}
