package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/config/scaffold"
	"mycelium/internal/harness"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
)

func (a *app) claudeCmd() *cobra.Command {
	var o claudeOptions
	c := &cobra.Command{
		Use: "claude [--role R] [--ask deny|wait] [ARG …]", Short: "Start Claude Code under the policy, with the gateway and the hook",
		Long: "Start the Claude Code that is installed here. The hook runs before each of its own tools, and its only MCP server is\n" +
			"the gateway. Both use one session, which ends with Claude Code. myc claude starts a daemon if none runs.\n" +
			"The other arguments go to Claude Code: myc claude -p \"fix the test\". For its own help: myc claude -- --help\n" +
			"With -p nobody sees a question. A call that needs an approval waits if somebody can be reached (a chat, a notice on the\n" +
			"screen or by ntfy or Slack, an open myc approvals watch), else it is denied at once; --ask wait and --ask deny say it otherwise.",
		Example:            "  myc claude\n  myc claude --role developer -p \"run the tests\"\n  myc claude -p \"run the tests\" --ask deny",
		DisableFlagParsing: true,
	}
	c.Flags().StringVar(&o.role, "role", "", "role of the session (default: session.agentRole, else session.defaultRole)")
	base.AskFlag(c.Flags(), &o.ask)
	c.Flags().BoolVar(&o.anywhere, "unsafe-program", false, "run a myc that lies in a project or in a folder for temporary files")
	c.RunE = func(c *cobra.Command, args []string) error {
		for len(args) > 0 {
			if args[0] == "--help" || args[0] == "-h" {
				return c.Help()
			}
			if args[0] == "--unsafe-program" {
				o.anywhere, args = true, args[1:]
				continue
			}
			name, _, _ := strings.Cut(args[0], "=")
			if !slices.Contains([]string{"--role", "-C", "--dir", "--config"}, name) {
				break
			}
			flags := c.InheritedFlags()
			if name == "--role" {
				flags = c.LocalNonPersistentFlags()
			}
			taken, err := base.TakeFlag(flags, args)
			if err != nil || taken == 0 {
				return failure.Usagef("claude: %s needs a value", name)
			}
			args = args[taken:]
		}
		args, err := takeAsk(c.LocalNonPersistentFlags(), args)
		if err != nil {
			return failure.Usagef("claude: %w", err)
		}
		if !isHeadless(args) && o.ask != "" {
			return failure.Usagef("claude: --ask is for a run without a dialog (-p); at a terminal, Claude Code asks you itself")
		} else if isHeadless(args) {
			o.ask = cmp.Or(o.ask, approval.AskReached)
		}
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		if err := a.Find(project.MayHave); err != nil {
			return err
		}
		return a.claude(c.Context(), o, args)
	}
	return c
}

// claudeOptions are the flags of myc claude.
type claudeOptions struct {
	role     string
	skills   []string // active at the start; nil: those of the role
	ask      approval.WhenAsked
	anywhere bool
	within   string // profile of the sandbox for commands that no rule has in one; empty: they run outside
	dir      string // where it works: a linked worktree of the project; empty: the project's folder
	writes   string // the only file that it may change; empty: what the policy says
	worker   bool   // of the swarm
}

// governable refuses arguments with which Claude Code would leave the session.
func governable(l harness.Launch, args []string) error {
	if len(args) > 0 && slices.Contains(l.Commands, args[0]) {
		return failure.New(failure.Usage, fmt.Errorf("claude: %q does not start a session that the hook can govern", args[0]),
			"run it yourself: claude "+args[0])
	}
	for _, arg := range args {
		if arg == "--" {
			break
		}
		if name, _, _ := strings.Cut(arg, "="); slices.Contains(l.Refused, name) {
			return failure.New(failure.Usage, fmt.Errorf("claude: %s would bypass the gateway or the hook", name),
				"put servers into mycelium.yaml and settings into .claude/settings.json, or run it without Mycelium: claude "+name)
		}
	}
	return nil
}

// claude runs Claude Code in a session of its own.
func (a *app) claude(ctx context.Context, o claudeOptions, args []string) error {
	if err := a.NeedPerson("start an agent"); err != nil {
		return err
	}
	known, _ := harness.Named("claude")
	if err := governable(known.Launch, args); err != nil {
		return err
	}
	program, err := known.Find(a.Environ)
	if err != nil {
		return failure.Hint(fmt.Errorf("claude: %w", err), "install it: npm install -g "+known.Package)
	}
	if err := a.needProject(ctx); err != nil {
		return err
	}
	if err := a.warnAgentTools(o.role); err != nil {
		return err
	}
	l, err := a.launch(ctx, program, o)
	if err != nil {
		return err
	}
	defer l.Close()
	end, err := a.begin(l.Session.ID)
	if err != nil {
		return err
	}
	if isHeadless(args) {
		defer a.tellWaiting(ctx, l.Session.ID)()
	}
	err = a.runAgent(known.Launch, program, append(l.Options, args...), l.Session.Token)
	if exit := (base.Exit{}); err == nil || errors.As(err, &exit) {
		end.tell(ctx)
	}
	return err
}

// needProject fails outside of a project. At a terminal it offers to set one up.
func (a *app) needProject(ctx context.Context) error {
	dir, err := a.ProjectDir()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "mycelium.yaml")); !errors.Is(err, fs.ErrNotExist) || a.Config != "" {
		return a.CheckTrust()
	}
	if !base.StdinIsTerminal(a.In) {
		return failure.New(failure.Usage, fmt.Errorf("claude: %s is not a Mycelium project: it has no mycelium.yaml", dir),
			"myc -C "+dir+" init sets it up")
	}
	fmt.Fprintf(a.Err, "%s is not a Mycelium project yet. Set it up, with roles, skills and rules for a coding agent? [Y/n] ", dir)
	if answer, err := a.readLine(); err != nil || strings.HasPrefix(strings.ToLower(answer), "n") {
		return errors.New("claude: not started, because the folder is not set up")
	}
	return a.SetUp(scaffold.Options{Sandbox: base.OfferSandbox(ctx, a.Loader, a.Err, func(question string) (string, bool) {
		fmt.Fprint(a.Err, question)
		answer, err := a.readLine()
		return strings.TrimSpace(answer), err == nil
	})})
}

// readLine reads one line of the terminal and no byte more, because the rest is input for the agent.
func (a *app) readLine() (string, error) {
	var line []byte
	for b := make([]byte, 1); ; {
		if _, err := a.In.Read(b); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return strings.TrimSpace(string(line)), nil
		}
		line = append(line, b[0])
	}
}
