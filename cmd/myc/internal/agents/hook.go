// Package agents has the commands that put coding agents under our policy: the hook, its installation and proof, and myc claude.
package agents

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/daemon"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/node"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Hook is `myc hook`.
func Hook(a *base.App) *cobra.Command { return (&app{a}).hookCmd() }

// QuickHook runs `myc hook AGENT …` in the form that the installer writes. It does without the tree of commands, which takes longer to
// build than the answer takes. ok is false for every other command line.
func QuickHook(ctx context.Context, a *base.App, args []string) (code int, ok bool) {
	return (&app{a}).quickHook(ctx, args)
}

// Claude is `myc claude`.
func Claude(a *base.App) *cobra.Command { return (&app{a}).claudeCmd() }

// Codex is the command myc codex.
func Codex(a *base.App) *cobra.Command {
	return (&app{a}).otherCmd("codex", `exec "run the tests"`, "resume --last")
}

// Gemini is the command myc gemini.
func Gemini(a *base.App) *cobra.Command { return (&app{a}).otherCmd("gemini", `-p "run the tests"`) }

func (a *app) hookCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "hook AGENT", Short: "Answer one event of an agent; install and check the hook",
		Long: "A coding agent (claude, codex, gemini or crush) runs this command before each of its own tools. The command reads an event\n" +
			"from standard input and prints the answer. If anything fails, the answer is a denial.\n" +
			"To put the hook into an agent's configuration, run myc hook install.",
		Example: "  myc hook install claude\n  myc hook claude --event PreToolUse < event.json",
		Args:    base.ArgRange(1, 1, "an agent: "+strings.Join(harness.Names(), ", ")),
	}
	var f hook.Flags
	c.Flags().StringVar(&f.Event, "event", "", "name of the event; install sets it")
	c.Flags().DurationVar(&f.Limit, "limit", 0, "how long the agent waits for this hook; install sets it (default: the "+
		"agent's own)")
	c.Flags().DurationVar(&f.Deadline, "deadline", 0, "time for the answer (default and maximum: 5 s less than the limit)")
	c.Flags().StringVar(&f.Gateway, "gateway", "", "name of the gateway among the agent's MCP servers; install sets it")
	c.Flags().String("mend", "", "command that mends a broken hook, for the person who reads the entry; install sets it")
	c.RunE = func(c *cobra.Command, args []string) error {
		if !slices.Contains(harness.Names(), args[0]) {
			return failure.Usagef("hook: unknown agent %q: the known agents are %s", args[0], strings.Join(harness.Names(), ", "))
		}
		f.Agent = args[0]
		if code := a.hook(c.Context(), f); code != 0 {
			return base.Exit{Code: code}
		}
		return nil
	}
	c.AddCommand(a.hookSetupCmds()...)
	return c
}

func (a *app) quickHook(ctx context.Context, args []string) (code int, ok bool) {
	f, ok := hook.ParseFlags(args)
	if !ok {
		// An agent would take the success of --help for consent.
		help := slices.Contains(args, "--help") || slices.Contains(args, "-h")
		if len(args) > 1 && args[0] == "hook" && slices.Contains(harness.Names(), args[1]) && help {
			return hook.BadEntry(a.Err, args), true
		}
		return 0, false
	}
	a.Dir, a.StateDir, a.ID = f.Dir, string(f.State), f.ID
	return a.hook(ctx, f), true
}

// hookMemory is how much memory a hook takes before it collects garbage, in bytes. An answer needs about 20 MiB.
const hookMemory = 128 << 20

// hook is one run of the hook: the daemon answers; without one the files decide in this process.
func (a *app) hook(ctx context.Context, f hook.Flags) int {
	hook.Deaf()
	debug.SetGCPercent(-1) // collecting is a quarter of the time of an answer, and the process ends with the answer
	debug.SetMemoryLimit(hookMemory)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	a.Agent = true
	p := program(&a.Loader)
	p.Flags, p.In, p.Out, p.Err, p.Interrupted = f, a.In, a.Out, a.Err, func() context.Context { return ctx }
	p.Getenv, p.Environ = a.Getenv, a.Environ
	at := f
	at.Dir, at.State, at.ID = a.Dir, state.Root(a.StateDir), a.ID
	dir, found, err := at.ProjectDir(a.Getenv)
	if err == nil {
		a.Dir, a.Outside = dir, !found
		p.Project, err = a.State()
	}
	if err != nil {
		f.Fault = err.Error()
	}
	if f.Fault != "" { // the denial is only to be recorded
		event, err := io.ReadAll(io.LimitReader(a.In, harness.MaxInput+1))
		if err != nil {
			event = nil
		}
		return p.Alone(ctx, hook.Command{Flags: f, In: bytes.NewReader(event), Out: a.Out, Err: a.Err, Getenv: a.Getenv})
	}
	return p.Run()
}

// program returns a run of the hook in which the files decide if no daemon runs. It lacks the folder, the flags, input and output.
func program(l *project.Loader) *hook.Program {
	note := func(ctx context.Context, e harness.Event, why string) { node.NoteDenial(ctx, l, e, why) }
	return &hook.Program{
		Alone: func(ctx context.Context, c hook.Command) int {
			c.Own, c.Note, c.Parent = isOwnProgram, note, os.Getppid
			c.Decide = func(ctx context.Context, e harness.Event) (harness.Answer, error) { return node.HookAlone(ctx, l, e) }
			return c.Run(ctx)
		},
		Stranger: func(ctx context.Context, s *daemon.StrangerError) {
			if err := node.NoteStranger(ctx, l, s, "hook"); err != nil {
				l.Logger().Warn("record who answers at the daemon's socket", "err", err)
			}
		},
		Note: func(ctx context.Context, _ []byte, e harness.Event, why string) { note(ctx, e, why) },
	}
}

// isOwnProgram reports whether a server that an agent started is this program. Another program may have the same name.
func isOwnProgram(program string) bool {
	self, err := os.Executable()
	return err == nil && hook.SameProgram(self, program)
}
