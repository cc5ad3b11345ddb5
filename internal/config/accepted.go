package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/backend"
	"mycelium/internal/config/accept"
	"mycelium/internal/config/servers"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/text"
)

// The values of trust: in the user's file.
const (
	trustContent = "content" // the default: what is accepted is in force
	trustFolder  = "folder"  // of a project that was accepted once, the files are in force as they are on disk
	// as content; and myc trust accepts without a question what only narrows
	TrustNarrowing = "narrowing"
)

// The bounds of what can be accepted, in bytes. A larger file that a server names counts by its digest alone.
const (
	maxKept    = 16 << 20 // one file
	maxCopied  = 1 << 20  // one file that a server names
	maxKeptAll = 64 << 20 // all files
)

// storeOf returns where the accepted copy of the project is. A project that is used with another main file (--config) has one for each.
func storeOf(p *Project) accept.Store {
	which := "project"
	if p.main != filepath.Join(p.Dir, source.MainFile) {
		sum := sha256.Sum256([]byte(p.main))
		which = "config-" + hex.EncodeToString(sum[:8])
	}
	return accept.At(filepath.Join(p.State.Accepted(), which))
}

// readProject reads the project's layer from the accepted copy. Where nothing was accepted, the layer is empty and the list of its files
// is kept, to show what consent would bring; files that could restrict deny every call until then.
func readProject(p *Project, user *layer) *layer {
	l := newLayer(p, "project", p.Dir, p.main)
	if p.options.OnDisk {
		p.Trusted = true
		l.readAll()
		l.keepNamed(append(slices.Clone(user.servers), l.servers...))
		p.kept, p.unkept = l.kept, l.unkept
		return l
	}
	var err error
	if p.accepted = p.options.trial; p.accepted == nil {
		p.accepted, err = storeOf(p).Read()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return unaccepted(p, l)
	case err != nil:
		return damaged(p, l, err)
	case user.doc.Trust == trustFolder && p.options.trial == nil:
		p.Trusted = true
		return l.readAll()
	}
	p.Trusted = true
	l.copy = p.accepted
	l.readAll()
	l.keepNamed(l.servers) // to watch them
	return l
}

// unaccepted drops a layer of which nobody has accepted anything. Servers and skills alone could only grant.
func unaccepted(p *Project, l *layer) *layer {
	l.readAll()
	p.Untrusted = l.files
	out := &layer{watched: l.watched}
	restricts := slices.DeleteFunc(slices.Clone(l.files), func(file string) bool {
		return file == source.ClientFile || strings.HasPrefix(file, source.SkillsFolder+"/")
	})
	if len(restricts) > 0 {
		why := "nobody has accepted what governs this folder (" + strings.Join(restricts, ", ") + ")"
		out.problems = []policy.Problem{source.Fault("", 0, why+": no call is allowed", "look at it and accept it: myc trust")}
		out.broken.All = why
	}
	return out
}

// damaged stands for a copy that cannot be used. Nobody knows what it would have restricted.
func damaged(p *Project, l *layer, err error) *layer {
	why := "what was accepted for this folder cannot be read: " + err.Error()
	l.readAll()
	p.Damaged = why
	return &layer{
		watched: l.watched, broken: policy.Broken{All: why},
		problems: []policy.Problem{source.Fault("", 0, why, "look at the files of the folder and accept them anew: myc trust")},
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
	data, err := readBounded(path)
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

// readBounded reads a regular file that may hold anything.
func readBounded(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("it is not a regular file (%s)", st.Mode().Type())
	}
	f, _, err := atomicfile.Open(path) // a pipe may have taken its place since the look at it
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKept+1))
	if len(data) > maxKept {
		return nil, fmt.Errorf("it is larger than %d MiB", maxKept>>20)
	}
	return data, err
}

// keepSkills adds every file of the skills, scripts and templates among them.
func (l *layer) keepSkills(dir string, fsys fs.FS) {
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
		l.keepFile(path, false)
		if total += len(l.kept[accept.Name(l.dir, path)].Data); total > maxKeptAll {
			l.unkept = append(l.unkept, source.Fault(l.shown(dir), 0, fmt.Sprintf("cannot be accepted: its files have more than %d MiB",
				maxKeptAll>>20), "move what no skill needs to another folder"))
			return
		}
	}
}

// keepUnread adds the files of the folders that nothing reads yet.
func (l *layer) keepUnread() {
	if l.copy != nil || l.origin != "project" {
		return
	}
	for _, folder := range []string{source.ProtocolsFolder, source.WorkflowsFolder} {
		n := 0
		_ = filepath.WalkDir(filepath.Join(l.dir, folder), func(path string, d fs.DirEntry, err error) error {
			switch n++; {
			case err != nil || n > maxWatched:
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

// keepNamed adds the files of the project that servers name.
func (l *layer) keepNamed(all []servers.Server) {
	for _, s := range all {
		for _, path := range servers.NamedFiles(s.Server, l.dir) {
			if _, ok := l.kept[accept.Name(l.dir, path)]; !ok {
				l.watched = append(l.watched, path)
				l.keepFile(path, true)
			}
		}
	}
}

// MayStart says why a server may not be started now: a file of the project that it runs is not as it was accepted. It reads the files and
// what is accepted anew.
func (p *Project) MayStart(s backend.Server) error {
	if p.options.OnDisk || p.options.Policy != "" || p.Dir == p.UserDir || inFolder(p) {
		return nil
	}
	l := newLayer(p, "project", p.Dir, p.main)
	l.keepNamed([]servers.Server{{Server: s}})
	for _, problem := range l.unkept {
		return fmt.Errorf("%s %s", problem.File, problem.Message)
	}
	if len(l.kept) == 0 {
		return nil
	}
	accepted, err := storeOf(p).Read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, c := range l.kept.Changes(accepted) {
		if c.Kind != accept.Removed {
			return text.Hinted(fmt.Errorf("it may not be started: %s, which it runs, is not as it was accepted", c.File),
				"myc trust shows the change and accepts it")
		}
	}
	return nil
}

// inFolder reports whether the files are in force as they are on disk.
func inFolder(p *Project) bool { return p.File.Trust == trustFolder && p.accepted != nil }

// Candidate is the files of a project as they are on disk: read once, to be shown and accepted.
type Candidate struct {
	Current  *Project        // what is in force
	Project  *Project        // what the files say
	Files    accept.Set      // their bytes
	Digest   string          // over all of them
	Changes  []accept.Change // against what is accepted
	Accepted *accept.Accepted
	Why      []policy.Problem // why they cannot be accepted; empty: they can

	store accept.Store
}

// Candidate reads the files of the project as they are now.
func (p *Project) Candidate() (*Candidate, error) {
	c := &Candidate{Current: p, Accepted: p.accepted, Files: accept.Set{}, store: storeOf(p)}
	if p.Dir == p.UserDir || p.options.Policy != "" {
		c.Project, c.Digest = p, c.Files.Digest()
		return c, nil
	}
	o := p.options
	o.OnDisk = true
	var err error
	if c.Project, err = Load(o); err != nil {
		return nil, err
	}
	c.Files = c.Project.kept
	c.Digest = c.Files.Digest()
	c.Changes = c.Files.Changes(c.Accepted)
	if inFolder(p) {
		c.Changes = nil
	}
	c.Why = slices.Concat(c.Project.unkept, faults(c.Project))
	return c, nil
}

// faults are the problems for which files cannot be accepted: something that could restrict does not load.
func faults(p *Project) []policy.Problem {
	if p.Broken.All == "" && len(p.Broken.Roles) == 0 && p.Unjudged == "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Problems), func(pr policy.Problem) bool { return pr.Warning })
}

// Edited returns the candidate in which one file of what is accepted has another content, and nothing else differs. It writes a copy into
// an empty folder, which the caller removes.
func Edited(p *Project, folder, name string, data []byte) (*Candidate, error) {
	if p.accepted == nil {
		return nil, errors.New("nothing of this project is accepted")
	}
	files, err := p.accepted.Contents()
	if err != nil {
		return nil, err
	}
	files[name] = accept.File{Data: data, Exec: files[name].Exec}
	trial := accept.At(folder)
	if err := trial.Write(files, time.Time{}); err != nil {
		return nil, err
	}
	o := p.options
	if o.trial, err = trial.Read(); err != nil {
		return nil, err
	}
	c := &Candidate{Accepted: p.accepted, Files: files, Digest: files.Digest(), store: storeOf(p)}
	if c.Project, err = Load(o); err != nil {
		return nil, err
	}
	c.Changes = slices.DeleteFunc(files.Changes(p.accepted), func(ch accept.Change) bool { return ch.File != name })
	c.Why = faults(c.Project)
	for _, pr := range c.Project.Problems { // a skill breaks itself only, and yet nobody means to write a broken one
		if pr.File == name && !pr.Warning && !slices.Contains(c.Why, pr) {
			c.Why = append(c.Why, pr)
		}
	}
	return c, nil
}

// Before returns the accepted content of a file; nil if there is none, or no copy of it.
func (c *Candidate) Before(name string) []byte {
	if c.Accepted == nil {
		return nil
	}
	data, err := os.ReadFile(c.Accepted.Path(name))
	if err != nil {
		return nil
	}
	return data
}

// Accept puts the files in force, with the bytes that were read.
func (c *Candidate) Accept(now time.Time) error {
	if len(c.Why) > 0 {
		return errors.New("what does not load cannot be accepted")
	}
	return c.store.Write(c.Files, now)
}

// Write makes a change of an operator: in the project, and where a copy is accepted in that copy too, each for itself. So the change is in
// force, and what else differs in the project stays pending. change gets the folders; the project is the last.
func (p *Project) Write(now time.Time, change func(folders []string) error) error {
	if err := os.MkdirAll(p.State.Folder(), 0o700); err != nil {
		return fmt.Errorf("change files: %w", err)
	}
	lock, err := atomicfile.LockWait(p.State.EditLock(), 5*time.Second)
	if err != nil {
		return fmt.Errorf("change files: %w", err)
	}
	defer func() { _ = lock.Unlock() }() // the end of the process releases it too
	s := storeOf(p)
	if _, err := s.Read(); errors.Is(err, fs.ErrNotExist) || p.Dir == p.UserDir {
		return change([]string{p.Dir})
	}
	return s.Amend(now, func(folder string) error { return change([]string{folder, p.Dir}) })
}

// Tell reports whether nobody was told of these files before, and notes that somebody was.
func (c *Candidate) Tell() (fresh bool, err error) { return c.store.Tell(c.Digest) }

// Postpone notes that a person does not want to be asked about these files now.
func (c *Candidate) Postpone() error { return c.store.Postpone(c.Digest) }

// Postponed reports whether a person has said of these files: not now.
func (c *Candidate) Postponed() bool { return c.store.Postponed(c.Digest) }

// Summary says in one line what waits; "" if nothing does.
func (c *Candidate) Summary() string {
	const most = 5
	var names []string
	for _, ch := range c.Changes {
		names = append(names, ch.File+" ("+ch.Kind+")")
	}
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return text.OneLine(strings.Join(names, ", "))
}

// Revoke takes back what was accepted for the project, and reports whether something was.
func (c *Candidate) Revoke() (bool, error) { return c.store.Remove() }
