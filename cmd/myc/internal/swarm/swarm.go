// Package swarm has the commands of the swarm: many coding agents on one repository.
package swarm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/daemon"
	"mycelium/internal/node/failure"
	"mycelium/internal/state"
	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/tmux"
)

// The runners of workers.
const (
	runnerClaude  = "claude"
	runnerCommand = "command"
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
	c.AddCommand(initCmd(a), planCmd(a), autoCmd(a), statusCmd(a), featureCmd(a), statsCmd(a), logsCmd(a), attachCmd(a),
		messageCmd(a), pauseCmd(a), resumeCmd(a),
		retryCmd(a), rollbackCmd(a), mergeCmd(a), resetCmd(a), workerCmd(a))
	return c
}

// opened is the swarm of a project.
type opened struct {
	*book.Book
	project *config.Project
	db      *store.DB
	paths   state.Paths
	dir     string // of the project
}

func (o *opened) close() { _ = o.db.Close() }

// folder is where the swarm keeps what its workers read and write, and their worktrees.
func (o *opened) folder() string { return filepath.Join(o.paths.Folder(), "swarm") }

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
	o := &opened{Book: book.New(db), project: p, db: db, paths: paths, dir: paths.Project}
	if err := os.MkdirAll(o.folder(), 0o700); err != nil {
		o.close()
		return nil, fmt.Errorf("make the folder of the swarm: %w", err)
	}
	return o, nil
}

// driverLock is held by the process that drives the swarm of this project.
func (o *opened) driverLock() string { return filepath.Join(o.folder(), "driver.lock") }

// trees is where the worktrees lie: beside the root of the state, in which no agent may write.
func (o *opened) trees() string {
	return filepath.Join(string(o.paths.Root)+"-trees", filepath.Base(o.paths.Folder()))
}

// ground is the repository of a session.
func (o *opened) ground(ctx context.Context, session string) (*ground.Repo, error) {
	return ground.Open(ctx, ground.Options{Project: o.dir, State: o.folder(), Trees: o.trees(), Session: session})
}

// current is the session that is open, else the last one.
func (o *opened) current(ctx context.Context) (*book.Session, error) {
	s, err := o.Current(ctx)
	if absent := (*book.AbsentError)(nil); errors.As(err, &absent) {
		return nil, failure.New(failure.NotFound, err, "begin one: myc swarm init PLAN.md")
	}
	return s, err
}

// terminals is the tmux server of the workers, which is the swarm's own. Its socket lies beside the daemon's: a path in the state could be
// longer than a socket's may be. runtime is $XDG_RUNTIME_DIR.
func (o *opened) terminals(runtime string) (tmux.Server, error) {
	name := strings.TrimSuffix(o.paths.SocketName(), ".sock") + ".tmux"
	socket, err := daemon.PathsOf(o.paths, runtime).Beside(name)
	return tmux.Server{Socket: socket, Config: os.DevNull}, err
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
