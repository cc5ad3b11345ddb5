package agents

import (
	"fmt"
	"os"
	"path/filepath"

	"mycelium/internal/hook/install"
	"mycelium/internal/node/agentshell"
	"mycelium/internal/state"
)

// Shell is one run of this program before a command of an agent's shell. ok is false if it was started under another name.
func Shell(program string, args, environ []string) (code int, ok bool) {
	if filepath.Base(program) != agentshell.Name {
		return 0, false
	}
	s := agentshell.Shell{Program: program, Args: args, Environ: environ, In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	return s.Main(), true
}

// prepareShell puts our program before the shell of the agent of a run: it knows the agent's settings as they are now, and the gateway.
func (a *app) prepareShell(folder string, s *install.Setup, paths state.Paths, settings []byte, gateway []string) error {
	ground, err := agentshell.GroundOf(paths.Project, paths)
	if err != nil {
		return err
	}
	n := agentshell.Note{Agent: s.Agent.Name, Ground: ground, State: string(paths.Root), Server: gateway}
	if n.Lines, err = s.Lines(settings); err != nil {
		return err
	}
	if home := a.Getenv("HOME"); home != "" {
		if n.Home, err = filepath.EvalSymlinks(home); err != nil {
			return fmt.Errorf("find the home folder: %w", err)
		}
	}
	return agentshell.Prepare(folder, s.Myc, n, a.Environ)
}
