// Package modes has the commands that run agents in other ways than one question or a chat: workflow, adhoc and run.
package modes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/engine"
	"mycelium/cmd/myc/internal/question"
	"mycelium/cmd/myc/internal/repl"
	"mycelium/internal/agent/handoff"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
)

// The roles of the modes. Both come with the program; a project may have its own of these names.
const (
	workflowRole = "orchestrator"
	adhocRole    = "adhoc"
)

// workflowTurns is how many questions to the model a turn of a workflow may take (requirements, A26).
const workflowTurns = 20

// What becomes of a workflow whose script failed (requirements, A29).
const (
	onPrompt = "prompt"
	onAuto   = "auto"
	onExit   = "exit"
)

// app is the program with these commands.
type app struct {
	*base.App
	options engine.Options
	program repl.Program
}

// Workflow is the command workflow.
func Workflow(b *base.App, program repl.Program) *cobra.Command {
	a := &app{App: b, program: program, options: engine.Options{Role: workflowRole, MaxTurns: workflowTurns}}
	list, failing := false, onPrompt
	c := &cobra.Command{Use: "workflow [\"task\"]", Short: "Do a task with the scripts of skills, and with nothing else", Args: question.Args,
		Long: "The agent has the role orchestrator: it lists skills, reads them and runs their scripts in the sandbox. It has no other tool.\n" +
			"If a script fails, what is known of it is kept for myc adhoc. Without a task it is a chat.",
		Example: "  myc workflow \"make report.xlsx of sales.csv\"\n  myc workflow --list\n" +
			"  myc workflow \"check the links\" --on-failure auto",
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.NeedPerson("run a workflow"); err != nil {
				return err
			}
			if list {
				return a.listScripts()
			}
			return a.workflow(c.Context(), args, failing)
		}}
	f := c.Flags()
	f.BoolVar(&list, "list", false, "list the skills with scripts, and run nothing")
	f.StringVar(&failing, "on-failure", onPrompt, "when a script failed: prompt (say how to go on), auto (go on as myc adhoc) or exit")
	a.flags(c)
	f.StringSliceVar(&a.options.Skills, "skill", nil, "active skills (default: those with scripts that are open to the role)")
	return c
}

// flags adds the flags that both modes have.
func (a *app) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&a.options.Model, "model", "m", "", "model: opus, sonnet, haiku, or a full id")
	f.StringVar(&a.options.Engine, "engine", "", "api or claude (default: api with ANTHROPIC_API_KEY, else an installed Claude Code)")
	f.IntVar(&a.options.MaxTurns, "max-turns", a.options.MaxTurns, "stop after this many questions to the model")
	f.Float64Var(&a.options.Budget, "budget", 0, "stop when the conversation has cost this many `USD`")
	engine.ClaudeFlags(f, &a.options)
}

func (a *app) workflow(ctx context.Context, args []string, failing string) error {
	if !slices.Contains([]string{onPrompt, onAuto, onExit}, failing) {
		return failure.Usagef("workflow: --on-failure: %q is not one of prompt, auto, exit", failing)
	}
	said, err := question.Said(a.App, args)
	if err != nil {
		return err
	}
	if err := a.withScripts(); err != nil {
		return err
	}
	var watch *handoff.Watch
	a.options.Opened = func(_ context.Context, e *engine.Agent) error {
		dir, err := a.ProjectDir()
		watch = &handoff.Watch{Engine: e.Engine, Keep: func(c handoff.Context) (string, error) {
			return c.Save(dir, state.Contexts)
		}}
		e.Engine = watch
		return err
	}
	if said == "" {
		return a.chat(ctx)
	}
	escalates := false
	err = question.Ask(ctx, a.App, a.options, said, func(question.Result) bool {
		escalates = watch.Saved != "" && failing == onAuto
		return escalates
	})
	switch {
	case escalates:
		return a.escalate(ctx, watch.Saved)
	case err != nil || watch.Saved == "":
		return err
	case failing == onExit:
		return errors.New("a script of the workflow failed")
	}
	return failure.Hint(errors.New("a script of the workflow failed"), "look into it with: myc adhoc --context "+quoted(watch.Saved))
}

// quoted is a path as a shell reads it.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+:@%", r))
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// chat holds a chat in the role of the mode.
func (a *app) chat(ctx context.Context) error {
	if !repl.Fits(a.App) {
		return failure.Usagef("there is no task; write it in quotes, or start this on a terminal to chat")
	}
	return repl.Run(ctx, a.App, a.options, a.program)
}
