// Package question has the command line of one question to the agent: myc "question".
package question

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/engine"
	"mycelium/internal/agent"
	"mycelium/internal/agent/structured"
	"mycelium/internal/approval"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// maxQuestion bounds a question, in bytes: about 500,000 tokens, which fit into no model.
const maxQuestion = 2 << 20

// app is the program with this command.
type app struct {
	*base.App
	options engine.Options
	schema  string
	calls   bool              // with --json, calls are told on stderr
	next    func(Result) bool // whether something else goes on after the turn, whose end is that of the command; nil: no
}

// Flags adds the flags of a question to the root command, and returns what they say and what runs it with the words of the command line.
// That runs nothing and reports false if there is no question.
func Flags(b *base.App, root *cobra.Command) (*engine.Options, func(ctx context.Context, args []string) (bool, error)) {
	a := &app{App: b}
	f := root.Flags()
	f.StringVar(&a.options.Role, "role", "", "role of the agent (default: session.defaultRole)")
	f.StringSliceVar(&a.options.Skills, "skill", nil, "active skills (default: those that are active at the start)")
	f.StringVarP(&a.options.Model, "model", "m", "", "model: opus, sonnet, haiku, or a full id (default: what the role says, else sonnet)")
	f.StringVar(&a.options.Engine, "engine", "", "api or claude (default: api with ANTHROPIC_API_KEY, else an installed Claude Code)")
	f.BoolVarP(&a.options.Continue, "continue", "c", false, "go on with the last conversation")
	f.StringVar(&a.options.Resume, "resume", "", "go on with the conversation of this `ID`")
	f.StringVar(&a.schema, "schema", "", "the answer is JSON that fits the JSON Schema in this `FILE`")
	f.Float64Var(&a.options.Budget, "budget", 0, "stop when the conversation has cost this many `USD`")
	f.IntVar(&a.options.MaxTurns, "max-turns", 0, "stop after this many questions to the model (default 50)")
	engine.ClaudeFlags(f, &a.options)
	base.AskFlag(f, &a.options.Ask)
	return &a.options, a.run
}

// run asks the question.
func (a *app) run(ctx context.Context, args []string) (bool, error) {
	said, err := a.said(args)
	if err != nil || said == "" {
		return false, err
	}
	if len(args) == 0 { // known only now that the input is read
		if err := a.Find(project.NeedsProject); err != nil {
			return true, err
		}
	}
	var schema *structured.Schema
	if a.schema != "" {
		if schema, err = ReadSchema(a.schema); err != nil {
			return true, failure.Usagef("--schema: %w", err)
		}
	}
	return true, a.once(ctx, said, schema)
}

// once opens an agent, asks it, and prints what comes of it.
func (a *app) once(ctx context.Context, said string, schema *structured.Schema) error {
	if a.options.Budget < 0 || a.options.MaxTurns < 0 {
		return failure.Usagef("--budget and --max-turns are not negative")
	}
	if a.options.Ask == "" {
		a.options.Ask = approval.AskReached
	}
	e, err := engine.Open(ctx, a.App, a.options)
	if err != nil {
		return a.failed(Result{}, err)
	}
	r, err := a.ask(ctx, e, schema, said)
	if closing := e.Close(); err == nil {
		err = closing
	}
	if a.next != nil && a.next(r) {
		return nil
	}
	if err != nil {
		return a.failed(r, err)
	}
	return a.succeeded(r)
}

// said is the question: the words, and with - or without words the input.
func (a *app) said(args []string) (string, error) {
	dash := len(args) > 1 && args[len(args)-1] == "-"
	if dash {
		args = args[:len(args)-1]
	}
	said := strings.TrimSpace(strings.Join(args, " "))
	if said != "" && !dash || said == "" && base.StdinIsTerminal(a.In) {
		return said, nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.In, maxQuestion+1))
	if err == nil && len(raw) > maxQuestion {
		err = fmt.Errorf("there is more than %d MiB", maxQuestion>>20)
	}
	if err != nil {
		return "", fmt.Errorf("read the question from the input: %w", err)
	}
	return strings.TrimSpace(said + "\n\n" + strings.TrimSpace(strings.ToValidUTF8(string(raw), "�"))), nil
}

// ReadSchema reads the file of --schema.
func ReadSchema(path string) (*structured.Schema, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return structured.Parse(raw)
}

// ask runs the turn.
func (a *app) ask(ctx context.Context, e *engine.Agent, schema *structured.Schema, said string) (r Result, err error) {
	r.Role, r.Conversation = e.Role, e.ID()
	show := &show{app: a, calls: map[string]string{}}
	var turn agent.Turn
	var value jsontext.Value
	if schema != nil {
		turn, value, err = schema.Say(ctx, e, said, show.tell)
	} else {
		turn, err = e.Say(ctx, said, show.tell)
	}
	r.take(turn)
	switch {
	case err != nil:
		return r, err
	case value != nil:
		r.Result = value
	}
	switch turn.Stop {
	case agent.StopEnd:
		return r, nil
	case agent.StopAborted:
		return r, errors.New("aborted")
	case agent.StopDenials:
		return r, failure.Hint(errors.New("too many calls in a row were refused"), "myc audit denials shows them")
	case agent.StopRefusal:
		return r, errors.New("the model refused to answer")
	case agent.StopBudget:
		return r, failure.Hint(errors.New("the budget is spent"),
			"go on with a larger one: myc --resume "+r.Conversation+" --budget USD \"go on\"")
	}
	return r, failure.Hint(fmt.Errorf("stopped after %s to the model", text.Count(turn.Turns, "question")),
		"go on with: myc --resume "+r.Conversation+" \"go on\"")
}
