package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/agent"
	"mycelium/internal/agent/journal"
	"mycelium/internal/hook"
	"mycelium/internal/model"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
)

// quiet is a door behind which there are no tools.
type quiet struct{ *Door }

// Tools lists none.
func (quiet) Tools(context.Context) ([]agent.Tool, error) { return nil, nil }

// Call refuses what the model calls all the same.
func (quiet) Call(context.Context, agent.Use, func(agent.Waiting)) (agent.Result, error) {
	return resultOf("", textResult("There are no tools here."), false), nil
}

// openAPI opens the engine that asks the model itself.
func (out *Agent) openAPI(ctx context.Context, a *base.App, o Options, paths state.Paths, old *journal.Talk) error {
	client, err := model.New(model.Options{Key: a.Getenv(KeyVar), BaseURL: a.Getenv(URLVar)})
	if err != nil {
		return err
	}
	out.close = append(out.close, client.Close)
	p := api.SessionParams{Name: "myc", Role: o.Role, Skills: o.Skills, Ask: o.Ask, Token: a.Getenv(hook.TokenVar),
		Environ: hook.Places(a.Environ), Worker: o.Worker, Writes: o.Writes}
	if o.Dir != "" {
		if p.Folder, err = filepath.EvalSymlinks(o.Dir); err != nil {
			return fmt.Errorf("find the folder to work in: %w", err)
		}
	}
	if role := a.Getenv("MYCELIUM_CURRENT_ROLE"); p.Role == "" && role != "" {
		p.Role, p.Narrow = role, true // as for myc mcp
	}
	d, err := OpenDoor(ctx, a, p)
	if err != nil {
		return err
	}
	out.Door, out.close = d, append(out.close, d.Close)
	got := d.attached()
	if p.Folder != "" && got.Folder != p.Folder || p.Writes != "" && got.Writes != p.Writes { // a daemon of another version
		return failure.Hint(errors.New("the daemon of this project has opened no session that is bound to "+cmp.Or(p.Writes, p.Folder)),
			"myc stop, and start again")
	}
	d.confirm = o.Confirm
	now, err := d.Said(ctx, "")
	if err != nil {
		return err
	}
	was := ""
	if old != nil {
		was = old.Model
	}
	out.Role, out.Skills, out.Session = now.Role, now.Active, d.Session()
	out.Model = model.Resolve(cmp.Or(o.Model, was, now.Model))
	j, err := journalOf(paths, old, journal.Head{Engine: API, Role: named(now.Role), Model: out.Model, Above: o.Above})
	if err != nil {
		return err
	}
	ledger := &model.Ledger{Dir: paths.Costs()}
	var door agent.Door = d
	if o.Toolless {
		door = quiet{d}
	}
	e := agent.NewAPI(client, door, j, agent.Options{Model: out.Model, Budget: o.Budget, MaxTurns: o.turns(), Began: now,
		Messages: o.Messages, Place: placeOf(got.Folder),
		Spend: func(spent model.Answer) {
			if err := ledger.Record(model.OfAgent, d.Session(), spent); err != nil {
				a.Logger().Warn("the cost of an answer is not recorded", "error", err)
			}
		}})
	out.Engine, out.Said = e, slices.Clone(j.Shown)
	return nil
}

// placeOf tells the model where the tools work that a session has which is bound to a folder.
func placeOf(folder string) string {
	if folder == "" {
		return ""
	}
	return "You work in the git worktree " + folder + ": there your tools for files and your commands work, and paths are relative to it. " +
		"Commands run in the sandbox, without a network. With the profile \"project\" they can write the worktree and commit; with no " +
		"profile nothing that they write stays."
}
