package swarmed

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"mycelium/internal/config"
	"mycelium/internal/config/source"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/state"
	"mycelium/internal/swarm"
	"mycelium/internal/text"
)

// Place is a project, with the environment of this process.
type Place struct {
	Project *config.Project
	State   state.Paths
	Environ []string
}

// VerifyWithin bounds one command of a verification (requirements, C13).
const VerifyWithin = 5 * time.Minute

// maxOutput is how much of what a verification says is kept, in bytes (requirements, C13).
const maxOutput = 10 << 20

// Verify runs a command in the sandbox on a working tree, with the profile project. The error is that it could not run.
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
	said := &Tail{}
	c.Argv, c.Dir, c.Profile, c.In, c.Out, c.Err = argv, tree, p, bytes.NewReader(nil), said, said
	r, err := sandboxed.Run(ctx, at.Project, &c)
	if err != nil {
		return swarm.Checked{}, err
	}
	out := swarm.Checked{OK: r.ExitCode == 0 && !r.TimedOut, Output: text.Visible(said.String())}
	if r.TimedOut {
		out.Output += "\nit did not end within " + VerifyWithin.String()
	}
	return out, nil
}

// Tail keeps the end of what is written to it, 10 MiB.
type Tail struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *Tail) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Len()+len(p) > maxOutput {
		b.Next(min(b.Len(), maxOutput/2))
	}
	_, _ = b.Buffer.Write(p[max(0, len(p)-maxOutput/2):])
	return len(p), nil
}
