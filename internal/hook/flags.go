package hook

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"mycelium/internal/harness"
	"mycelium/internal/state"
)

// Flags are the arguments of the entry in an agent's configuration.
type Flags struct {
	Agent    string
	Dir      string        // the project folder; "": see Project
	State    state.Root    // the state folder that the installer pinned; "": see Root
	ID       string        // the project id that the installer pinned; "": from the path of the folder
	Event    string        // the event; "": the input names it
	Gateway  string        // the name of our gateway in the agent's configuration; "": it has none
	Door     string        // the socket at which an agent in the sandbox is answered; "": the daemon answers
	Limit    time.Duration // how long the agent waits; 0: the agent's own default
	Fault    string        // why another process could not decide: the denial is only recorded
	Deadline time.Duration // how long the answer may take, at most as long as Limit allows; 0: as long as that
}

// ParseFlags parses `hook AGENT …` as installers write it. ok is false for any other arguments.
func ParseFlags(args []string) (f Flags, ok bool) {
	if len(args) < 2 || args[0] != "hook" || !slices.Contains(harness.Names(), args[1]) {
		return f, false
	}
	f.Agent = args[1]
	for rest := args[2:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) < 2 {
			return f, false
		}
		var err error
		switch value := rest[1]; rest[0] {
		case "-C", "--dir":
			f.Dir = value
		case "--state":
			f.State = state.Root(value)
		case "--project-id":
			f.ID = value
		case "--event":
			f.Event = value
		case "--gateway":
			f.Gateway = value
		case "--mend": // for the person who reads the entry
		case "--door":
			f.Door = value
		case "--fault":
			f.Fault = value
		case "--limit":
			f.Limit, err = time.ParseDuration(value)
		case "--deadline":
			f.Deadline, err = time.ParseDuration(value)
		default:
			return f, false
		}
		if err != nil {
			return f, false
		}
	}
	return f, true
}

// Root returns the state folder: the one that the installer pinned, else the one of the account.
func (f Flags) Root() (state.Root, error) {
	switch {
	case f.State == "":
		return state.OfAccount()
	case !filepath.IsAbs(string(f.State)):
		return "", fmt.Errorf("find state folder: --state is %q, which is no absolute path", f.State)
	}
	return f.State, nil
}

// Paths returns where the state of a project folder is, or where that of calls in a folder is which belongs to no project.
func (f Flags) Paths(dir string, found bool) (state.Paths, error) {
	root, err := f.Root()
	switch {
	case err == nil && !found:
		return root.Outside(dir), nil
	case err != nil || f.ID == "":
		return root.Of(dir), err
	}
	return root.Named(dir, f.ID)
}
