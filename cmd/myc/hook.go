package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/internal/daemon"
	"mycelium/internal/hook"
	"mycelium/internal/rpc"
)

func (a *app) hookCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "hook AGENT", Short: "One event of an agent on stdin, its answer on stdout",
		Long: "An agent runs this before each of its own tools: claude, codex, gemini or crush. Whatever goes wrong denies the tool.\n" +
			"myc hook install writes the entries into the agent's configuration.",
		Example: "  myc hook install claude\n  myc hook claude --event PreToolUse < event.json",
		Args:    argRange(1, 1, "an agent: "+strings.Join(hook.Agents(), ", ")),
	}
	f := hookFlags{}
	c.Flags().StringVar(&f.event, "event", "", "the event, as the agent calls it; pinned by the installer")
	c.Flags().DurationVar(&f.limit, "limit", 0, "how long the agent waits for this hook; pinned by the installer (default: the agent's own)")
	c.Flags().DurationVar(&f.deadline, "deadline", 0, "how long the answer may take (default, and at most: the limit less 5 s)")
	c.Flags().StringVar(&f.gateway, "gateway", "", "the name of our gateway in the agent's configuration; pinned by the installer")
	c.RunE = func(c *cobra.Command, args []string) error {
		if !slices.Contains(hook.Agents(), args[0]) {
			return usageError("hook: no agent %q: there are %s", args[0], strings.Join(hook.Agents(), ", "))
		}
		f.agent = args[0]
		if code := a.hook(c.Context(), f); code != 0 {
			return &failure{code: code}
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

// quickHook runs `myc hook AGENT …` as installers write it without the tree of commands, which costs more than the answer. False: this
// is not such a line, and the tree says what it is.
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
			a.dir = value
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
		Agent: f.agent, Event: f.event, Limit: f.limit, Within: f.deadline, Gateway: f.gateway, In: a.in, Out: a.out, Err: a.err, Getenv: a.getenv,
		Decide: a.hookDecide, Note: a.hookNote, Own: isOwnProgram,
	}
	return c.Run(ctx)
}

// How the hook deals with a daemon that dies or does not answer.
const (
	hookGreet    = 5 * time.Second        // a live daemon greets within milliseconds, a frozen one never
	hookComeback = 30 * time.Second       // how long a daemon that died in the middle of a question is waited for
	hookRedial   = 100 * time.Millisecond // and how often it is looked for
)

// hookDecide asks the daemon; without one the files decide. A daemon that dies in the middle is waited for a while, since a question to
// people survives it; nothing is started.
func (a *app) hookDecide(ctx context.Context, e hook.Event) (hook.Answer, error) {
	dir, err := a.projectDir()
	if err != nil {
		return hook.Answer{}, err
	}
	paths, err := daemon.PathsOf(dir)
	if err != nil {
		return hook.Answer{}, err
	}
	var until time.Time // the daemon was there and has gone: how long it is waited for
	began := time.Now()
	for {
		answer, err := a.hookAsk(ctx, paths, e)
		var refused *rpc.Error
		switch {
		case err == nil:
			return answer, nil
		case errors.As(err, &refused):
			return answer, fmt.Errorf("the daemon refused: %s", refused.Message)
		case ctx.Err() != nil:
			return answer, err
		case errors.Is(err, errHookLost) && until.IsZero():
			until = time.Now().Add(hookComeback)
		case !errors.Is(err, daemon.ErrNotRunning) && !errors.Is(err, errHookLost):
			return answer, err
		}
		if until.IsZero() || time.Now().After(until) {
			break
		}
		if !wait(ctx, hookRedial) {
			return answer, ctx.Err()
		}
		e.Deadline = max(e.Deadline-time.Since(began).Milliseconds(), 1)
		began = time.Now()
	}
	return a.hookAlone(ctx, e)
}

// errHookLost means that the daemon took the event and went away without an answer.
var errHookLost = errors.New("the daemon ended in the middle")

// hookAsk sends an event to the daemon. daemon.ErrNotRunning: there is none.
func (a *app) hookAsk(ctx context.Context, paths daemon.Paths, e hook.Event) (answer hook.Answer, err error) {
	greet, cancel := context.WithTimeout(ctx, hookGreet)
	defer cancel()
	c, err := daemon.Dial(greet, paths)
	if err != nil {
		if greet.Err() != nil {
			return answer, fmt.Errorf("the daemon of this project does not answer: %w", err)
		}
		return answer, err
	}
	defer func() { _ = c.Close() }()
	err = c.Call(ctx, "hook", hookParams{Token: a.getenv(tokenVar), Event: e}, &answer)
	var refused *rpc.Error
	if err != nil && ctx.Err() == nil && !errors.As(err, &refused) {
		err = fmt.Errorf("%w: %w", errHookLost, err)
	}
	return answer, err
}

// projectVars are where agents tell their hooks the folder that they were started in.
var projectVars = map[string]string{"claude": "CLAUDE_PROJECT_DIR", "gemini": "GEMINI_PROJECT_DIR", "crush": "CRUSH_PROJECT_DIR"}

// findProject sets the project folder where no -C names it: the nearest folder with a mycelium.yaml or a .mycelium, from the one that
// the agent was started in upwards, or that one itself.
func (a *app) findProject(agent string) {
	if a.dir != "" && a.dir != "." {
		return
	}
	start := a.getenv(projectVars[agent])
	if !filepath.IsAbs(start) {
		var err error
		if start, err = os.Getwd(); err != nil {
			return
		}
	}
	a.dir = start
	for dir := start; ; dir = filepath.Dir(dir) {
		for _, name := range []string{"mycelium.yaml", ".mycelium"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				a.dir = dir
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
