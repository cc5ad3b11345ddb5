package base

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"mycelium/internal/config/scaffold"
	"mycelium/internal/config/trust"
	"mycelium/internal/node/fence"
)

// SetUp writes the files of a new project into the folder, and trusts it.
func (a *App) SetUp(minimal bool, template string) error {
	if err := a.NeedPerson("set up a project"); err != nil {
		return err
	}
	if err := os.MkdirAll(a.Dir, 0o755); err != nil { //nolint:gosec // a person's own folder
		return fmt.Errorf("init: %w", err)
	}
	dir, err := a.ProjectDir()
	if err != nil {
		return err
	}
	before, err := a.Load() // with what was there before, such as the .mcp.json of a clone
	if err != nil {
		return err
	}
	done, err := scaffold.Init(dir, minimal, template)
	if err != nil {
		return err
	}
	for _, f := range done.Written {
		fmt.Fprintf(a.Out, "wrote %s\n", f)
	}
	for _, f := range done.Kept {
		fmt.Fprintf(a.Out, "kept  %s\n", f)
	}
	// Files that init wrote itself are trusted. A person decides about files that were there before.
	if len(done.Kept)+len(before.Untrusted) == 0 {
		err = trust.Add(dir)
	} else {
		err = a.askTrust(dir)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "\nNext: myc -C %[1]s tools --role guest, or connect a client: myc -C %[1]s mcp\n", a.Dir)
	if !minimal { // a minimal project grants nothing
		fmt.Fprintf(a.Out, "To start Claude Code under this policy: myc -C %[1]s claude --role developer. To install the hook in an "+
			"agent: myc -C %[1]s hook install claude (or codex, gemini, crush)\n", a.Dir)
	}
	return nil
}

// askTrust asks a person at a terminal. Elsewhere it prints the command to run.
func (a *App) askTrust(dir string) error {
	if trusted, err := trust.Has(dir); err != nil || trusted {
		return err
	}
	if !StdinIsTerminal(a.In) || fence.AgentHere(a.Environ) != "" {
		fmt.Fprintf(a.Err, "myc: %s is not trusted: its own servers, skills and rules do not take effect\nhint: read them, then run: "+
			"myc -C %s trust\n", dir, a.Dir)
		return nil
	}
	fmt.Fprintf(a.Err, "Let the servers, skills and rules of %s take effect? [y/N] ", dir)
	line, err := bufio.NewReader(a.In).ReadString('\n')
	if err != nil || !strings.EqualFold(strings.TrimSpace(line), "y") {
		return nil //nolint:nilerr // no answer is a no
	}
	return trust.Add(dir)
}

// CheckTrust asks for trust in the project folder, or says that it is missing. A command goes on without trust: then only the user's own
// files and the built-in server take effect.
func (a *App) CheckTrust() error {
	dir, err := a.ProjectDir()
	if err != nil {
		return err
	}
	if trusted, err := trust.Has(dir); err != nil || trusted {
		return nil //nolint:nilerr // a list that cannot be read trusts nothing, and loading says so
	}
	p, err := a.Load()
	if err != nil || len(p.Untrusted) == 0 {
		return err
	}
	return a.askTrust(dir)
}
