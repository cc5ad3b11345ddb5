package sandbox

import (
	"fmt"

	"mycelium/internal/node/project"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"mycelium/internal/text"
)

// ofProject is what a command on the project has.
func (a *app) ofProject() (sandbox.Command, error) {
	if err := a.Find(project.NeedsProject); err != nil {
		return sandbox.Command{}, err
	}
	folder, err := a.Folder()
	if err != nil {
		return sandbox.Command{}, err
	}
	paths, err := a.Know()
	if err != nil {
		return sandbox.Command{}, err
	}
	return sandboxed.Command(folder, paths, a.Getenv("HOME"), a.Environ)
}

// say tells what the command left that did not stay.
func (a *app) say(c *sandbox.Command, left sandbox.Left) {
	for _, path := range left.Quarantined {
		fmt.Fprintf(a.Err, "myc: the command made %s, which would govern agents: it is in %s now\n", text.Visible(path), c.Quarantine)
	}
	for _, key := range left.Settings {
		fmt.Fprintf(a.Err, "myc: the command set %s in the configuration of git: git may run what it says, so it was not kept\n",
			text.Visible(key))
	}
}
