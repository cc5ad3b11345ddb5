package swarmed

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"mycelium/internal/config"
	"mycelium/internal/config/source"
	"mycelium/internal/keeper"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/state"
	"mycelium/internal/swarm"
	"mycelium/internal/text"
)

// Place is a project, with the environment of this process.
type Place struct {
	Project *config.Project
	State   state.Paths
	Environ []string
	// Unsandboxed says that a person accepted that commands run without the sandbox.
	Unsandboxed bool
}

// VerifyWithin bounds one command of a verification (requirements, C13).
const VerifyWithin = 5 * time.Minute

// MaxOutput is how much of what a verification says is kept, in bytes (requirements, C13).
const MaxOutput = 10 << 20

// Verify runs a command on a working tree, with the profile project. The error is that it could not run; a file of the project that is not
// there, or that nobody may execute, has failed.
func Verify(ctx context.Context, at Place, tree string, argv []string) (swarm.Checked, error) {
	c, err := sandboxed.Command(tree, at.State, source.Variable(at.Environ, "HOME"), at.Environ)
	if err != nil {
		return swarm.Checked{}, err
	}
	p, ok := at.Project.File.Sandbox.Find("project")
	if !ok {
		return swarm.Checked{}, errors.New("there is no profile project")
	}
	p.Seconds = VerifyWithin.Seconds()
	said := &keeper.Tail{Most: MaxOutput}
	c.Argv, c.Dir, c.Profile, c.In, c.Out, c.Err = argv, tree, p, bytes.NewReader(nil), said, said
	r, err := Run(ctx, at.Project, &c, at.Unsandboxed)
	if start, ok := errors.AsType[*jail.StartError](err); ok && strings.Contains(argv[0], "/") { // what is committed is at fault
		return swarm.Checked{Output: text.Visible(argv[0]) + " cannot be started: " + start.Reason}, nil
	}
	if err != nil {
		return swarm.Checked{}, err
	}
	out := swarm.Checked{OK: r.ExitCode == 0 && !r.TimedOut, Output: text.Visible(said.String())}
	if r.TimedOut {
		out.Output += "\nit did not end within " + VerifyWithin.String()
	}
	return out, nil
}
