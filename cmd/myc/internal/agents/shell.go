package agents

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/go-json-experiment/json"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/harness"
	"mycelium/internal/hook/install"
	"mycelium/internal/node"
	"mycelium/internal/node/agentshell"
	"mycelium/internal/node/agentshell/shim"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/state"
)

// Shell is one run of this program before a command of an agent's shell. ok is false if it was started under another name.
func Shell(ctx context.Context, program string, args, environ []string) (code int, ok bool) {
	if !shim.Is(program) {
		return 0, false
	}
	s := shellIn(ctx, environ)
	s.Program, s.Args, s.In, s.Out, s.Err = program, args, os.Stdin, os.Stdout, os.Stderr
	return s.Main(), true
}

// shellIn is a run of the program before an agent's shell, in an environment.
func shellIn(ctx context.Context, environ []string) agentshell.Shell {
	return agentshell.Shell{Environ: environ,
		Refused: func(n *agentshell.Note, command string, why error) { noteRefusal(ctx, n, environ, command, why) },
		Lacked: func(n *agentshell.Note, session, command string, l approval.Lacked) error {
			p, err := loaderOf(n, environ).Load()
			if err != nil {
				return err
			}
			return agentshell.RecordLack(ctx, p, agentshell.Lack{Agent: n.Agent, Session: session, Command: command, Lacked: l})
		}}
}

// noteRefusal records that a command of an agent's shell does not run. It stands without a record if the log cannot be written.
func noteRefusal(ctx context.Context, n *agentshell.Note, environ []string, command string, why error) {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return // it is no text
	}
	e := harness.Event{Agent: n.Agent, Tool: policy.Bash.String(), Input: input}
	node.NoteDenial(ctx, loaderOf(n, environ), e, "the agent's shell: "+why.Error())
}

// loaderOf loads the project of a run.
func loaderOf(n *agentshell.Note, environ []string) *project.Loader {
	return &project.Loader{Dir: n.Folder, StateDir: n.State, ID: n.ID, Environ: environ, Err: io.Discard, Agent: true, Version: base.Version()}
}

// shellOf returns the program before the shell of the agent of a run; "" if its commands run in a sandbox of the agent's own, in which the
// program could take no ticket.
func (a *app) shellOf(folder string, s *install.Setup) string {
	if own := install.InOwnSandbox(s.Agent, s.Dir, a.Environ); own != "" {
		fmt.Fprintln(a.Err, "myc: "+own)
		return ""
	}
	return shim.Path(folder)
}

// prepareShell puts our program before the shell of the agent of a run: it knows the agent's settings as they are now, and the gateway.
func (a *app) prepareShell(folder string, s *install.Setup, paths state.Paths, settings []byte, gateway []string,
	o startOptions) error {
	lines, err := s.Lines(settings)
	if err != nil {
		return err
	}
	n := a.shellNote(s, paths)
	n.Lines, n.Server, n.Within = lines, gateway, o.within
	if o.dir != "" {
		n.Folder = o.dir
	}
	return agentshell.Prepare(folder, s.Myc, n, a.Environ)
}

// shellNote is the part of the note of a run that is the same for every agent.
func (a *app) shellNote(s *install.Setup, paths state.Paths) agentshell.Note {
	return agentshell.Note{Agent: s.Agent.Name, Folder: s.Dir, Project: paths.Project, State: string(paths.Root), ID: a.ID,
		Home: a.Getenv("HOME"), Served: served}
}

// gatewayCommand is the command of the gateway for an agent. The daemon was started with --config already.
func gatewayCommand(s *install.Setup, paths state.Paths) []string {
	return slices.Concat([]string{s.Myc, "-C", s.Dir}, paths.Pin(), []string{"mcp"})
}
