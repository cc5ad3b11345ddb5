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
	"mycelium/internal/approval"
	"mycelium/internal/hook"
	"mycelium/internal/model"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/state"
	"mycelium/internal/transcript"
)

// Options say what is to be opened.
type Options struct {
	Role     string
	Skills   []string
	Model    string
	Engine   string             // api or claude; empty: chosen
	Ask      approval.WhenAsked // what becomes of calls that need an approval
	Resume   string             // id of the conversation to go on with
	Continue bool               // go on with the last one
	Budget   float64            // USD; 0: none
	MaxTurns int                // 0: agent.DefaultMaxTurns
	// Confirm asks the person whether a skill may be active that their text asked for, in the mode confirm of promotion; nil: nobody is asked.
	Confirm func(ctx context.Context, skill string) bool
	// Opened is told of the agent before it is used, and may put another engine in front of its own; nil: nobody is told.
	Opened   func(ctx context.Context, e *Agent) error
	Above    string // of a sub-agent: the id of the session that started it
	Anywhere bool   // the engine claude runs a myc that lies where an agent may write
	Worker   bool   // it is a worker of the swarm, which starts no swarm itself
	Dir      string // where the engine claude works: a linked worktree of the project; empty: the project's folder
}

// Agent is an opened engine with its session.
type Agent struct {
	agent.Engine
	Choice  Choice
	Role    string               // of the session; "none" without one
	Skills  []string             // active at the start
	Model   string               // full id
	Session string               // id, for `myc audit query --session`
	Said    []transcript.Message // the conversation so far, where it goes on
	Door    *Door                // of the session

	close []func()
}

// Close ends the engine and its session.
func (out *Agent) Close() error {
	var err error
	if out.Engine != nil {
		err = out.Engine.Close()
	}
	for i := len(out.close) - 1; i >= 0; i-- {
		out.close[i]()
	}
	out.close = nil
	return err
}

// Open opens the agent of this project.
func Open(ctx context.Context, a *base.App, o Options) (*Agent, error) {
	choice, err := Choose(a, o.Engine)
	if err != nil {
		return nil, err
	}
	if a.NeedPerson("start an agent") != nil {
		a.Agent = true // an agent asks another one: it finds the state of the project as its hook does
	}
	if err := a.CheckTrust(); err != nil {
		return nil, err
	}
	paths, err := a.State()
	if err != nil {
		return nil, err
	}
	dir := Folder(paths)
	old, err := previous(dir, o)
	if err != nil {
		return nil, err
	}
	if old != nil {
		if o.Role == "" {
			o.Role = old.Role
		}
		if o.Engine == "" && old.Engine != choice.Name { // one agent has a conversation from its beginning to its end
			if choice, err = Choose(a, old.Engine); err != nil {
				return nil, fmt.Errorf("conversation %s is of the engine %s: %w", old.ID, old.Engine, err)
			}
		} else if old.Engine != choice.Name {
			return nil, failure.Usagef("conversation %s is of the engine %s, and --engine names %s", old.ID, old.Engine, choice.Name)
		}
	}
	out := &Agent{Choice: choice}
	open := out.openAPI
	if choice.Name == Claude {
		open = out.openClaude
	}
	if err = open(ctx, a, o, paths, old); err == nil && o.Opened != nil {
		err = o.Opened(ctx, out)
	}
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// OnClose has a function called when the agent is closed, after its engine.
func (out *Agent) OnClose(f func()) { out.close = append(out.close, f) }

// Folder is where the conversations of our own agent are.
func Folder(p state.Paths) string { return filepath.Join(p.Folder(), state.Talks) }

// previous is the conversation to go on with; nil: a new one begins.
func previous(dir string, o Options) (*journal.Talk, error) {
	id := o.Resume
	if id == "" && o.Continue {
		last, err := journal.Last(dir, o.Role)
		if err != nil {
			return nil, err
		}
		if id = last; id == "" {
			return nil, failure.Hint(errors.New("there is no conversation to go on with"), "leave out --continue to begin one")
		}
	}
	if id == "" {
		return nil, nil
	}
	return journal.Read(dir, id)
}

// journalOf opens the journal of a conversation.
func journalOf(paths state.Paths, old *journal.Talk, h journal.Head) (*journal.Journal, error) {
	if old != nil {
		return journal.Open(Folder(paths), old.ID)
	}
	h.Dir = paths.Project
	return journal.New(Folder(paths), h)
}

// named is a role as the conversation keeps it: that of a session without one is not "none".
func named(role string) string {
	if role == "none" {
		return ""
	}
	return role
}

// openAPI opens the engine that asks the model itself.
func (out *Agent) openAPI(ctx context.Context, a *base.App, o Options, paths state.Paths, old *journal.Talk) error {
	client, err := model.New(model.Options{Key: a.Getenv(KeyVar), BaseURL: a.Getenv(URLVar)})
	if err != nil {
		return err
	}
	out.close = append(out.close, client.Close)
	p := api.SessionParams{Name: "myc", Role: o.Role, Skills: o.Skills, Ask: o.Ask, Token: a.Getenv(hook.TokenVar), Worker: o.Worker,
		Environ: hook.Places(a.Environ)}
	if role := a.Getenv("MYCELIUM_CURRENT_ROLE"); p.Role == "" && role != "" {
		p.Role, p.Narrow = role, true // as for myc mcp
	}
	d, err := OpenDoor(ctx, a, p)
	if err != nil {
		return err
	}
	out.Door, out.close = d, append(out.close, d.Close)
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
	e := agent.NewAPI(client, d, j, agent.Options{Model: out.Model, Budget: o.Budget, MaxTurns: o.MaxTurns, Began: now,
		Spend: func(spent model.Answer) {
			if err := ledger.Record(model.OfAgent, d.Session(), spent); err != nil {
				a.Logger().Warn("the cost of an answer is not recorded", "error", err)
			}
		}})
	out.Engine, out.Said = e, slices.Clone(j.Shown)
	return nil
}
