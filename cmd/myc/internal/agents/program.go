package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"mycelium/internal/harness"
	"mycelium/internal/hook/install"
	"mycelium/internal/op/failure"
	"mycelium/internal/sandbox/light"
)

// program returns the program that the entries of agents run, as it is or would be installed.
func (a *app) program() (*install.Program, error) {
	paths, err := a.State()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	return &install.Program{Folder: paths.Programs(), Myc: self, Dir: paths.Project}, nil
}

// prepare asks a person about files that govern and were never accepted, and installs the program.
func (a *app) prepare(scope harness.Scope, anywhere bool) error {
	if err := a.CheckTrust(); err != nil {
		return err
	}
	return a.installProgram(scope, anywhere)
}

// installProgram installs the program that the entries of agents run.
func (a *app) installProgram(scope harness.Scope, anywhere bool) error {
	if a.ID != "" && scope != harness.Project {
		return failure.Usagef("hook install: --project-id names one project, and --%s is for every folder", scope)
	}
	if err := a.Begin(a.Know); err != nil {
		return err
	}
	p, err := a.program()
	if err != nil {
		return err
	}
	p.Anywhere = anywhere
	if scope == harness.Managed {
		_, err = p.Check()
		return fileFailure(err)
	}
	if err := p.Install(); err != nil {
		return fileFailure(err)
	}
	paths, err := a.State()
	if err != nil {
		return err
	}
	return light.Renew(paths.Runs(), programsOf(&install.Setup{Myc: p.Myc, Small: p.Path()})...) // a person may have updated them
}

// scope returns the scope that the flags name.
func (f installFlags) scope(agent harness.Agent) (harness.Scope, error) {
	named := map[harness.Scope]bool{harness.Project: f.project, harness.User: f.user, harness.Managed: f.managed}
	scope, n := harness.Project, 0
	for s, is := range named {
		if is {
			scope = s
			n++
		}
	}
	if n > 1 {
		return "", failure.Usagef("hook: only one of --project, --user and --managed")
	}
	if !slices.Contains(agent.Scopes(), scope) {
		return "", failure.Usagef("hook: %s has no settings of an administrator, so --managed is not for it", agent.Title)
	}
	return scope, nil
}

// withstands says what an installed hook withstands in its scope.
func withstands(agent harness.Agent, scope harness.Scope) string {
	out := blocksWhen(agent.Name) + "."
	switch {
	case agent.Launch.Options == nil:
	case scope == harness.Managed:
		out += "\nSettings of a project or of the user do not switch this hook off."
	case scope == harness.Project:
		out += "\nThe other settings of the project and of the user do not switch this hook off. What changes its own file does, and\n" +
			"variables reach commands: the daemon puts the file back and tells you, and myc doctor reports such settings. The hooks\n" +
			"of myc " + agent.Name + " and of an administrator (--managed) withstand that."
	default:
		out += "\nA project's settings can switch this hook off (disableAllHooks) and set variables for commands; the hooks of myc " +
			agent.Name + "\nand of an administrator (--managed) withstand that. myc doctor reports such settings."
	}
	return out
}

// statusOf adds the hooks of an agent, and what can reach them, in the folder that the command line names: it may be a working tree of
// the project.
func (a *app) statusOf(known harness.Agent, st *agentStatus) error {
	for _, scope := range known.Scopes() {
		s, err := a.setup(known, scope)
		if err != nil {
			return err
		}
		st.Hooks = append(st.Hooks, s.Status())
		if scope == harness.Project {
			st.Hazards = append(st.Hazards, install.Hazards(s.State.For(s.Dir), known, a.Environ)...)
		}
	}
	return nil
}
