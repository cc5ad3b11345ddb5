package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/audit"
	"mycelium/internal/config"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// watchFor is how long myc trust --watch accepts what is saved.
const watchFor = time.Hour

// trustWatch accepts what a person saves. It accepts nothing that could be an agent's: while a session lives, and when the log has a call
// or a session since the last look, it pauses until nothing waits any more.
type trustWatch struct {
	*app
	seen    audit.Position // end of the log at the last look
	started bool           // there was a look before
	paused  bool
}

func (a *app) trustWatch(ctx context.Context) error {
	p, err := a.Load()
	if err != nil {
		return err
	}
	c, err := p.Candidate()
	switch {
	case err != nil:
		return err
	case !p.Trusted, p.User.Missing(), c.Waits():
		n := len(c.Changes)
		return failure.New(failure.Conflict, fmt.Errorf("trust --watch: %s of %s %s already", text.Count(n, "file"), p.Dir,
			text.Plural(n, "waits", "wait")),
			"look at them and accept them first: myc trust")
	}
	w := &trustWatch{app: a}
	if why := w.agents(ctx, p); why != "" {
		return failure.New(failure.Conflict, errors.New("trust --watch: "+why), "watch when no agent works; myc serve --background starts the "+
			"daemon, which knows")
	}
	ctx, cancel := context.WithTimeout(ctx, watchFor)
	defer cancel()
	fmt.Fprintf(a.Out, "for an hour, what you save in %s is in force at once while no agent works; Ctrl-C ends it\n", p.Dir)
	err = config.Watch(ctx, p, func() {
		if err := w.saved(ctx); err != nil {
			w.say("%s", text.Describe(err))
		}
	})
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		w.say("the hour is over: what changes now waits for myc trust")
	}
	return err
}

// say prints a line with the time.
func (w *trustWatch) say(format string, a ...any) {
	fmt.Fprintf(w.Out, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, a...))
}

// saved looks at what waits, and accepts it if it is a person's. The files are read before it asks for agents: whatever an agent has
// written into these bytes is in the log by then.
func (w *trustWatch) saved(ctx context.Context) error {
	p, err := w.Load()
	if err != nil {
		return err
	}
	c, err := p.Candidate()
	if err != nil {
		return err
	}
	why := w.agents(ctx, p)
	if why == "" && c.OfUser() {
		why = "your own files changed, and they are in force for agents of every project"
	}
	switch {
	case len(c.Changes) == 0:
		if w.paused {
			w.say("nothing waits any more: what you save is in force again")
		}
		w.paused = false
		return nil
	case why == "" && w.paused:
		why = "what waits changed while an agent worked"
	}
	if w.paused = why != ""; w.paused {
		n := len(c.Changes)
		w.say("paused: %s; %s %s for myc trust", why, text.Count(n, "file"), text.Plural(n, "waits", "wait"))
		return nil
	}
	if len(c.Why) > 0 {
		for _, pr := range c.Why {
			w.say("%s", project.ProblemText(pr))
		}
		w.say("what does not load is not accepted; what was accepted stays in force")
		return nil
	}
	changes := w.Meaning(p, c)
	if err := c.Accept(time.Now()); err != nil {
		return err
	}
	w.say("accepted: %s", text.Count(len(c.Changes), "file"))
	base.ShowMeaning(w.Out, changes)
	w.TellRestart(ctx)
	return nil
}

// agents says why an agent may be at work, or have been since the last look; empty: none.
func (w *trustWatch) agents(ctx context.Context, p *config.Project) string {
	o, err := p.AuditLog()
	worked := ""
	if err == nil {
		for line, bad := range audit.Read(ctx, o, w.seen, false) {
			if err = bad; bad != nil {
				break
			}
			w.seen = audit.Position{Segment: line.Segment, Offset: line.Offset}
			if w.started && (line.Kind == audit.Decided || line.Kind == audit.Session) && line.Surface != "cli" {
				worked = "an agent has worked here since the last look"
			}
		}
	}
	w.started = true
	client, dial := w.Running(ctx)
	switch {
	case err != nil || dial != nil:
		return "it cannot be told whether an agent works: " + cmp.Or(err, dial).Error()
	case client == nil:
		return "it cannot be told whether an agent works, because no daemon runs"
	}
	defer client.Close()
	live, err := base.Call(ctx, client, api.SessionList, op.None{})
	switch {
	case err != nil:
		return "it cannot be told whether an agent works: " + err.Error()
	case len(live) > 0:
		return fmt.Sprintf("a session is live (%s, role %s)", cmp.Or(live[0].Name, live[0].Principal), cmp.Or(live[0].Role, "none"))
	}
	return worked
}
