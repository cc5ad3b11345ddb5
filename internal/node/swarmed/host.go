package swarmed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"mycelium/internal/config"
	"mycelium/internal/config/source"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/state"
	"mycelium/internal/store"
	"mycelium/internal/swarm"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/swarm/tools"
	"mycelium/internal/text"
	"mycelium/internal/tmux"
)

// Daemon is what the tools of the swarm stand on in a daemon.
type Daemon struct {
	DB      *store.DB
	State   state.Paths
	Environ []string
	Project func() *config.Project
	View    func() *project.View             // of the policy in force
	Model   func(principal string) api.Model // with what the clients of a principal ask models
}

// Host is the project for the tools of the swarm.
func (d Daemon) Host() tools.Host {
	return tools.Host{
		Ops:    func(by string) (ops.Ops, error) { return Ops(d.DB, d.State, by) },
		Policy: func() *policy.Policy { return d.View().Policy },
		Role:   func() string { return d.Project().File.Session.RoleOfAgent() },
		Drive:  d.drive,
		Verify: func(ctx context.Context, tree string, argv []string) (swarm.Checked, error) {
			return Verify(ctx, Place{Project: d.Project(), State: d.State, Environ: d.Environ}, tree, argv)
		},
		Rights:  func() planning.Rights { return Rights{View: d.View()} },
		Governs: Governs,
	}
}

// DriverCommand is the command that drives a session without a person at its terminal.
const DriverCommand = "driver"

// drive starts a driver in a terminal of the swarm's own, if nobody drives the session. It outlives the daemon, as one of a person does.
// Its environment is that of a daemon, and what the client of the session asks its models with: never the agent's.
func (d Daemon) drive(ctx context.Context, principal, session string) error {
	o, err := Ops(d.DB, d.State, ops.Person)
	if err != nil {
		return err
	}
	if driven, err := o.Driven(ctx, session); err != nil || driven {
		return err
	}
	environ := append(project.Kept(d.Environ), "TERM=xterm-256color")
	if m := d.Model(principal); m.Key != "" {
		environ = append(environ, "ANTHROPIC_API_KEY="+m.Key)
		if m.BaseURL != "" {
			environ = append(environ, "ANTHROPIC_BASE_URL="+m.BaseURL)
		}
	}
	return Launch(ctx, d.State, source.Variable(d.Environ, "XDG_RUNTIME_DIR"), environ, session)
}

// Launch starts a driver of a session with an environment, in a terminal of the swarm's own, and does not wait for it. flags are those of
// [DriverCommand]. runtime is $XDG_RUNTIME_DIR.
func Launch(ctx context.Context, paths state.Paths, runtime string, environ []string, session string, flags ...string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	server, err := Terminals(paths, runtime)
	if err != nil {
		return err
	}
	server.Env = environ
	argv := append([]string{self, "-C", paths.Project}, paths.Pin()...)
	argv = append(append(argv, "swarm", DriverCommand, session), flags...)
	name := DriverCommand + "-" + filepath.Base(session)
	if _, err := server.Open(ctx, tmux.Window{Session: name, Name: name, Dir: paths.Project, Command: argv}); err != nil {
		return text.Hinted(err, "the swarm needs tmux")
	}
	return nil
}
