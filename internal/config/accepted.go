package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/backend"
	"mycelium/internal/config/accept"
	"mycelium/internal/config/servers"
	"mycelium/internal/config/shipped"
	"mycelium/internal/config/source"
	"mycelium/internal/config/watch"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/text"
)

// The values of trust: in the user's file.
const (
	trustContent   = "content"   // the default: what is accepted is in force
	TrustFolder    = "folder"    // of a project that was accepted once, the files are in force as they are on disk
	TrustNarrowing = "narrowing" // as content; and myc trust accepts without a question what only narrows
)

// The bounds of what can be accepted, in bytes. A larger file that a server names counts by its digest alone.
const (
	maxKept    = 16 << 20 // one file
	maxCopied  = 1 << 20  // one file that a server names
	maxKeptAll = 64 << 20 // all files
)

// Acceptance is what a person has accepted of the files of one folder, the user's or the project's.
type Acceptance struct {
	Trusted   bool     // the folder's own files took effect, as a person has accepted them
	Untrusted []string // the files that would take effect if nothing else than a person's consent were missing
	Damaged   string   // why what was accepted cannot be used; then no call is allowed

	origin   string // ofUser or ofProject
	home     string // of the user
	dir      string
	main     string // absolute path of the folder's mycelium.yaml, or of the file that replaces it
	lock     string // to hold while an operator changes the files
	store    accept.Store
	runs     string           // a pattern for the folders of runs of agents
	ships    *shipped.Files   // what comes with the program
	accepted *accept.Accepted // nil: nothing, or it cannot be read
	kept     accept.Set       // of files that were read as they are on disk: those that govern; else nil
	unkept   []policy.Problem // why some of them cannot be accepted
}

// findAccepted says which folders govern, and where what was accepted of them lies: of the user's folder one copy for every project, and
// of a project that is used with another main file (--config) one for each.
func findAccepted(p *Project) {
	ships := cmp.Or(p.options.Shipped, shipped.Own())
	p.User = Acceptance{origin: ofUser, home: p.Home, dir: p.UserDir, main: filepath.Join(p.UserDir, source.MainFile),
		lock: p.State.UserEditLock(), store: accept.At(p.State.UserAccepted()), ships: ships}
	p.User.runs = p.State.Runs()
	if p.Dir == p.UserDir {
		p.Acceptance = p.User
		return
	}
	p.Acceptance = Acceptance{origin: ofProject, home: p.Home, dir: p.Dir, main: p.main, lock: p.State.EditLock(),
		ships: ships, runs: p.State.Runs(),
		store: accept.At(filepath.Join(p.State.Accepted(), accept.StoreName(p.Dir, p.main)))}
}

// Missing reports whether there are files of which nobody has accepted anything.
func (a *Acceptance) Missing() bool { return len(a.Untrusted) > 0 }

// Empty reports whether the folder was read as it is on disk, and has no file that governs.
func (a *Acceptance) Empty() bool { return a.kept != nil && len(a.kept) == 0 }

// Accepted returns the accepted content of a file; nil if there is none, or no copy of it.
func (a *Acceptance) Accepted(name string) []byte {
	if a.accepted == nil {
		return nil
	}
	data, err := os.ReadFile(a.accepted.Path(name))
	if err != nil {
		return nil
	}
	return data
}

// read reads the layer from its accepted copy. Where nothing was accepted, the layer is empty and the list of its files is kept, to
// show what consent would bring; files that could restrict deny every call until then. If inFolder is set, the files are read as they are
// on disk if anything was accepted.
func (a *Acceptance) read(o *Options, inFolder bool) *layer {
	l := newLayer(a)
	if o.OnDisk || o.disk == a.origin {
		a.Trusted = true
		return l.readAll()
	}
	trial, err := o.trial, error(nil)
	if a.accepted = trial[a.origin]; a.accepted == nil {
		a.accepted, err = a.store.Read()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return a.without(l)
	case err != nil:
		return a.damaged(l, err)
	}
	a.Trusted = true
	if inFolder && trial == nil {
		return l.readAll()
	}
	l.copy = a.accepted
	return l.readAll()
}

// without drops a layer of which nobody has accepted anything. A project's servers and skills alone could only grant; the user's bound
// those of the same name in every project.
func (a *Acceptance) without(l *layer) *layer {
	l.readAll()
	a.Untrusted = l.files
	out := &layer{watched: l.watched}
	restricts := slices.DeleteFunc(slices.Clone(l.files), func(file string) bool {
		return a.origin == ofProject && (file == source.ClientFile || strings.HasPrefix(file, source.SkillsFolder+"/"))
	})
	if len(restricts) > 0 {
		what := "what governs this folder"
		if a.origin == ofUser {
			what = "the user's own files"
		}
		why := "nobody has accepted " + what + " (" + strings.Join(restricts, ", ") + ")"
		out.problems = []policy.Problem{source.Fault("", 0, why+": no call is allowed", "look at it and accept it: myc trust")}
		out.broken.All = why
	}
	return out
}

// damaged stands for a copy that cannot be used. Nobody knows what it would have restricted.
func (a *Acceptance) damaged(l *layer, err error) *layer {
	whose := "for this folder"
	if a.origin == ofUser {
		whose = "of the user's own files"
	}
	a.Damaged = "what was accepted " + whose + " cannot be read: " + err.Error()
	l.readAll()
	return &layer{
		watched: l.watched, broken: policy.Broken{All: a.Damaged},
		problems: []policy.Problem{source.Fault("", 0, a.Damaged, "look at the files of the folder and accept them anew: myc trust")},
	}
}

// keep adds a file that was read to the files that govern.
func (l *layer) keep(path string, data []byte) {
	if l.copy != nil {
		return
	}
	if st, err := os.Stat(path); err == nil {
		l.kept[accept.Name(l.dir, path)] = accept.File{Data: data, Exec: st.Mode()&0o111 != 0, Time: st.ModTime()}
	}
}

// keepShipped adds a file of the program to those that govern, under the name that it has when it lies in the folder.
func (l *layer) keepShipped(path string, data []byte) {
	l.kept[accept.Name(l.dir, path)] = accept.File{Data: data, Time: shipped.Time(), Shipped: true}
}

// forget takes back that a file was read, because it belongs to another program.
func (l *layer) forget(path string) {
	l.files = l.files[:len(l.files)-1]
	delete(l.kept, accept.Name(l.dir, path))
}

// keepFile reads a file that governs without being read as configuration.
func (l *layer) keepFile(path string, loose bool) {
	if l.copy != nil {
		return
	}
	data, err := source.ReadRegular(path, maxKept)
	if err != nil {
		l.unkept = append(l.unkept, source.Fault(l.shown(path), 0, "cannot be accepted: "+source.Reason(err), "correct it, or remove it"))
		return
	}
	l.keep(path, data)
	if f := l.kept[accept.Name(l.dir, path)]; loose && len(data) > maxCopied {
		f.Loose = true
		l.kept[accept.Name(l.dir, path)] = f
	}
}

// keepSkills adds every file of the skills, scripts and templates among them.
func (l *layer) keepSkills(dir string, fsys shipped.Skills) {
	if l.copy != nil {
		return
	}
	names, unread := skill.Files(fsys)
	for _, name := range slices.Sorted(maps.Keys(unread)) {
		l.unkept = append(l.unkept, source.Fault(l.shown(filepath.Join(dir, name)), 0,
			"cannot be accepted: "+source.Reason(unread[name]), "correct it, or remove it"))
	}
	total := 0
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if data := fsys.Shipped(name); data != nil {
			l.keepShipped(path, data)
		} else {
			l.keepFile(path, false)
		}
		if total += len(l.kept[accept.Name(l.dir, path)].Data); total > maxKeptAll {
			l.unkept = append(l.unkept, source.Fault(l.shown(dir), 0, fmt.Sprintf("cannot be accepted: its files have more than %d MiB",
				maxKeptAll>>20), "move what no skill needs to another folder"))
			return
		}
	}
}

// keepUnread adds the files of the folders that nothing reads yet.
func (l *layer) keepUnread() {
	if l.copy != nil {
		return
	}
	for _, folder := range []string{source.ProtocolsFolder, source.WorkflowsFolder} {
		n := 0
		_ = filepath.WalkDir(filepath.Join(l.dir, folder), func(path string, d fs.DirEntry, err error) error {
			switch n++; {
			case err != nil || n > watch.Most:
				return fs.SkipAll //nolint:nilerr // no folder, or none that can be read: there is nothing that could govern
			case strings.HasPrefix(d.Name(), "."):
				if d.IsDir() {
					return fs.SkipDir
				}
			case d.Type().IsRegular():
				l.keepFile(path, false)
			}
			return nil
		})
	}
}

// keepNamed adds the files that servers name to those that govern.
func keepNamed(p *Project, own, project *layer) {
	own.keepNamed(own.servers)
	project.keepNamed(project.servers)
	if project.copy == nil && project.dir != "" {
		project.keepNamed(own.servers)
	}
	if own.copy == nil {
		p.User.kept, p.User.unkept = own.kept, own.unkept
	}
	if project.copy == nil {
		p.kept, p.unkept = project.kept, project.unkept
	}
}

// keepNamed adds the files of the folder that servers run. One that does not exist is watched: if it appears, it waits like any new file.
func (l *layer) keepNamed(all []servers.Server) {
	for _, s := range all {
		files, whole := servers.Governing(s.Server, l.dir)
		if !whole && l.copy == nil {
			l.problems = append(l.problems, source.Warning("", 0, "server "+s.Name+" runs more files of this folder than are looked for",
				"what is beyond them has effect without consent; start the server from a folder of its own"))
		}
		for _, path := range files {
			if _, ok := l.kept[accept.Name(l.dir, path)]; ok {
				continue
			}
			l.watched.Note(path)
			if st, err := os.Stat(path); err == nil && !st.IsDir() {
				l.keepFile(path, true)
			}
		}
	}
}

// MayStart says why a server may not be started now: a file of the project or of the user's folder that it runs is not as it was accepted.
// It reads the files and what is accepted anew.
func (p *Project) MayStart(s backend.Server) error {
	if p.options.OnDisk || p.options.Policy != "" {
		return nil
	}
	for _, a := range governing(p) {
		if a.origin == ofProject && inFolder(p) {
			continue
		}
		if err := a.mayRun(s); err != nil {
			return err
		}
	}
	return nil
}

// mayRun is MayStart for the files of one folder.
func (a *Acceptance) mayRun(s backend.Server) error {
	l := newLayer(a)
	l.keepNamed([]servers.Server{{Server: s}})
	for _, problem := range l.unkept {
		return fmt.Errorf("%s %s", problem.File, problem.Message)
	}
	if len(l.kept) == 0 {
		return nil
	}
	accepted, err := a.store.Read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, c := range l.kept.Changes(accepted) {
		if c.Kind != accept.Removed {
			hint := "myc trust shows the change and accepts it"
			if servers.MayBeData(s, l.dir, filepath.Join(l.dir, filepath.FromSlash(c.File))) {
				hint += fmt.Sprintf("; if the server itself writes to this file, add data: [%q] to mcpServers.%s",
					filepath.Join(l.dir, filepath.FromSlash(c.File)), s.Name)
			}
			return text.Hinted(fmt.Errorf("it may not be started: %s, which it runs, is not as it was accepted", c.File), hint)
		}
	}
	return nil
}
