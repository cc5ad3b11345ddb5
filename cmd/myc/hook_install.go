package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/internal/config"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
)

// gatewayName is what the entry of our gateway among an agent's MCP servers is called, where nobody says otherwise.
const gatewayName = "mycelium"

// installFlags are what install, uninstall, status and check share.
type installFlags struct {
	user, project bool
	gateway       string
}

// hookSetupCmds are the commands that put the hook into an agent's configuration, and look whether it is there.
func (a *app) hookSetupCmds() []*cobra.Command {
	agents := strings.Join(hook.Agents(), "|")
	var f installFlags
	scope := func(c *cobra.Command) *cobra.Command {
		c.Flags().BoolVar(&f.user, "user", false, "in your own configuration of the agent: for every folder")
		c.Flags().BoolVar(&f.project, "project", false, "in this project's, for this machine only (default)")
		return c
	}
	install := scope(&cobra.Command{
		Use: "install " + agents, Short: "Put the hook into an agent's configuration",
		Long: "Writes an entry for every event of the agent that we answer, with its time-out, and the agent's own deny entries for\n" +
			"what no agent may touch. Hooks of others and everything else in the file stay as they are. Running it again changes nothing.",
		Example: "  myc hook install claude\n  myc hook install codex --user", Args: argRange(1, 1, "an agent: "+agents),
		RunE: func(_ *cobra.Command, args []string) error { return a.hookInstall(args[0], f, false) },
	})
	install.Flags().StringVar(&f.gateway, "gateway", gatewayName, "how our gateway is called among the agent's MCP servers")
	uninstall := scope(&cobra.Command{
		Use: "uninstall " + agents, Short: "Take the hook out again", Example: "  myc hook uninstall claude", Args: argRange(1, 1, "an agent: "+agents),
		RunE: func(_ *cobra.Command, args []string) error { return a.hookInstall(args[0], f, true) },
	})
	status := &cobra.Command{
		Use: "status", Short: "Which agents are installed, and whether our hook stands in their way", Example: "  myc hook status --json", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.hookStatus(c.Context()) },
	}
	check := &cobra.Command{
		Use: "check " + agents, Short: "Prove with the installed agent that a denied call does not run",
		Long: "Starts the agent that is installed here once, without a person, in a home and a folder that are thrown away, with our hook\n" +
			"and a model that follows a script: a denied command must not run, an allowed one must. Your own configuration, your\n" +
			"credentials and the network are not used.",
		Example: "  myc hook check claude", Args: argRange(1, 1, "an agent: "+agents),
		RunE: func(c *cobra.Command, args []string) error { return a.hookCheck(c.Context(), args[0]) },
	}
	return []*cobra.Command{install, uninstall, status, check}
}

// setup is an installation in the configuration of an agent.
func (a *app) setup(agent string, user bool) (*hook.Setup, error) {
	dir, err := a.projectDir()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	state, err := config.StateDir()
	if err != nil {
		return nil, err
	}
	return &hook.Setup{Agent: agent, User: user, Dir: dir, Environ: a.environ, Myc: self, Gateway: gatewayName, State: filepath.Join(state, "hooks")}, nil
}

// hookInstall installs, or takes out.
func (a *app) hookInstall(agent string, f installFlags, out bool) error {
	name := "install"
	if out {
		name = "uninstall"
	}
	if err := a.needPerson(name + " a hook"); err != nil {
		return err
	}
	known, ok := harness.Named(agent)
	if !ok {
		return usageError("hook %s: no agent %q: there are %s", name, agent, strings.Join(hook.Agents(), ", "))
	}
	if f.user && f.project {
		return usageError("hook %s: --user or --project, not both", name)
	}
	s, err := a.setup(agent, f.user)
	if err != nil {
		return err
	}
	if f.gateway != "" {
		s.Gateway = f.gateway
	}
	act := s.Install
	if out {
		act = s.Uninstall
	}
	changes, err := act()
	if err != nil {
		return fileFailure(err)
	}
	if a.json {
		return a.printJSON(changes)
	}
	for _, c := range changes {
		fmt.Fprintf(a.out, "%s %s\n", c.Did, c.File)
	}
	if out {
		return nil
	}
	if _, err := known.Find(a.environ); err != nil {
		fmt.Fprintf(a.err, "myc: %s is not on the PATH; the hook waits for it\n", known.Title)
	}
	for _, p := range s.Status().Problems {
		fmt.Fprintf(a.err, "myc: warning: %s\nhint: %s\n", visibleText(p.Message), visibleText(p.Hint))
	}
	if err := a.warnHands(""); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "Next: myc hook check %s proves that it blocks; a session of %s that runs already takes it with its next start\n", agent, known.Title)
	return nil
}

// fileFailure is an error about a file of an agent, with what to do.
func fileFailure(err error) error {
	var fe *hook.FileError
	if errors.As(err, &fe) {
		return hinted(err, fe.Hint)
	}
	return err
}

// agentStatus is one agent of `myc hook status --json`.
type agentStatus struct {
	Agent   string              `json:"agent"`
	Title   string              `json:"title"`
	Path    string              `json:"path"` // of its program; "": it is not installed
	Version string              `json:"version"`
	Hooks   []hook.Installation `json:"hooks"`
}

// hookAgents looks at every agent. versions asks their programs, which takes a moment.
func (a *app) hookAgents(ctx context.Context, versions bool) ([]agentStatus, error) {
	var out []agentStatus
	for _, known := range harness.Agents() {
		st := agentStatus{Agent: known.Name, Title: known.Title}
		if path, err := known.Find(a.environ); err == nil {
			st.Path = path
			if versions {
				if st.Version, err = known.Version(ctx, path, a.environ); err != nil {
					st.Version = "unknown"
				}
			}
		}
		for _, user := range []bool{false, true} {
			s, err := a.setup(known.Name, user)
			if err != nil {
				return nil, err
			}
			st.Hooks = append(st.Hooks, s.Status())
		}
		out = append(out, st)
	}
	return out, nil
}

// hookStatus prints how the hooks stand. A hook that is installed and does not guard is a failure.
func (a *app) hookStatus(ctx context.Context) error {
	agents, err := a.hookAgents(ctx, true)
	if err != nil {
		return err
	}
	bad := 0
	for _, st := range agents {
		for _, h := range st.Hooks {
			if h.Installed {
				bad += len(h.Problems)
			}
		}
	}
	if a.json {
		err = a.printJSON(agents)
	} else {
		a.printAgents(agents)
	}
	if err == nil && bad > 0 {
		err = hinted(fmt.Errorf("hook status: %d problem(s): an agent is not guarded as it was meant", bad), "")
	}
	return err
}

func (a *app) printAgents(agents []agentStatus) {
	for _, st := range agents {
		where := "not on the PATH"
		if st.Path != "" {
			where = st.Version + ", " + st.Path
		}
		fmt.Fprintf(a.out, "%s: %s\n", st.Title, visible(where))
		for _, h := range st.Hooks {
			text := "no hook of ours"
			if h.Installed {
				text = fmt.Sprintf("%d hooks of ours, %d deny entries", h.Ours, h.Denials)
			}
			if h.Foreign > 0 {
				text += fmt.Sprintf(", %d of others", h.Foreign)
			}
			fmt.Fprintf(a.out, "  %-8s %s (%s)\n", h.Scope, text, visible(h.File))
			for _, p := range h.Problems {
				fmt.Fprintf(a.out, "    ✗ %s\n      → %s\n", visible(p.Message), visible(p.Hint))
			}
		}
	}
}

// doctorHooks says what is wrong with installed hooks, so that whoever tampered with them is seen.
func (a *app) doctorHooks(ctx context.Context, v *view, add report) {
	agents, err := a.hookAgents(ctx, false)
	if err != nil {
		add("problem", "hooks", err.Error(), "")
		return
	}
	hooked := false
	for _, st := range agents {
		guarded := false
		for _, h := range st.Hooks {
			if !h.Installed {
				continue
			}
			guarded, hooked = true, true
			for _, p := range h.Problems {
				add("problem", "hook "+st.Agent, h.File+": "+p.Message, p.Hint)
			}
			if len(h.Problems) == 0 {
				add("ok", "hook "+st.Agent, fmt.Sprintf("%d entries in %s", h.Ours, h.File), "")
			}
		}
		if st.Path != "" && !guarded {
			add("warning", "hook "+st.Agent, st.Title+" is installed, and its own tools are not guarded here", "myc hook install "+st.Agent)
		}
	}
	if message, hint := v.noHands(""); hooked && message != "" {
		add("warning", "hooks", message, hint)
	}
}
