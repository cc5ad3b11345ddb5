// Package agentshell stands between an agent and its shell. An agent that [Prepare] was called for starts our program instead of a command;
// the program runs what the hook admitted for this session, in the sandbox that the policy wants, and refuses the rest. So the hook holds
// also where an agent's settings switch it off.
//
// Everything that the program knows lies in the folder of the run, in the state, where no agent writes. It finds that folder by its own
// name: the agent is told to start a link in it.
package agentshell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/hook"
	"mycelium/internal/node/agentshell/shim"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"mycelium/internal/state"
)

// The names in the folder of a run.
const (
	noteName    = "shell.json"
	ticketsName = "tickets"
	wantsName   = "wants"     // what commands lacked in the sandbox
	tempName    = "tmp"       // what commands in the sandbox find at /tmp
	gitName     = "gitconfig" // who commits
)

// NoteOf returns the file with the [Note] of a run.
func NoteOf(folder string) string { return filepath.Join(folder, noteName) }

// Note is what the program knows of its run.
type Note struct {
	Agent   string   `json:"agent"`
	Folder  string   `json:"folder"`          // absolute, with links resolved: the project's, or that of a linked worktree of it
	Project string   `json:"project"`         // likewise: the project's
	State   string   `json:"state"`           // the folder with the state of every project, which commands in the sandbox do not see
	ID      string   `json:"id,omitzero"`     // the project id that a person chose; empty: from the path of the project
	Home    string   `json:"home"`            // the person's; empty: none
	Lines   []string `json:"lines"`           // lines for a shell that the agent's settings had when it was started: they run as they are
	Server  []string `json:"server"`          // the gateway, which the agent starts by the program too
	Within  string   `json:"within,omitzero"` // profile of the sandbox for commands whose rule wants none; empty: they run outside
	Commit  string   `json:"commit,omitzero"` // checked out in Project when the run began: its lock files say what is fetched without a question
	Served  bool     `json:"served,omitzero"` // the program asks a [Server]
	Named   bool     `json:"named"`           // the program stands in the place of commands, and is given the names of their tickets
}

// paths returns where the state of the project is.
func (n *Note) paths() (state.Paths, error) {
	if n.ID == "" {
		return state.Root(n.State).Of(n.Project), nil
	}
	return state.Root(n.State).Named(n.Project, n.ID)
}

// Prepare makes the folder of a run ready for the program. myc is the whole program, absolute. environ is the person's own.
func Prepare(folder, myc string, n Note, environ []string) error {
	for _, name := range []string{ticketsName, wantsName, tempName} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o700); err != nil {
			return fmt.Errorf("make a folder for the agent's shell: %w", err)
		}
	}
	// A commit that the agent makes later says nothing of what a person wants: it would open a registry to any name.
	of := sandbox.Command{Environ: environ, Project: n.Project}
	n.Commit = of.Head(context.Background(), n.Project)
	text, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("write what the agent's shell may run: %w", err)
	}
	if err := atomicfile.Note(filepath.Join(folder, noteName), text, 0o600); err != nil {
		return fmt.Errorf("write what the agent's shell may run: %w", err)
	}
	git := "git"
	if n.Named { // a hook has the agent's PATH
		git, _ = find("git")
	}
	sandboxed.Identify(git, filepath.Join(folder, gitName), environ)
	program := myc
	if small := filepath.Join(filepath.Dir(myc), hook.Small); n.Served && exists(small) { // which starts in a fourth of the time, and only asks
		program = small
	}
	if err := os.Symlink(program, shim.Path(folder)); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("put a program before the agent's shell: %w", err)
	}
	return nil
}

// readNote reads the note of a run.
func readNote(folder string) (n Note, err error) {
	text, err := os.ReadFile(filepath.Join(folder, noteName))
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil {
		return n, fmt.Errorf("read what the agent's shell may run: %w", err)
	}
	return n, nil
}
