// Package runner carries on the conversations of workers with programs of others: each is one file, which says how the program is started
// for a turn and what the lines mean that it prints.
package runner

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"mycelium/internal/agent"
	"mycelium/internal/model"
	"mycelium/internal/text"
)

// Runner carries on the conversation of a worker. An [agent.Engine] is one.
type Runner interface {
	// Say tells the agent something and returns when its turn is over; see [agent.Engine].
	Say(ctx context.Context, said string, tell func(agent.Event)) (agent.Turn, error)
	// Name is the name of the runner, for people.
	Name() string
	// Close ends what the runner started.
	Close() error
}

// The runners.
const (
	Claude   = "claude"
	Terminal = "claude-tmux" // Claude Code in its own terminal
	Codex    = "codex"
	Gemini   = "gemini"
	API      = "api"     // our own agent
	Command  = "command" // any program
)

// Names returns the names of the runners.
func Names() []string { return []string{Claude, Terminal, Codex, Gemini, API, Command} }

// Program is the name of the coding agent that a runner starts; "": none, or what a person wrote.
func Program(name string) string {
	switch name {
	case API, Command:
		return ""
	case Terminal:
		return Claude
	}
	return name
}

// Prices reports whether a runner tells what its worker costs, so that a budget can stop it.
func Prices(name string) bool { return name == Claude || name == Terminal || name == API }

// Dialect is how a program is started for one turn, and what it prints.
type Dialect struct {
	name string
	args func(model, resume string) []string
	read func(t *turn, line []byte)
}

// Named returns the dialect of a runner.
func Named(name string) (Dialect, bool) {
	for _, d := range []Dialect{codex, gemini} {
		if d.name == name {
			return d, true
		}
	}
	return Dialect{}, false
}

// Start runs the program once with arguments and what it has on its input, gives each line that it prints to a function, and returns when
// it has ended.
type Start func(ctx context.Context, args []string, in string, line func([]byte)) error

// Turns is a conversation with a program that runs once for each turn.
type Turns struct {
	Dialect
	Start Start
	Model string // "": the program's own
	// ID is that of the conversation, as the program names it; "": it begins with the next turn.
	ID string

	used model.Usage
}

// Name is that of the runner.
func (c *Turns) Name() string { return c.name }

// Close does nothing: the program ends with its turn.
func (*Turns) Close() error { return nil }

// turn is one run of the program.
type turn struct {
	*Turns
	tell   func(agent.Event)
	out    agent.Turn
	said   strings.Builder // the last text
	ended  bool            // the program has said that the turn is over
	failed string          // what it said of an error
}

// Say runs one turn.
func (c *Turns) Say(ctx context.Context, said string, tell func(agent.Event)) (agent.Turn, error) {
	t := &turn{Turns: c, tell: tell}
	err := c.Start(ctx, c.args(c.Model, c.ID), said, func(line []byte) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] == '{' {
			c.read(t, line)
		}
	})
	t.out.Text = t.said.String()
	switch {
	case ctx.Err() != nil:
		t.out.Stop = agent.StopAborted
		return t.out, nil //nolint:nilerr // it was told to stop
	case t.failed != "":
		return t.out, errors.New(c.name + ": " + text.Truncate(text.Visible(t.failed), maxFailure))
	case err != nil:
		return t.out, err
	case !t.ended:
		return t.out, errors.New(c.name + " ended in the middle of its turn")
	}
	t.out.Stop = agent.StopEnd
	return t.out, nil
}

// maxFailure bounds what is kept of an error of a program, in bytes.
const maxFailure = 2000

// says takes a piece of the answer. whole: it is all of one message.
func (t *turn) says(s string, whole bool) {
	if s == "" {
		return
	}
	if whole {
		t.said.Reset()
	}
	t.said.WriteString(s)
	t.tell(agent.Event{Text: s})
}

// calls tells that a tool is called.
func (t *turn) calls(id, tool string, args []byte) {
	if len(args) == 0 {
		args = []byte("{}")
	}
	if !slices.Contains(t.out.Tools, tool) {
		t.out.Tools = append(t.out.Tools, tool)
	}
	t.said.Reset()
	t.tell(agent.Event{Call: &agent.Call{ID: id, Tool: tool, Args: args}})
}

// done tells the outcome of a call.
func (t *turn) done(id, said string, failed bool) {
	t.tell(agent.Event{Done: &agent.Done{CallID: id, Text: said, Failed: failed}})
}

// ends takes what the program says at the end of a turn. What a turn cost is not told by it.
func (t *turn) ends(u model.Usage) {
	t.ended = true
	t.out.Turns++
	t.out.Usage, t.used = u, t.used.Plus(u)
	t.tell(agent.Event{Spent: &agent.Spent{Usage: t.used}})
}
