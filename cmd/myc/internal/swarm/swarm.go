// Package swarm has the commands of the swarm: many coding agents on one repository.
package swarm

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/serve"
	"mycelium/internal/config"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/policy/worker"
	"mycelium/internal/state"
	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
)

// app is the program with the commands of this family.
type app struct {
	*base.App

	anywhere bool
}

// Command is `myc swarm`.
func Command(b *base.App) *cobra.Command {
	a := &app{App: b}
	c := &cobra.Command{
		Use: "swarm", Short: "Have several coding agents work on one repository at once", Args: base.NoArgs,
		Long: "Each feature of a plan is given to a worker of its own, in a git worktree of its own. What it commits is verified in the\n" +
			"sandbox, merged onto the branch of the session, and verified there again, as the commit that lands. Your own checkout is\n" +
			"not touched until `myc swarm merge`.",
		Example: "  myc swarm init plan.md --verify \"go test ./...\"\n  myc swarm auto --dry-run\n  myc swarm auto\n  myc swarm status\n" +
			"  myc swarm merge",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(initCmd(a), planCmd(a), autoCmd(a), startCmd(a), statusCmd(a), featureCmd(a), statsCmd(a), watchCmd(a), logsCmd(a),
		attachCmd(a), messageCmd(a), pauseCmd(a), resumeCmd(a), retryCmd(a), reviewCmd(a), rollbackCmd(a), mergeCmd(a), resetCmd(a),
		workerCmd(a), driverCmd(a), serve.Front(b, worker.Server))
	return c
}

// opened is the swarm of a project.
type opened struct {
	ops.Ops
	project *config.Project
	db      *store.DB
	paths   state.Paths
	view    *project.View // nil: nobody has asked for the policy yet
}

func (o *opened) close() {
	if o.view != nil {
		o.view.Close()
	}
	_ = o.db.Close()
}

// open opens the swarm of this project, for a person.
func (a *app) open(ctx context.Context, act string) (*opened, error) {
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
	return &opened{Ops: on, project: p, db: db, paths: paths}, nil
}

// current is the session that is open, else the last one.
func (o *opened) current(ctx context.Context) (*book.Session, error) {
	s, err := o.Current(ctx)
	if absent := (*book.AbsentError)(nil); errors.As(err, &absent) {
		return nil, failure.New(failure.NotFound, err, "begin one: myc swarm init PLAN.md")
	}
	return s, err
}

// with opens the swarm, reads its session, and calls f.
func (a *app) with(ctx context.Context, act string, f func(o *opened, s *book.Session) error) error {
	o, err := a.open(ctx, act)
	if err != nil {
		return err
	}
	defer o.close()
	s, err := o.current(ctx)
	if err != nil {
		return err
	}
	return f(o, s)
}
