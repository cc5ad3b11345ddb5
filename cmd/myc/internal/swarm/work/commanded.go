package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"mycelium/cmd/myc/internal/agents"
	"mycelium/internal/agent"
	"mycelium/internal/keeper"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// commanded works with a command in the sandbox, in the worktree. It has the prompt on its input. Messages do not reach it.
func (a *app) commanded(ctx context.Context, w *worker.Work, o worker.Order, prompt string) (end worker.Ended, err error) {
	p, err := a.Load()
	if err != nil {
		return end, err
	}
	paths, err := a.Know()
	if err != nil {
		return end, err
	}
	c, err := sandboxed.Command(o.Tree, paths, a.Getenv("HOME"), a.Environ)
	if err != nil {
		return end, err
	}
	name := o.Profile
	if name == "" {
		name = "project"
	}
	profile, ok := p.File.Sandbox.Find(name)
	if !ok {
		return end, failure.Usagef("there is no profile %q of the sandbox", name)
	}
	profile.Seconds = o.Seconds
	if o.Writes != "" {
		if err := agents.OnlyWrites(&profile, o.Writes); err != nil {
			return end, err
		}
	}
	said := &keeper.Tail{Most: swarmed.MaxOutput}
	t := &telling{app: a, work: w}
	t.write(worker.Event{Kind: worker.Began, Text: strings.Join(o.Command, " ")})
	t.write(worker.Event{Kind: worker.Call, Call: "command", Tool: "command", Args: strings.Join(o.Command, " ")}) // work, however silent
	c.Argv, c.Dir, c.Profile, c.In = o.Command, o.Tree, profile, strings.NewReader(prompt)
	c.Grace = 5
	c.GitConfig = filepath.Join(string(w.Folder), "gitconfig")
	sandboxed.Identify("git", c.GitConfig, a.Environ)
	out := io.MultiWriter(a.Out, said, lines{t})
	c.Out, c.Err = out, out
	r, err := swarmed.Run(ctx, p, &c, o.Unsandboxed)
	end.Text = text.Visible(said.String())
	if r != nil {
		end.Taken = r.Left.Quarantined
	}
	t.write(worker.Event{Kind: worker.Done, Call: "command", Tool: "command", Failed: err != nil || r.ExitCode != 0})
	switch {
	case ctx.Err() != nil:
		end.Stop = agent.StopAborted
		return end, errors.Join(errors.New("stopped"), t.err)
	case err != nil:
		return end, err
	case r.TimedOut:
		return end, fmt.Errorf("it did not end within %g seconds", o.Seconds)
	case r.ExitCode != 0:
		return end, fmt.Errorf("it ended with exit code %d", r.ExitCode)
	}
	end.Stop = agent.StopEnd
	return end, t.err
}

// lines records what a command prints.
type lines struct{ *telling }

func (l lines) Write(p []byte) (int, error) {
	l.write(worker.Event{Kind: worker.Says, Text: text.Visible(string(p))})
	return len(p), nil
}
