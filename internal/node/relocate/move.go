package relocate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/atomicfile"
	"mycelium/internal/audit"
	"mycelium/internal/config/accept"
	"mycelium/internal/gate/facts"
	"mycelium/internal/hook/install"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// Found is a state that can be brought to a project.
type Found struct {
	From  string       // the folder of the project before, or where an earlier version kept its state
	Log   audit.Report // its log is intact
	Parts []string     // what comes along, for people
	Left  []string     // what does not, for people
}

// FindMoved looks at the state of a project that was in another folder. It returns an error if the state cannot be moved: the folder is
// still there, a process uses the state, the log is broken, or the project has a log already.
func (p *Person) FindMoved(to state.Paths, from string) (*Found, error) {
	var f *Found
	return f, p.withMoved(to, from, func(found *Found) error {
		f = found
		return nil
	})
}

// Move moves the state of a project that was in another folder, as FindMoved has found it.
func (p *Person) Move(ctx context.Context, to state.Paths, from string) error {
	return locked(to, func() error {
		return p.withMoved(to, from, func(*Found) error { return p.begin(ctx, to, moved, from) })
	})
}

// withMoved calls f with what was found while no process uses the state.
func (p *Person) withMoved(to state.Paths, from string, f func(*Found) error) error {
	was := to.Of(from)
	switch {
	case to.Chosen() != "":
		return failure.Usagef("the id %s names this project, wherever its folder is: there is nothing to move", to.Chosen())
	case from == to.Project:
		return failure.Usagef("%s is this folder", from)
	case !missing(from):
		return failure.Hint(fmt.Errorf("%s is still there: this folder is a copy, and copies are new", from),
			"accept what governs the copy: myc trust")
	case missing(was.Folder()):
		return failure.New(failure.NotFound, fmt.Errorf("there is no state of %s in %s", from, to.Root), "name the folder where the project was")
	}
	if err := empty(to); err != nil {
		return err
	}
	free, err := unused(was.DaemonLock(), to.DaemonLock())
	if err != nil {
		return err
	}
	defer free()
	found, err := p.survey(to, was)
	if err != nil {
		return err
	}
	return f(found)
}

// unused holds the locks of daemons, so that none runs; free releases them. A lock that is not there is not made.
func unused(locks ...string) (free func(), err error) {
	var held []*atomicfile.Lock
	free = func() {
		for _, l := range held {
			_ = l.Unlock()
		}
	}
	for _, path := range locks {
		if missing(path) {
			continue
		}
		l, err := atomicfile.TryLock(path)
		if errors.Is(err, atomicfile.ErrLocked) {
			holder, _ := os.ReadFile(filepath.Clean(path))
			err = failure.New(failure.Conflict, fmt.Errorf("a daemon of this project still runs: %s", strings.TrimSpace(string(holder))),
				"end it (kill and its pid), and run this again")
		}
		if err != nil {
			free()
			return nil, err
		}
		held = append(held, l)
	}
	return free, nil
}

// survey verifies the log of a state and says what there is.
func (p *Person) survey(to, was state.Paths) (*Found, error) {
	project, err := p.Load(was.For(to.Project))
	if err != nil {
		return nil, err
	}
	o, err := project.AuditLog()
	if err != nil {
		return nil, err
	}
	f := &Found{From: was.Project}
	if f.Log, err = verified(o); err != nil {
		return nil, failure.Hint(err, "the state of "+was.Project+" stays in "+was.Folder()+"; myc trust begins a new one here")
	}
	f.Parts = parts(was.Folder(), f.Log)
	return f, nil
}

// verified repairs the torn end of a log, as every start does, and verifies the log. A state without a key has no log yet.
func verified(o audit.Options) (audit.Report, error) {
	if missing(o.KeyDir) {
		return audit.Report{OK: true}, nil
	}
	log, err := audit.Open(o)
	if err == nil {
		err = log.Close()
	}
	if err == nil {
		err = intact(o)
	}
	if err != nil {
		return audit.Report{}, err
	}
	return audit.Verify(o)
}

// partNames say what the files of a state are.
func partNames() map[string]string {
	return map[string]string{
		"accepted": "what you accepted of its files", "mycelium.db": "sessions and answers to questions", "pins": "pinned definitions of tools",
		"costs": "what models have cost", "operator.json": "the token of the operator", "written": "which files sessions wrote",
	}
}

// parts says what lies in a state.
func parts(folder string, log audit.Report) []string {
	out := []string{fmt.Sprintf("the audit log: %s, verified", text.Count(int(log.Records), "record"))}
	var known []string
	for name, what := range partNames() {
		if !missing(filepath.Join(folder, name)) {
			known = append(known, what)
		}
	}
	slices.Sort(known)
	return append(out, known...)
}

// moveSteps are the steps of a move.
func (p *Person) moveSteps(to state.Paths, n journal) []step {
	was := to.Of(n.From)
	return []step{
		{"keys", func(context.Context) error { return bring(to, was.Keys(), to.Keys()) }},
		{"state", func(context.Context) error { return bring(to, was.Folder(), to.Folder()) }},
		{"accepted files", func(context.Context) error { return accept.Move(to, n.From) }},
		{"written files", func(context.Context) error { return facts.MoveWritten(to.Written(), n.From, to.Project) }},
		{"hooks", func(context.Context) error {
			_, err := install.Move(to, n.From, p.Environ)
			return err
		}},
		{"tokens", func(context.Context) error { return p.Tokens(to, n.From) }},
		{"record", func(ctx context.Context) error {
			return p.record(ctx, to, n, map[string]string{"act": "move", "from": n.From, "to": to.Project},
				"the project was moved from "+n.From+" to "+to.Project)
		}},
		{"note", func(context.Context) error { return p.Known(to) }},
	}
}

// back brings the state back to a folder to which a person moved the project while its state was on the way.
func (p *Person) back(ctx context.Context, to state.Paths, n journal) error {
	home := to.Of(n.From)
	err := locked(home, func() error { return p.begin(ctx, home, moved, n.Project) })
	if err != nil {
		return err
	}
	return os.Remove(to.Journal())
}
