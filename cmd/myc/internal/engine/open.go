package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/agent"
	"mycelium/internal/agent/journal"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/transcript"
)

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
