// Package repl is `myc` alone: the chat with the agent of this project.
package repl

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mycelium/cmd/myc/internal/approvals"
	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/engine"
	"mycelium/internal/agent"
	"mycelium/internal/agent/journal"
	"mycelium/internal/agent/screen"
	"mycelium/internal/agent/slash"
	"mycelium/internal/approval"
	"mycelium/internal/node/project"
	"mycelium/internal/state"
)

// app is the program with the chat.
type app struct {
	*base.App
	options engine.Options
	program Program
	slash   *slash.Set
	files   files
	now     *engine.Agent
}

// Fits reports whether the chat can be held here: a person types, this folder is a project, and no JSON is asked for.
func Fits(a *base.App) bool {
	return !a.JSON && base.StdinIsTerminal(a.In) && a.Find(project.NeedsProject) == nil
}

// Run holds the chat until the person ends it: on the whole screen of a terminal, else in plain lines.
func Run(ctx context.Context, b *base.App, o engine.Options, myc Program) error {
	if err := b.NeedPerson("chat"); err != nil {
		return err
	}
	if _, err := engine.Choose(b, o.Engine); err != nil {
		return err
	}
	if err := b.CheckTrust(); err != nil {
		return err
	}
	paths, err := b.State()
	if err != nil {
		return err
	}
	dir, err := b.ProjectDir()
	if err != nil {
		return err
	}
	if o.Ask == "" {
		o.Ask = approval.AskWait // the person who is here answers
	}
	inner := *b
	a := &app{App: &inner, options: o, program: myc}
	a.slash = &slash.Set{Run: a.run, Shorten: a.shorten, Copy: func(id string) (string, error) {
		return journal.Fork(engine.Folder(paths), id)
	}}
	a.files = files{app: a, dir: dir, known: map[string]listing{}}
	s := screen.Options{Open: a.open, Slash: a.slash, Files: a.files.complete, Title: dir, Approvals: approvals.Options(ctx, a.App),
		History: filepath.Join(paths.Folder(), state.Lines), First: slash.Start{Model: o.Model, Resume: o.Resume}}
	s.Plain = s.Approvals.Plain
	if !base.OutputIsTerminal(b.Out) || b.Getenv("TERM") == "dumb" {
		return screen.Lines(ctx, b.In, b.Out, s)
	}
	var said quiet
	a.Err = &said // the screen is the chat's
	err = screen.Run(ctx, b.In, b.Out, b.Environ, s)
	fmt.Fprint(b.Err, said.String())
	return err
}

// quiet keeps what is written to stderr while the screen is drawn.
type quiet struct {
	mu   sync.Mutex
	kept strings.Builder
}

func (q *quiet) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.kept.Write(p)
}

func (q *quiet) String() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.kept.String()
}

// open opens an engine for a conversation. When the conversation goes on with the skills that were activated in it, they are active again.
func (a *app) open(ctx context.Context, s slash.Start, ask screen.Ask) (screen.Talk, error) {
	o, before := a.options, a.now
	o.Model, o.Resume, o.Confirm = s.Model, s.Resume, ask
	o.Continue = o.Continue && before == nil && s.Resume == ""
	var role string
	var skills []string
	if before != nil {
		was, err := a.slash.Standing(ctx)
		if err == nil && s.Keep {
			role, skills = was.Role, was.Active
		}
		a.now = nil
		if err := before.Close(); err != nil {
			return screen.Talk{}, err
		}
	}
	e, err := engine.Open(ctx, a.App, o)
	if err != nil {
		return screen.Talk{}, err
	}
	a.now, a.slash.Door = e, e.Door
	if role != "" && role != e.Role {
		if _, err := a.run(ctx, slash.Now{}, "session", "set-role", e.Session, role); err != nil {
			return screen.Talk{}, errors.Join(err, e.Close())
		}
		now, err := a.slash.Standing(ctx)
		if err != nil {
			return screen.Talk{}, errors.Join(err, e.Close())
		}
		e.Role, e.Skills = now.Role, now.Active
	}
	skills = slices.DeleteFunc(skills, func(s string) bool { return slices.Contains(e.Skills, s) })
	if len(skills) > 0 {
		args := []string{"session", "skills", e.Session}
		for _, name := range skills {
			args = append(args, "+"+name)
		}
		if _, err := a.run(ctx, slash.Now{}, args...); err != nil {
			return screen.Talk{}, errors.Join(err, e.Close())
		}
		e.Skills = append(e.Skills, skills...)
	}
	return screen.Talk{Engine: e, Session: e.Session, Model: e.Model, Past: e.Said,
		Skills: agent.Skills{Role: e.Role, Active: e.Skills}}, nil
}

// shorten has the engine put a summary in the place of the conversation.
func (a *app) shorten(ctx context.Context) error {
	e, ok := a.now.Engine.(interface{ Compact(context.Context) error })
	if !ok {
		return errors.New("the engine " + a.now.Name() + " shortens its conversation by itself, when it is full")
	}
	return e.Compact(ctx)
}
