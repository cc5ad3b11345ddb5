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
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
)

// claudeCmd is myc claude.
func (a *app) claudeCmd() *cobra.Command {
	c := a.agentCmd("claude")
	c.Long = "Start the Claude Code that is installed here. The hook runs before each of its own tools, and its only MCP server is\n" +
		"the gateway. Both use one session, which ends with Claude Code. myc claude starts a daemon if none runs.\n" +
		behindTheWall +
		"The other arguments go to Claude Code: myc claude -p \"fix the test\". For its own help: myc claude -- --help\n" +
		"With -p nobody sees a question. " + whoIsAsked
	c.Example = "  myc claude\n  myc claude --role developer -p \"run the tests\"\n  myc claude -p \"run the tests\" --ask deny"
	return c
}

// otherCmd starts an agent that cannot ask its person. once is an example of a run without a terminal, and more are further examples.
func (a *app) otherCmd(name, once string, more ...string) *cobra.Command {
	c := a.agentCmd(name)
	known, _ := harness.Named(name)
	c.Long = "Start the " + known.Title + " that is installed here. The hook runs before each of its own tools, and its only MCP server is the\n" +
		"gateway. Both use one session, which ends with " + known.Title + ".\n" +
		"It has a configuration and conversations of its own for this project, with your model and your login. Its own sandbox and its\n" +
		"own questions are off: the hook decides about every call, and its commands run in Mycelium's sandbox.\n" +
		behindTheWall +
		"The other arguments go to " + known.Title + ": myc " + name + " " + once + ". For its own help: myc " + name + " -- --help\n" +
		known.Title + " cannot put the policy's questions to you. " + whoIsAsked
	c.Example = "  myc " + name + "\n  myc " + name + " --role developer " + once
	for _, words := range more {
		c.Example += "\n  myc " + name + " " + words
	}
	return c
}

const (
	behindTheWall = "It works behind the light wall: nothing that it starts can change the state of Mycelium, its programs, the settings of hooks\n" +
		"and the files of the policy. Behind it sudo, rootless Podman and FUSE do not work; --wall no is without it.\n"
	whoIsAsked = "A call that needs an approval waits if somebody can be reached (a chat, a notice on the\n" +
		"screen or by ntfy or Slack, an open myc approvals watch), else it is denied at once; --ask wait and --ask deny choose."
)

// agentCmd is the command that starts an agent.
func (a *app) agentCmd(name string) *cobra.Command {
	known, _ := harness.Named(name)
	o := startOptions{agent: known}
	c := &cobra.Command{
		Use:                name + " [--role R] [--wall yes|no] [--ask deny|wait] [ARG …]",
		Short:              "Start " + known.Title + " under the policy, with the gateway and the hook",
		DisableFlagParsing: true,
	}
	c.Flags().StringVar(&o.role, "role", "", "role of the session (default: session.agentRole, else session.defaultRole)")
	base.AskFlag(c.Flags(), &o.ask)
	WallFlag(c.Flags(), &o.wall, "it")
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
			flag, _, _ := strings.Cut(args[0], "=")
			if !slices.Contains([]string{"--role", "--wall", "-C", "--dir", "--config"}, flag) {
				break
			}
			flags := c.InheritedFlags()
			if flag == "--role" || flag == "--wall" {
				flags = c.LocalNonPersistentFlags()
			}
			taken, err := base.TakeFlag(flags, args)
			if err != nil || taken == 0 {
				return failure.Usagef("%s: %s needs %s", name, flag, cmp.Or(map[string]string{"--wall": "yes or no"}[flag], "a value"))
			}
			args = args[taken:]
		}
		args, err := takeAsk(c.LocalNonPersistentFlags(), args)
		if err != nil {
			return failure.Usagef("%s: %w", name, err)
		}
		if asks := known.Launch.Prefix.Variable != ""; asks && !isHeadless(known.Launch, args) {
			if o.ask != "" {
				return failure.Usagef("%s: --ask is for a run without a dialog (-p); at a terminal, %s asks you itself", name, known.Title)
			}
		} else {
			o.ask = cmp.Or(o.ask, approval.AskReached)
		}
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		if err := a.Find(project.MayHave); err != nil {
			return err
		}
		return a.agent(c.Context(), o, args)
	}
	return c
}

// startOptions say how an agent is started.
type startOptions struct {
	agent    harness.Agent
	role     string
	skills   []string // active at the start; nil: those of the role
	ask      approval.WhenAsked
	anywhere bool
	within   string // profile of the sandbox for commands that no rule has in one; empty: they run outside
	dir      string // where it works: a linked worktree of the project; empty: the project's folder
	writes   string // the only file that it may change; empty: what the policy says
	worker   bool   // of the swarm
	wall     Wall
}

// governable refuses arguments with which an agent would leave the session.
func governable(agent harness.Agent, args []string) error {
	l := agent.Launch
	if len(args) > 0 && slices.Contains(l.Commands, args[0]) {
		return failure.New(failure.Usage, fmt.Errorf("%s: %q does not start a session that the hook can govern", agent.Name, args[0]),
			"run it yourself: "+agent.Name+" "+args[0])
	}
	for _, arg := range args {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(arg, "=")
		joined := len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && slices.Contains(l.Refused, arg[:2]) // -cKEY=VALUE
		if slices.Contains(l.Refused, name) || joined {
			return failure.New(failure.Usage, fmt.Errorf("%s: %s would bypass the gateway, the hook or the sandbox", agent.Name, name),
				"put servers into mycelium.yaml and permissions into rules.yaml, or run it without Mycelium: "+agent.Name+" "+name)
		}
	}
	return nil
}

// agent runs an agent in a session of its own.
func (a *app) agent(ctx context.Context, o startOptions, args []string) error {
	known := o.agent
	if err := a.NeedPerson("start an agent"); err != nil {
		return err
	}
	if err := governable(known, args); err != nil {
		return err
	}
	program, err := known.Find(a.Environ)
	if err != nil {
		return failure.Hint(fmt.Errorf("%s: %w", known.Name, err), "install it: npm install -g "+known.Package)
	}
	if err := a.needProject(ctx, known.Name); err != nil {
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
	if isHeadless(known.Launch, args) {
		defer a.tellWaiting(ctx, l.Session.ID)()
	}
	err = a.runAgent(l, program, append(l.Options, args...))
	if exit := (base.Exit{}); err == nil || errors.As(err, &exit) {
		end.tell(ctx, known)
	}
	return err
}

// needProject fails outside of a project. At a terminal it offers to set one up.
func (a *app) needProject(ctx context.Context, name string) error {
	dir, err := a.ProjectDir()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "mycelium.yaml")); !errors.Is(err, fs.ErrNotExist) || a.Config != "" {
		return a.CheckTrust()
	}
	if !base.StdinIsTerminal(a.In) {
		return failure.New(failure.Usage, fmt.Errorf("%s: %s is not a Mycelium project: it has no mycelium.yaml", name, dir),
			"myc -C "+dir+" init sets it up")
	}
	fmt.Fprintf(a.Err, "%s is not a Mycelium project yet. Set it up, with roles, skills and rules for a coding agent? [Y/n] ", dir)
	if answer, err := a.readLine(); err != nil || strings.HasPrefix(strings.ToLower(answer), "n") {
		return errors.New(name + ": not started, because the folder is not set up")
	}
	o := scaffold.Options{Sandbox: base.SandboxHolds(ctx, a.Loader, a.Err)}
	if err := a.SetUp(o); err != nil {
		return err
	}
	fmt.Fprintln(a.Err, base.WhereCommandsRun(a.Loader, o.Sandbox))
	return nil
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
