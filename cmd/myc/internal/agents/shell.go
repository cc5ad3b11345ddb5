package agents

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/harness"
	"mycelium/internal/hook/install"
	"mycelium/internal/node"
	"mycelium/internal/node/agentshell"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/state"
)

// Shell is one run of this program before a command of an agent's shell. ok is false if it was started under another name.
func Shell(ctx context.Context, program string, args, environ []string) (code int, ok bool) {
	if filepath.Base(program) != agentshell.Name {
		return 0, false
	}
	s := agentshell.Shell{Program: program, Args: args, Environ: environ, In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Refused: func(n *agentshell.Note, command string, why error) { noteRefusal(ctx, n, environ, command, why) },
		Lacked: func(n *agentshell.Note, session, command string, l approval.Lacked) error {
			p, err := loaderOf(n, environ).Load()
			if err != nil {
				return err
			}
			return agentshell.RecordLack(ctx, p, agentshell.Lack{Agent: n.Agent, Session: session, Command: command, Lacked: l})
		}}
	return s.Main(), true
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
	return agentshell.Program(folder)
}

// prepareShell puts our program before the shell of the agent of a run: it knows the agent's settings as they are now, and the gateway.
func (a *app) prepareShell(folder string, s *install.Setup, paths state.Paths, settings []byte, gateway []string, tree string) error {
	lines, err := s.Lines(settings)
	if err != nil {
		return err
	}
	n := agentshell.Note{Agent: s.Agent.Name, Folder: cmp.Or(tree, s.Dir), Project: paths.Project, State: string(paths.Root), ID: a.ID,
		Home: a.Getenv("HOME"), Lines: lines, Server: gateway}
	return agentshell.Prepare(folder, s.Myc, n, a.Environ)
}
