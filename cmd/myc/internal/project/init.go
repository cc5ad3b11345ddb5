package project

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config/fromclaude"
	"mycelium/internal/config/scaffold"
	"mycelium/internal/config/source"
	"mycelium/internal/harness"
	"mycelium/internal/op/failure"
)

// InstallHook puts the hook into the project's configuration of an agent. anywhere is --unsafe-program.
type InstallHook func(agent string, anywhere bool) error

// setUp is one run of `myc init`.
type setUp struct {
	*app
	scaffold.Options
	from     string   // --from
	agents   []string // --agent: the agents that get the hook
	given    bool     // --agent is there, so nobody is asked
	sandbox  string   // --sandbox: yes, no, or "" for yes where the sandbox holds
	holds    bool     // the sandbox holds on this machine
	anywhere bool
	install  InstallHook
}

func (a *app) initCmd(install InstallHook) *cobra.Command {
	s := setUp{app: a, install: install}
	c := &cobra.Command{
		Use: "init [DIR]", Short: "Write mycelium.yaml, skills/, roles/ and rules.yaml; existing files are kept",
		Long: "Write the files of a project, and put the hook into the agents that are used here, as myc hook install does. On a terminal\n" +
			"it asks which of the installed agents these are. Elsewhere, and with --agent, it does not ask.\n\n" +
			"Where the sandbox holds, the commands of coding agents run in it: policy.wall says so. --sandbox no writes that they run with\n" +
			"your rights, and --sandbox yes that they run in it on every machine where it holds.",
		Example: "  myc init my-project\n  myc init --agent claude,codex --sandbox no\n  myc init --minimal\n  myc init --from claude",
		Args:    base.ArgRange(0, 1, "at most one folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.Dir = args[0]
			}
			s.given = c.Flags().Changed("agent")
			return s.run(c.Context())
		},
	}
	c.Flags().BoolVar(&s.Minimal, "minimal", false, "only mycelium.yaml, rules.yaml and empty folders")
	c.Flags().StringVar(&s.Template, "template", "", "also add a skill from this template (myc skill templates)")
	c.Flags().StringVar(&s.from, "from", "", "claude: also write what .claude/ and .mcp.json mean: rules, skills and roles")
	c.Flags().StringSliceVar(&s.agents, "agent", nil, "put the hook into these agents: "+strings.Join(harness.Names(), ", "))
	c.Flags().StringVar(&s.sandbox, "sandbox", "",
		"yes or no: the commands of coding agents run in the sandbox (default: yes where it holds)")
	c.Flags().BoolVar(&s.anywhere, "unsafe-program", false, "let the hook run a myc that lies in a project or in a folder for temporary files")
	return c
}

// run writes the files, installs the hook and says what comes next. What cannot be done is refused before anything is written.
func (s *setUp) run(ctx context.Context) error {
	if s.sandbox != "" && s.sandbox != "yes" && s.sandbox != "no" {
		return failure.Usagef("init: --sandbox takes yes or no, and not %q", s.sandbox)
	}
	if name := unknownAgent(s.agents); name != "" {
		return failure.Usagef("init: unknown agent %q: the known agents are %s", name, strings.Join(harness.Names(), ", "))
	}
	if s.from != "" {
		if s.from != "claude" || s.Minimal {
			return failure.Usagef("init: --from takes claude, and not with --minimal")
		}
		plan, err := fromclaude.Read(cmp.Or(s.Dir, "."), "developer")
		if err != nil {
			return failure.Hint(fmt.Errorf("init --from claude: %w", err), "name the folder in which you start Claude Code, or leave --from out")
		}
		s.Import = plan
	}
	offer := s.chooseSandbox(ctx)
	if err := s.SetUp(s.Options); err != nil {
		return err
	}
	if offer {
		base.OfferWall(s.Out, s.Loader)
	}
	if !s.given && !s.Minimal && base.StdinIsTerminal(s.In) {
		if err := s.askAgents(); err != nil {
			return err
		}
	}
	for _, agent := range s.agents {
		fmt.Fprintf(s.Out, "\n%s:\n", agent)
		if err := s.install(agent, s.anywhere); err != nil {
			return fmt.Errorf("init: the project is set up, and the hook of %s is not: %w", agent, err)
		}
	}
	s.tellNext()
	return nil
}

// chooseSandbox decides whether commands run in the sandbox. Where the project has a mycelium.yaml already it decides nothing, and reports
// whether the person is to be told how the project gets the wall.
func (s *setUp) chooseSandbox(ctx context.Context) (offer bool) {
	has := func(file string) bool {
		_, err := os.Lstat(filepath.Join(cmp.Or(s.Dir, "."), file))
		return err == nil
	}
	switch {
	case has(source.MainFile):
		s.holds = base.NoSandbox(ctx, s.Loader) == ""
		return s.sandbox == "yes" || !has(source.RulesFile) // ours stand before rules of the program, which count with policy.wall
	case s.sandbox != "no":
		s.holds = base.SandboxHolds(ctx, s.Loader, s.Err)
		s.Sandbox = s.holds || s.sandbox == "yes"
	}
	return false
}

// askAgents asks a person which of the installed agents get the hook. The default is all of them.
func (s *setUp) askAgents() error {
	p, err := s.Load()
	if err != nil || !p.Trusted { // nothing is in force yet, so a hook would refuse every tool
		return err
	}
	var found []string
	for _, a := range harness.Agents() {
		if _, err := a.Find(s.Environ); err == nil {
			found = append(found, a.Name)
		}
	}
	if len(found) == 0 {
		return nil
	}
	question := fmt.Sprintf("Put the hook into %s, so that this policy decides about each of its tools? [Y: all of them, n, or names] ",
		strings.Join(found, ", "))
	for {
		answer, ok := base.Ask(s.App, question)
		switch names := strings.FieldsFunc(strings.ToLower(answer), func(r rune) bool { return r == ',' || r == ' ' }); {
		case !ok, slices.Equal(names, []string{"n"}), slices.Equal(names, []string{"no"}):
			return nil
		case len(names) == 0, slices.Equal(names, []string{"y"}), slices.Equal(names, []string{"yes"}):
			s.agents = found
			return nil
		case unknownAgent(names) == "":
			s.agents = names
			return nil
		default:
			fmt.Fprintf(s.Err, "myc: unknown agent %q: the known agents are %s\n", unknownAgent(names), strings.Join(harness.Names(), ", "))
		}
	}
}

// unknownAgent returns the first name that is not of a known agent, or "".
func unknownAgent(names []string) string {
	for _, name := range names {
		if !slices.Contains(harness.Names(), name) {
			return name
		}
	}
	return ""
}

// tellNext says what a person does next.
func (s *setUp) tellNext() {
	at := "myc -C " + harness.ShellWord(s.Dir)
	if s.Dir == "" || s.Dir == "." {
		at = "myc"
	}
	fmt.Fprintln(s.Out)
	switch {
	case s.Minimal: // nothing is granted, and there is no role
		fmt.Fprintf(s.Out, "Next: %s skill add my-skill --template basic. Nothing is granted until a skill grants it to a role.\n", at)
		return
	case s.waits():
		fmt.Fprintf(s.Out, "Next: %s trust shows what these files start and allow, and puts it in force. Until then no call runs.\n", at)
		fmt.Fprintf(s.Out, "To install the hook in an agent after that: %s hook install claude (or codex, gemini, crush)\n", at)
	case len(s.agents) > 0:
		fmt.Fprintf(s.Out, "Next: start %s in this project; every tool passes this policy. To see its role: %s tools --role developer\n",
			strings.Join(s.agents, " or "), at)
	default:
		fmt.Fprintf(s.Out, "Next: %[1]s tools --role guest, or connect a client: %[1]s mcp\n", at)
		fmt.Fprintf(s.Out, "To install the hook in an agent: %s hook install claude (or codex, gemini, crush)\n", at)
	}
	fmt.Fprintf(s.Out, "To start Claude Code under this policy: %s claude --role developer\n", at)
	fmt.Fprintln(s.Out, base.WhereCommandsRun(s.Loader, s.holds))
}
