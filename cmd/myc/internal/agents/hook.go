// Package agents has the commands that put coding agents under our policy: the hook, its installation and proof, and myc claude.
package agents

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/hook"
	"mycelium/internal/node"
	"mycelium/internal/node/failure"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Hook is `myc hook`.
func Hook(a *base.App) *cobra.Command { return (&app{a}).hookCmd() }

// Check is what `myc doctor` says of installed hooks.
func Check(a *base.App) base.Check { return (&app{a}).doctorHooks }

// QuickHook runs `myc hook AGENT …` as installers write it without the tree of commands, which costs more than the answer. False: this
// is not such a line, and the tree says what it is.
func QuickHook(ctx context.Context, a *base.App, args []string) (code int, ok bool) {
	return (&app{a}).quickHook(ctx, args)
}

// Claude is `myc claude`.
func Claude(a *base.App) *cobra.Command { return (&app{a}).claudeCmd() }

func (a *app) hookCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "hook AGENT", Short: "One event of an agent on stdin, its answer on stdout",
		Long: "An agent runs this before each of its own tools: claude, codex, gemini or crush. Whatever goes wrong denies the tool.\n" +
			"myc hook install writes the entries into the agent's configuration.",
		Example: "  myc hook install claude\n  myc hook claude --event PreToolUse < event.json",
		Args:    base.ArgRange(1, 1, "an agent: "+strings.Join(hook.Agents(), ", ")),
	}
	f := hookFlags{}
	c.Flags().StringVar(&f.event, "event", "", "the event, as the agent calls it; pinned by the installer")
	c.Flags().DurationVar(&f.limit, "limit", 0, "how long the agent waits for this hook; pinned by the installer (default: the agent's own)")
	c.Flags().DurationVar(&f.deadline, "deadline", 0, "how long the answer may take (default, and at most: the limit less 5 s)")
	c.Flags().StringVar(&f.gateway, "gateway", "", "the name of our gateway in the agent's configuration; pinned by the installer")
	c.RunE = func(c *cobra.Command, args []string) error {
		if !slices.Contains(hook.Agents(), args[0]) {
			return failure.Usagef("hook: no agent %q: there are %s", args[0], strings.Join(hook.Agents(), ", "))
		}
		f.agent = args[0]
		if code := a.hook(c.Context(), f); code != 0 {
			return &failure.Error{Code: code}
		}
		return nil
	}
	c.AddCommand(a.hookSetupCmds()...)
	return c
}

// hookFlags are what the entry in an agent's configuration says.
type hookFlags struct {
	agent, event, gateway string
	limit, deadline       time.Duration
}

func (a *app) quickHook(ctx context.Context, args []string) (code int, ok bool) {
	if len(args) < 2 || args[0] != "hook" || !slices.Contains(hook.Agents(), args[1]) {
		return 0, false
	}
	f := hookFlags{agent: args[1]}
	for rest := args[2:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) < 2 {
			return 0, false
		}
		switch value := rest[1]; rest[0] {
		case "-C", "--dir":
			a.Dir = value
		case "--event":
			f.event = value
		case "--gateway":
			f.gateway = value
		case "--limit", "--deadline":
			d, err := time.ParseDuration(value)
			if err != nil {
				return 0, false
			}
			if rest[0] == "--limit" {
				f.limit = d
			} else {
				f.deadline = d
			}
		default:
			return 0, false
		}
	}
	return a.hook(ctx, f), true
}

// hook is one run of the hook.
func (a *app) hook(ctx context.Context, f hookFlags) int {
	a.findProject(f.agent)
	c := hook.Command{
		Agent: f.agent, Event: f.event, Limit: f.limit, Within: f.deadline, Gateway: f.gateway, In: a.In, Out: a.Out, Err: a.Err, Getenv: a.Getenv,
		Decide: a.hookDecide, Note: func(ctx context.Context, e hook.Event, why string) { node.NoteDenial(ctx, &a.Loader, e, why) }, Own: isOwnProgram,
	}
	return c.Run(ctx)
}

// projectVars are where agents tell their hooks the folder that they were started in.
var projectVars = map[string]string{"claude": "CLAUDE_PROJECT_DIR", "gemini": "GEMINI_PROJECT_DIR", "crush": "CRUSH_PROJECT_DIR"}

// findProject sets the project folder where no -C names it: the nearest folder with a mycelium.yaml or a .mycelium, from the one that
// the agent was started in upwards, or that one itself.
func (a *app) findProject(agent string) {
	if a.Dir != "" && a.Dir != "." {
		return
	}
	start := a.Getenv(projectVars[agent])
	if !filepath.IsAbs(start) {
		var err error
		if start, err = os.Getwd(); err != nil {
			return
		}
	}
	a.Dir = start
	for dir := start; ; dir = filepath.Dir(dir) {
		for _, name := range []string{"mycelium.yaml", ".mycelium"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				a.Dir = dir
				return
			}
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// isOwnProgram reports whether a server that an agent started is this program: one of the same name that is not is no gateway of ours.
func isOwnProgram(program string) bool {
	self, err := os.Executable()
	if err != nil {
		return false
	}
	if !filepath.IsAbs(program) {
		if program, err = exec.LookPath(program); err != nil {
			return false
		}
	}
	a, err := os.Stat(self)
	if err != nil {
		return false
	}
	b, err := os.Stat(program)
	return err == nil && os.SameFile(a, b)
}
