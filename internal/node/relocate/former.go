package relocate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/audit"
	"mycelium/internal/config"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
)

// stays reports whether a name in a project's folder is that of views, which are no state.
func stays(name string) bool {
	return name == filepath.Base(filepath.Dir(state.ToolIndex)) || name == filepath.Base(state.Schemas) || name == ".gitignore"
}

// leftovers are the files in a project's folder that are no views: what an earlier version kept there, or somebody else's.
func leftovers(f state.Former) []string {
	if st, err := os.Lstat(f.Folder); err != nil || !st.IsDir() {
		return nil // a link leads to what no version wrote
	}
	list, err := os.ReadDir(f.Folder)
	if err != nil {
		return nil
	}
	var names []string
	for _, d := range list {
		if !stays(d.Name()) {
			names = append(names, d.Name())
		}
	}
	return names
}

// IsFormer reports whether an earlier version, run by this user, kept the state of a project. usual is the state folder that it had.
func IsFormer(usual state.Root, project string) bool {
	return !missing(filepath.Join(state.FormerOf(usual, project).Keys, audit.KeyFile))
}

// IsForeign reports whether a project has state in the place of earlier versions that this user's program did not write: a clone may bring
// it. It is never taken over.
func IsForeign(usual state.Root, project string) bool {
	f := state.FormerOf(usual, project)
	return !IsFormer(usual, project) && (!missing(f.Log) || !missing(filepath.Join(f.Folder, state.Database)))
}

// FindFormer looks at the state that an earlier version kept of a project. It returns an error if it cannot be taken over: the earlier
// version runs, the log is broken, or the project has a log already.
func (p *Person) FindFormer(to state.Paths, usual state.Root) (*Found, error) {
	var f *Found
	return f, p.withFormer(to, usual, func(found *Found, _ *formerState) error {
		f = found
		return nil
	})
}

// TakeOver takes over the state that an earlier version kept of a project, as FindFormer has found it.
func (p *Person) TakeOver(ctx context.Context, to state.Paths, usual state.Root) error {
	return locked(to, func() error {
		return p.withFormer(to, usual, func(found *Found, f *formerState) error {
			if err := f.stage(to, found.Log.Records); err != nil {
				return fmt.Errorf("copy the state of an earlier version: %w", err)
			}
			return p.begin(ctx, to, former, string(usual))
		})
	})
}

// formerState is the state that an earlier version kept.
type formerState struct {
	state.Former
	log audit.Options
	to  string // the folder of the segments in the new state, relative to it
}

// withFormer calls f with what was found while no process of the earlier version uses it.
func (p *Person) withFormer(to state.Paths, usual state.Root, do func(*Found, *formerState) error) error {
	f := &formerState{Former: state.FormerOf(usual, to.Project), to: state.AuditLog}
	if err := empty(to); err != nil {
		return err
	}
	free, err := unused(f.DaemonLock)
	if err != nil {
		return err
	}
	defer free()
	if f.log, err = p.formerLog(to, f.Former); err != nil {
		return err
	}
	found := &Found{From: f.Folder}
	if found.Log, err = verified(f.log); err != nil {
		return failure.Hint(fmt.Errorf("the log of an earlier version is not taken over: %w", err),
			fmt.Sprintf("restore its files, or keep them and begin a new log: mv %s %s.broken, then run this again", f.Keys, f.Keys))
	}
	if release, err := atomicfile.LockWait(f.LogLock, 5*time.Second); err == nil { // hooks of the earlier version write without a daemon
		defer func() { _ = release.Unlock() }()
	} else {
		return fmt.Errorf("take over the state of an earlier version: %w", err)
	}
	found.Parts = f.parts(found.Log)
	found.Left = []string{"sessions and answers to questions: their database lay where agents could write"}
	return do(found, f)
}

// formerLog returns the options of the log that an earlier version wrote.
func (p *Person) formerLog(to state.Paths, f state.Former) (audit.Options, error) {
	project, err := p.Load(to)
	if err != nil {
		return audit.Options{}, err
	}
	c, err := project.Candidate() // it read the files of the project as they are
	if err != nil {
		return audit.Options{}, err
	}
	o := audit.Options{Dir: f.Log, Lock: f.LogLock, KeyDir: f.Keys}
	if dir := c.Project.File.Audit.Dir; dir != "" && dir != config.DefaultAuditDir {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(to.Project, dir)
		}
		if missing(o.Dir) && !missing(dir) {
			o.Dir = dir
		}
	}
	return o, os.MkdirAll(f.Folder, 0o700)
}

// copied are the parts of the state in the project that come along. Those that an agent could use to give itself rights do not: the
// database has sessions, and catalogs are compared with the pins when servers start.
var copied = []string{"written", "costs", "log"}

func (f *formerState) parts(log audit.Report) []string {
	out := parts(f.Folder, log)[:1]
	for _, name := range copied {
		if what := partNames()[name]; what != "" && !missing(filepath.Join(f.Folder, name)) {
			out = append(out, what)
		}
	}
	for path, what := range map[string]string{f.Pins: partNames()["pins"], f.OperatorToken: partNames()["operator.json"]} {
		if !missing(path) {
			out = append(out, what)
		}
	}
	return out
}

// stage makes a copy of the state and verifies the log in it.
func (f *formerState) stage(to state.Paths, records int) error {
	if err := os.RemoveAll(to.Staging()); err != nil {
		return err
	}
	folder, keys := filepath.Join(to.Staging(), "state"), filepath.Join(to.Staging(), "keys")
	pairs := [][2]string{{f.Keys, keys}, {f.log.Dir, filepath.Join(folder, f.to)}, {f.Pins, filepath.Join(folder, filepath.Base(to.Pins()))},
		{f.OperatorToken, filepath.Join(folder, filepath.Base(to.OperatorToken()))}}
	for _, name := range copied {
		pairs = append(pairs, [2]string{filepath.Join(f.Folder, name), filepath.Join(folder, name)})
	}
	for _, pair := range pairs {
		if err := copyTree(pair[0], pair[1]); err != nil {
			return err
		}
	}
	o := audit.Options{Dir: filepath.Join(folder, f.to), Lock: filepath.Join(to.Staging(), "lock"), KeyDir: keys}
	r, err := audit.Verify(o)
	switch {
	case err != nil:
		return err
	case r.Broken != nil:
		return fmt.Errorf("the copy of the log is broken at %s:%d: %s", r.Broken.Segment, r.Broken.Line, r.Broken.Why)
	case r.Records < records:
		return fmt.Errorf("the copy of the log has %d records, and the log has %d", r.Records, records)
	}
	return nil
}

// formerSteps are the steps of a takeover.
func (p *Person) formerSteps(to state.Paths, n journal) []step {
	f := state.FormerOf(state.Root(n.From), to.Project)
	return []step{
		{"keys", func(context.Context) error { return bring(to, filepath.Join(to.Staging(), "keys"), to.Keys()) }},
		{"state", func(context.Context) error { return bring(to, filepath.Join(to.Staging(), "state"), to.Folder()) }},
		{"record", func(ctx context.Context) error {
			return p.record(ctx, to, n, map[string]string{"act": "take over", "from": f.Folder},
				"the log and the pins of an earlier version were taken over from "+f.Folder)
		}},
		{"note", func(context.Context) error { return p.Known(to) }},
		{"files of the earlier version", func(context.Context) error { return putAside(to, f) }},
		{"keys of the earlier version", func(context.Context) error { return dropKeys(to, f) }},
		{"copy", func(context.Context) error { return os.RemoveAll(to.Staging()) }},
	}
}

// putAside moves the files of the earlier version out of the project, into the state.
func putAside(to state.Paths, f state.Former) error {
	pairs := [][2]string{{f.Pins, "pins"}, {f.OperatorToken, "operator.json"}}
	for _, name := range leftovers(f) {
		pairs = append(pairs, [2]string{filepath.Join(f.Folder, name), filepath.Join("project", name)})
	}
	for _, pair := range pairs {
		target := filepath.Join(to.Aside(), pair[1])
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		if err := moveTree(pair[0], target); err != nil {
			return err
		}
	}
	_ = os.Remove(f.Folder) // it stays if views are in it
	return nil
}

// dropKeys removes the key of the earlier version, which is the key here.
func dropKeys(to state.Paths, f state.Former) error {
	was, err := os.ReadFile(filepath.Join(f.Keys, audit.KeyFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	is, err := os.ReadFile(filepath.Join(to.Keys(), audit.KeyFile))
	if err != nil {
		return err
	}
	if !bytes.Equal(was, is) {
		return fmt.Errorf("the key in %s is not the one in %s", f.Keys, to.Keys())
	}
	return os.RemoveAll(f.Keys)
}
