package agents

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/harness"
	"mycelium/internal/hook/install"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/sandbox/light"
	"mycelium/internal/text"
)

// installFlags are the common flags of install, uninstall, status and check.
type installFlags struct {
	user, project, managed bool
	anywhere               bool
	gateway                string
}

// hookSetupCmds are the commands that install, remove and check the hook of an agent.
func (a *app) hookSetupCmds() []*cobra.Command {
	agents := strings.Join(harness.Names(), "|")
	var f installFlags
	scope := func(c *cobra.Command) *cobra.Command {
		c.Flags().BoolVar(&f.user, "user", false, "write your own configuration of the agent, for every folder")
		c.Flags().BoolVar(&f.project, "project", false, "write this project's configuration, on this machine (default)")
		c.Flags().BoolVar(&f.managed, "managed", false, "write the administrator's configuration, for every user and folder (as root)")
		return c
	}
	add := scope(&cobra.Command{
		Use: "install " + agents, Short: "Put the hook into an agent's configuration",
		Long: "Write an entry for every event that Mycelium answers, with its time limit, and the agent's own deny entries for protected\n" +
			"files. Other hooks and everything else in the file stay as they are. A second install changes nothing.",
		Example: "  myc hook install claude\n  myc hook install codex --user", Args: base.ArgRange(1, 1, "an agent: "+agents),
		RunE: func(_ *cobra.Command, args []string) error { return a.hookInstall(args[0], f, false) },
	})
	add.Flags().BoolVar(&f.anywhere, "unsafe-program", false,
		"run a myc that lies in a project or in a folder for temporary files")
	add.Flags().StringVar(&f.gateway, "gateway", install.DefaultGateway, "name of the gateway among the agent's MCP servers")
	remove := scope(&cobra.Command{
		Use: "uninstall " + agents, Short: "Remove the hook from an agent's configuration", Example: "  myc hook uninstall claude",
		Args: base.ArgRange(1, 1, "an agent: "+agents),
		RunE: func(_ *cobra.Command, args []string) error { return a.hookInstall(args[0], f, true) },
	})
	status := &cobra.Command{
		Use: "status", Short: "List the agents, and say whether the hook works in each",
		Example: "  myc hook status --json", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.hookStatus(c.Context()) },
	}
	check := &cobra.Command{
		Use: "check " + agents, Short: "Prove that the installed agent obeys a denial",
		Long: "Start the agent that is installed here once, with the hook and a scripted model, in a temporary home and folder. A denied\n" +
			"command must not run, and an allowed command must run. Your configuration, your credentials and the network are not used.",
		Example: "  myc hook check claude", Args: base.ArgRange(1, 1, "an agent: "+agents),
		RunE: func(c *cobra.Command, args []string) error { return a.hookCheck(c.Context(), args[0]) },
	}
	return []*cobra.Command{add, remove, status, check}
}

// Install is `myc hook install` of an agent in a project, for `myc init`.
func Install(a *base.App) func(agent string, anywhere bool) error {
	return func(agent string, anywhere bool) error {
		return (&app{a}).hookInstall(agent, installFlags{anywhere: anywhere, gateway: install.DefaultGateway}, false)
	}
}

// setup returns the installation of the hook in the configuration of an agent.
func (a *app) setup(agent harness.Agent, scope harness.Scope) (*install.Setup, error) {
	paths, err := a.State()
	if err != nil {
		return nil, err
	}
	dir, err := a.Folder()
	if err != nil {
		return nil, err
	}
	program, err := a.program()
	if err != nil {
		return nil, err
	}
	s := &install.Setup{
		Agent: agent, Scope: scope, Dir: dir, Environ: a.Environ, Myc: program.Myc, Small: program.Path(),
		Gateway: install.DefaultGateway, State: paths,
	}
	if scope == harness.Managed { // for every user, so it is the program that every user has
		s.Small = program.Source()
	}
	for _, b := range policy.BasePaths() {
		s.Protected = append(s.Protected, harness.Protected{Path: b.Path, ChangeOnly: b.ChangeOnly})
	}
	if home := a.Getenv("HOME"); string(paths.Root) != filepath.Join(home, ".local", "state", "mycelium") { // else it is in the table
		s.Protected = append(s.Protected, harness.Protected{Path: string(paths.Root)})
	}
	return s, nil
}

// hookInstall installs the hook, or removes it.
func (a *app) hookInstall(agent string, f installFlags, out bool) error {
	name := "install"
	if out {
		name = "uninstall"
	}
	if err := a.NeedPerson(name + " a hook"); err != nil {
		return err
	}
	known, ok := harness.Named(agent)
	if !ok {
		return failure.Usagef("hook %s: unknown agent %q: the known agents are %s", name, agent, strings.Join(harness.Names(), ", "))
	}
	scope, err := f.scope(known)
	if err != nil {
		return err
	}
	s, err := a.setup(known, scope)
	if err != nil {
		return err
	}
	if !out {
		if err := a.prepare(scope, f.anywhere); err != nil {
			return err
		}
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
	for _, c := range changes {
		if err := light.Renew(s.State.Runs(), c.File); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(changes)
	}
	for _, c := range changes {
		fmt.Fprintf(a.Out, "%s %s\n", c.Did, c.File)
	}
	if out {
		return nil
	}
	if _, err := known.Find(a.Environ); err != nil {
		fmt.Fprintf(a.Err, "myc: %s is not on the PATH yet; the hook takes effect when it is installed\n", known.Title)
	}
	for _, p := range s.Status().Problems {
		fmt.Fprintf(a.Err, "myc: warning: %s\nhint: %s\n", text.Visible(p.Message), text.Visible(p.Hint))
	}
	if err := a.warnAgentTools(""); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s\n", withstands(known, scope))
	fmt.Fprintf(a.Out, "Next: run myc hook check %s, which proves that the hook blocks. If %s is already running, restart it.\n",
		agent, known.Title)
	return nil
}

// fileFailure adds the hint of an error about a file of an agent.
func fileFailure(err error) error {
	var fe *install.FileError
	if errors.As(err, &fe) {
		return failure.Hint(err, fe.Hint)
	}
	return err
}
