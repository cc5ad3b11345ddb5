package project

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/config/source"
	"mycelium/internal/daemon"
	"mycelium/internal/hook"
	"mycelium/internal/node/fence"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
)

// State returns the paths of the project's state.
func (l *Loader) State() (state.Paths, error) {
	p, _, err := l.place()
	return p, err
}

// Paths returns the project folder and where its daemon is.
func (l *Loader) Paths() (dir string, paths daemon.Paths, err error) {
	s, agent, err := l.place()
	if err != nil {
		return "", daemon.Paths{}, err
	}
	return s.Project, daemonOf(s, agent, l.Environ), nil
}

// daemonOf returns where the daemon of a project is. An owner that an agent started makes its socket where one of the person's would.
func daemonOf(s state.Paths, agent bool, environ []string) daemon.Paths {
	if agent {
		note, _ := s.ReadNote() // without one, nothing owns the project
		environ = note.Environ
	}
	return daemon.PathsOf(s, valueIn(environ, "XDG_RUNTIME_DIR"))
}

// place returns the paths of the project's state, and whether an agent started this program.
func (l *Loader) place() (p state.Paths, agent bool, err error) {
	dir, err := l.ProjectDir()
	if err != nil {
		return state.Paths{}, false, err
	}
	agent = l.ofAgent()
	root, err := l.root(dir, agent)
	switch {
	case err == nil && l.Outside:
		return root.Outside(dir), agent, nil
	case err != nil || l.ID == "":
		return root.Of(dir), agent, err
	}
	if err := l.mayName("another project id"); err != nil {
		return state.Paths{}, agent, err
	}
	if p, err = root.Named(dir, l.ID); err != nil {
		err = failure.New(failure.Usage, err, "")
	}
	return p, agent, err
}

// ofAgent reports whether an agent started this program. Then its environment is the agent's, and says nothing about the person. A token
// alone is no sign of that: people and CI use the tokens of sessions too.
func (l *Loader) ofAgent() bool {
	return l.Agent || fence.AgentHere(slices.DeleteFunc(slices.Clone(l.Environ), func(kv string) bool {
		return strings.HasPrefix(kv, hook.TokenVar+"=")
	})) != ""
}

// root returns the folder of the program's state: what --state says, else the one of the account or of the person.
func (l *Loader) root(dir string, agent bool) (state.Root, error) {
	find := func() (state.Root, error) { return state.OfPerson(l.Getenv) }
	switch {
	case l.StateDir != "" && !filepath.IsAbs(l.StateDir):
		return "", failure.Usagef("--state %s: it is no absolute path", l.StateDir)
	case l.StateDir != "":
		if l.within(dir, l.StateDir, agent) {
			return "", failure.New(failure.Usage, fmt.Errorf("--state %s: it lies in the project, where an agent can change it", l.StateDir),
				"name a folder outside of every project")
		}
		return state.Root(l.StateDir), l.mayName("another state folder")
	case agent:
		find = state.OfAccount
	}
	root, err := find()
	if err == nil && l.within(dir, string(root), agent) {
		err = fmt.Errorf("state: %s: it lies in the project, where an agent can change it", root)
	}
	if err != nil {
		return "", failure.New(failure.Config, err, "state: in your own mycelium.yaml names a folder outside of every project")
	}
	return root, nil
}

// within reports whether a state folder lies in the project, and does not lie there by itself because the project is a home folder.
func (l *Loader) within(dir, root string, agent bool) bool {
	return !l.usual(root, agent) && (source.Within(dir, source.Resolve(root)) || source.Within(dir, filepath.Clean(root)))
}

// mayName refuses to an agent to name where the state is. For a hook and for `myc mcp`, an installer pins that.
func (l *Loader) mayName(what string) error {
	if l.Agent {
		return nil
	}
	if why := fence.AgentHere(l.Environ); why != "" {
		return failure.New(failure.Denied, fmt.Errorf("%s: only a person may name one, and %s", what, why),
			"run it in your own terminal, outside the agent")
	}
	return nil
}

// usual reports whether a folder is where the state lies by itself. That may be in the project, if the project is a home folder. An agent's
// environment does not say where that is.
func (l *Loader) usual(dir string, agent bool) bool {
	home, _ := state.AccountHome()
	account, _ := state.UsualOfPerson(func(name string) string { return map[string]string{"HOME": home}[name] })
	if filepath.Clean(dir) == string(account) || agent {
		return filepath.Clean(dir) == string(account)
	}
	person, _ := state.UsualOfPerson(l.Getenv)
	return filepath.Clean(dir) == string(person)
}

// Know makes the state of the project known, with what this environment says about its person, and a key for its daemon. If an agent
// started this program, the state must be known already: absent never means new. Nor does it for a person if the project probably has a
// state somewhere else.
func (l *Loader) Know() (state.Paths, error) {
	p, agent, err := l.place()
	if err != nil {
		return p, err
	}
	if agent {
		_, err := p.ReadNote()
		if err == nil && !usable(p.DaemonKey()) {
			err = failure.New(failure.Denied, fmt.Errorf("the state of %s has no key for its daemon", p.Project),
				fmt.Sprintf("a person makes it: myc -C %s trust", p.Project))
		}
		return p, unknown(p, err)
	}
	if err := l.resume(p); err != nil {
		return p, err
	}
	if _, err := p.ReadNote(); errors.Is(err, state.ErrUnknown) {
		if err := l.elsewhere(p); err != nil {
			return p, err
		}
	}
	return p, l.know(p)
}

// KnowNew is Know for a person who begins a new state, whatever there is somewhere else.
func (l *Loader) KnowNew() (state.Paths, error) {
	p, err := l.State()
	if err != nil {
		return p, err
	}
	return p, l.know(p)
}

// know writes the note of a project with what the person's environment says.
func (l *Loader) know(p state.Paths) error {
	note, err := p.ReadNote()
	fresh := errors.Is(err, state.ErrUnknown)
	if err != nil && !fresh {
		return err
	}
	now := note
	now.Home, now.Config = source.HomeFolders(l.Environ)
	now.Environ = Kept(l.Environ)
	if err := makeKey(p.DaemonKey()); err != nil {
		return err
	}
	if !fresh && now.Home == note.Home && now.Config == note.Config && slices.Equal(now.Environ, note.Environ) {
		return nil
	}
	if now.Since.IsZero() {
		now.Since = time.Now().UTC().Truncate(time.Second)
	}
	return p.WriteNote(now)
}

// keyWait is how long to wait for another process that makes the same key, which takes milliseconds.
const keyWait = 5 * time.Second

// makeKey makes the key of a project's daemon, unless there is one.
func makeKey(path string) error {
	if usable(path) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the daemon's key: %w", err)
	}
	lock, err := atomicfile.LockWait(path+".lock", keyWait)
	if err != nil {
		return fmt.Errorf("make the key of the daemon: %w", err)
	}
	if !usable(path) {
		fresh := make([]byte, daemon.KeySize)
		_, _ = rand.Read(fresh) // crypto/rand ends the program instead of failing
		err = atomicfile.Write(path, fresh, 0o600)
	}
	if err = errors.Join(err, lock.Unlock()); err != nil {
		return fmt.Errorf("make the key of the daemon: %w", err)
	}
	return nil
}

// usable reports whether a file is a key. A damaged one is made anew: whoever has the old one is not believed any more.
func usable(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode().IsRegular() && st.Size() == daemon.KeySize
}

// unknown adds to an error of the note how a person makes the state known.
func unknown(p state.Paths, err error) error {
	if !errors.Is(err, state.ErrUnknown) {
		return err
	}
	hint := fmt.Sprintf("a person accepts it: myc -C %s trust; its state is looked for in %s, and --state names another folder",
		p.Project, p.Root)
	if from, _, moved := p.MovedFrom(); moved {
		hint = fmt.Sprintf("it may be %s, which was moved; then a person brings its log and sessions here: myc -C %s trust --moved",
			from.Project, p.Project)
	}
	return failure.New(failure.Denied, err, hint)
}
