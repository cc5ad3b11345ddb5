package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"mycelium/cmd/myc/internal/agents"
	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/agent"
	"mycelium/internal/agent/journal"
	"mycelium/internal/node/api"
	"mycelium/internal/state"
)

// ClaudeFlags adds the flags that say how the engine claude starts Claude Code.
func ClaudeFlags(f *pflag.FlagSet, o *Options) {
	agents.WallFlag(f, &o.Wall, "engine claude: Claude Code")
	f.BoolVar(&o.Anywhere, "unsafe-program", false, "engine claude: run a myc that lies in a project or in a folder for temporary files")
}

// openClaude opens the engine that drives an installed Claude Code. It is started when something is said.
func (out *Agent) openClaude(ctx context.Context, a *base.App, o Options, paths state.Paths, old *journal.Talk) error {
	l, err := agents.StartClaude(ctx, a, agents.Start{Program: out.Choice.Path, Role: o.Role, Skills: o.Skills, Ask: o.Ask,
		Anywhere: o.Anywhere, Worker: o.Worker, Dir: o.Dir, Within: o.Within, Writes: o.Writes,
		Wall: o.Wall, Tell: o.Tell})
	if err != nil {
		return err
	}
	out.close = append(out.close, l.Close)
	if o.Prove {
		if err := l.Prove(ctx); err != nil {
			return err
		}
	}
	stands := func(ctx context.Context) (agent.Standing, error) { return standing(ctx, a, l.Session.Token, "") }
	now, err := stands(ctx)
	if err != nil {
		return err
	}
	was := ""
	if old != nil {
		was = old.Model
	}
	out.Role, out.Skills, out.Session, out.Model = now.Role, now.Active, l.Session.ID, cmp.Or(o.Model, was, now.Model)
	j, err := journalOf(paths, old, journal.Head{Engine: Claude, Role: named(now.Role), Model: out.Model, Above: o.Above})
	if err != nil {
		return err
	}
	first := slices.Clone(l.Options)
	if o.Toolless {
		first = append(first, "--disallowedTools", "mcp__mycelium")
	}
	if !l.Hands || o.Toolless { // it shows no tool of its own that the policy hides anyway
		first = append(first, "--tools", "")
	}
	start := func(args []string) (*agent.Program, error) {
		return l.Start(out.Choice.Path, append(slices.Clone(first), args...))
	}
	if o.Confirm != nil { // a chat, which asks the gateway itself
		if out.Door, err = OpenDoor(ctx, a, api.SessionParams{Token: l.Session.Token}); err != nil {
			return errors.Join(err, j.Close())
		}
		out.close = append(out.close, out.Door.Close)
	}
	out.Engine = agent.NewClaude(start, stands, j, agent.Options{Model: out.Model, Budget: o.Budget, MaxTurns: o.turns(), Began: now,
		Messages: o.Messages})
	out.Said = slices.Clone(j.Shown)
	return nil
}
