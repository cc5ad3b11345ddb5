package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/config/accept"
	"mycelium/internal/config/save"
	"mycelium/internal/config/shipped"
	"mycelium/internal/policy"
	"mycelium/internal/sandbox/light"
	"mycelium/internal/text"
)

// Candidate is the files that govern as they are on disk, the user's own and the project's: read once, to be shown and accepted.
type Candidate struct {
	Current *Project         // what is in force
	Project *Project         // what the files say
	Digest  string           // over what would be accepted: the project's files, and the user's if they differ
	Changes []Change         // against what is accepted, the user's first
	Why     []policy.Problem // why they cannot be accepted; empty: they can

	parts []part
}

// part is the files of one folder.
type part struct {
	*Acceptance // what is accepted of it
	files       accept.Set
	changes     int
}

// Change is a file that differs from what is accepted.
type Change struct {
	accept.Change        // File is the name as shown
	Yours         bool   // it is of the user's own files, which are in force for every project
	After         []byte // the content on disk

	name string // in the set of its folder
	of   *Acceptance
}

// Before returns the accepted content; nil if there is none, or no copy of it.
func (c Change) Before() []byte { return c.of.Accepted(c.name) }

// governing returns the folders whose files govern, the user's first.
func governing(p *Project) (out []*Acceptance) {
	if p.UserDir != "" {
		out = append(out, &p.User)
	}
	if p.Dir != p.UserDir && !p.options.UserOnly {
		out = append(out, &p.Acceptance)
	}
	return out
}

// Candidate reads the files of the project and of its user as they are now.
func (p *Project) Candidate() (*Candidate, error) {
	o := p.options
	o.OnDisk = true
	return candidate(p, o, governing(p)...)
}

// OwnCandidate is the candidate of the project's files alone: the user's stay as they were accepted.
func OwnCandidate(p *Project) (*Candidate, error) {
	o := p.options
	o.disk = ofProject
	if p.Dir == p.UserDir {
		return candidate(p, o)
	}
	return candidate(p, o, &p.Acceptance)
}

func candidate(p *Project, o Options, of ...*Acceptance) (*Candidate, error) {
	c := &Candidate{Current: p, Project: p}
	if p.options.Policy != "" {
		return c, nil
	}
	var err error
	if c.Project, err = Load(o); err != nil {
		return nil, err
	}
	for _, a := range of {
		read := &c.Project.Acceptance
		if a.origin == ofUser {
			read = &c.Project.User
		}
		c.add(a, read.kept)
		c.Why = append(c.Why, read.unkept...)
	}
	c.Why = append(c.Why, faults(c.Project)...)
	c.Digest = c.digest()
	return c, nil
}

// add adds the files of a folder.
func (c *Candidate) add(a *Acceptance, files accept.Set) {
	n := part{Acceptance: a, files: files}
	if a.origin != ofProject || !inFolder(c.Current) {
		for _, ch := range files.Changes(a.accepted) {
			own := Change{Change: ch, Yours: a.origin == ofUser, After: files[ch.File].Data, name: ch.File, of: a}
			own.File = a.Shown(ch.File)
			c.Changes = append(c.Changes, own)
			n.changes++
		}
	}
	c.parts = append(c.parts, n)
}

// Loadable returns the candidate of one folder alone, if the files of the other do not load: what somebody broke there keeps nobody from
// accepting these. Otherwise it is c.
func (c *Candidate) Loadable() (*Candidate, error) {
	of := 0
	for _, n := range c.parts {
		of += min(n.changes, 1)
	}
	if len(c.Why) == 0 || of < 2 {
		return c, nil
	}
	for _, n := range c.parts {
		o := c.Current.options
		o.disk = n.origin
		if alone, err := candidate(c.Current, o, n.Acceptance); err != nil || len(alone.Why) == 0 {
			return alone, err
		}
	}
	return c, nil
}

// digest is the digest of the project's files. Of the user's own, which differ from machine to machine, it has only what is to be accepted.
func (c *Candidate) digest() string {
	var digests []string
	for _, n := range c.parts {
		if n.origin == ofProject || n.changes > 0 {
			digests = append(digests, n.files.Digest())
		}
	}
	if len(digests) == 1 {
		return digests[0]
	}
	return accept.Joined(digests...)
}

// Shown is the name of a file, relative to the folder, as problems and changes have it. A file outside of a project keeps its path.
func (a *Acceptance) Shown(name string) string {
	if a.origin == ofProject {
		return name
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(a.dir, filepath.FromSlash(name))
	}
	return newLayer(a).shown(name)
}

// inFolder reports whether the files of the project are in force as they are on disk.
func inFolder(p *Project) bool { return p.File.Trust == TrustFolder && p.accepted != nil }

// faults are the problems for which files cannot be accepted: something that could restrict does not load.
func faults(p *Project) []policy.Problem {
	if p.Broken.All == "" && len(p.Broken.Roles) == 0 && p.Unjudged == "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Problems), func(pr policy.Problem) bool { return pr.Warning })
}

// Edited returns the candidate in which files of what is accepted have other contents, and nothing else differs: of the user, or of the
// project, by name; nil removes one. It writes a copy into an empty folder, which the caller removes.
func Edited(p *Project, ofTheUser bool, folder string, edits map[string][]byte) (*Candidate, error) {
	a := &p.Acceptance
	if ofTheUser {
		a = &p.User
	}
	if a.accepted == nil {
		return nil, errors.New("nothing of these files is accepted")
	}
	files, err := a.accepted.Contents()
	if err != nil {
		return nil, err
	}
	for name, data := range edits {
		if files[name] = (accept.File{Data: data, Exec: files[name].Exec}); data == nil {
			delete(files, name)
		}
	}
	trial := accept.Trial(folder)
	if err := trial.Write(files, time.Time{}); err != nil {
		return nil, err
	}
	o := p.options
	read, err := trial.Read()
	if err != nil {
		return nil, err
	}
	o.trial = map[string]*accept.Accepted{a.origin: read}
	c := &Candidate{Current: p}
	if c.Project, err = Load(o); err != nil {
		return nil, err
	}
	c.add(a, files)
	c.Digest = c.digest()
	c.Changes = slices.DeleteFunc(c.Changes, func(ch Change) bool { _, ok := edits[ch.name]; return !ok })
	c.Why = faults(c.Project)
	shown := slices.Collect(maps.Keys(edits))
	for _, pr := range c.Project.Problems { // a skill breaks itself only, and yet nobody means to write a broken one
		if slices.ContainsFunc(shown, func(n string) bool { return a.Shown(n) == pr.File }) && !pr.Warning && !slices.Contains(c.Why, pr) {
			c.Why = append(c.Why, pr)
		}
	}
	return c, nil
}

// Fresh reports whether nothing of the project is accepted.
func (c *Candidate) Fresh() bool {
	return c.Current.accepted == nil && c.Current.Dir != c.Current.UserDir
}

// Waits reports whether there is something to accept: a file that differs, or a copy that cannot be used.
func (c *Candidate) Waits() bool {
	return len(c.Changes) > 0 || slices.ContainsFunc(c.parts, func(n part) bool { return n.Damaged != "" })
}

// OfUser reports whether files of the user differ.
func (c *Candidate) OfUser() bool {
	return slices.ContainsFunc(c.Changes, func(ch Change) bool { return ch.Yours })
}

// Outside reports whether the candidate is of no project: nothing of the folder was ever accepted, and [Candidate.Accept] changes nothing
// there.
func (c *Candidate) Outside() bool { return c.Fresh() && !c.OfProject() }

// OfProject reports whether [Candidate.Accept] would change what is accepted of the project.
func (c *Candidate) OfProject() bool {
	return slices.ContainsFunc(c.parts, func(n part) bool { return n.origin == ofProject && c.changes(n) })
}

// changes reports whether what is accepted of a folder would change. If nothing waits at all, a person accepts that the project's folder
// has no files that govern.
func (c *Candidate) changes(n part) bool {
	return n.changes > 0 || n.Damaged != "" || n.origin == ofProject && n.accepted == nil && !c.Waits()
}

// Accept puts the files in force, with the bytes that were read.
func (c *Candidate) Accept(now time.Time) error {
	if len(c.Why) > 0 {
		return errors.New("what does not load cannot be accepted")
	}
	for _, n := range c.parts {
		if !c.changes(n) {
			continue
		}
		if err := errors.Join(n.store.Write(n.files, now), n.renew()); err != nil {
			return err
		}
	}
	return nil
}

// AcceptNone accepts that the folder has no files that govern, if nothing of it was ever accepted and there are none. So files that appear
// later wait, like every change.
func (a *Acceptance) AcceptNone(now time.Time) error {
	if a.Trusted || a.Missing() || a.Damaged != "" {
		return nil
	}
	return errors.Join(a.store.Write(accept.Set{}, now), a.renew())
}

// renew tells agents without a light wall that a person has accepted files.
func (a *Acceptance) renew() error { return light.Renew(a.runs, a.store.Manifest()) }

// Write makes a change of an operator: in the folder, and where a copy is accepted in that copy too, each for itself. So the change is in
// force, and what else differs in the folder stays pending. change gets the folders; the one that people see is the last.
func (a *Acceptance) Write(now time.Time, change func(folders []string) error) error {
	if err := os.MkdirAll(filepath.Dir(a.lock), 0o700); err != nil {
		return fmt.Errorf("change files: %w", err)
	}
	lock, err := atomicfile.LockWait(a.lock, accept.Patience)
	if err != nil {
		return fmt.Errorf("change files: %w", err)
	}
	defer func() { _ = lock.Unlock() }() // the end of the process releases it too
	if err := save.Mend(a.lock, a.dir, a.store); err != nil {
		return err
	}
	if _, err := a.store.Read(); errors.Is(err, fs.ErrNotExist) {
		return change([]string{a.dir})
	}
	err = a.store.Amend(now, func(folder string) error { return change([]string{folder, a.dir}) })
	return errors.Join(err, save.Mend(a.lock, a.dir, a.store), a.renew())
}

// As has the versions that [Acceptance.Write] keeps say who made the change; "": the account of this process.
func (a *Acceptance) As(who string) { a.store = a.store.By(who) }

// Tell reports whether nobody was told of these files before, and notes that somebody was.
func (c *Candidate) Tell() (fresh bool, err error) { return c.Current.store.Tell(c.Digest) }

// Postpone notes that a person does not want to be asked about these files now.
func (c *Candidate) Postpone() error { return c.Current.store.Postpone(c.Digest) }

// Postponed reports whether a person has said of these files: not now.
func (c *Candidate) Postponed() bool { return c.Current.store.Postponed(c.Digest) }

// Summary says in one line what waits; "" if nothing does.
func (c *Candidate) Summary() string {
	const most = 5
	var names []string
	for _, ch := range c.Changes {
		names = append(names, ch.File+" ("+ch.What()+")")
	}
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return text.OneLine(strings.Join(names, ", "))
}

// Store has what was accepted of the folder, and former versions of it.
func (a *Acceptance) Store() accept.Store { return a.store }

// Revoke takes back what was accepted of the folder, and reports whether something was.
func (a *Acceptance) Revoke() (bool, error) {
	was, err := a.store.Remove()
	return was, errors.Join(err, a.renew())
}

// Shipped returns the files that come with the program and do not lie in a folder, the project's or the user's, by their names there. Of a
// skill or role that is accepted they are the accepted ones, else the program's.
func (a *Acceptance) Shipped(p *Project) (map[string][]byte, error) {
	o := p.options
	o.disk = a.origin
	on, err := Load(o)
	if err != nil {
		return nil, err
	}
	files := on.kept
	if a.origin == ofUser {
		files, a = on.User.kept, &p.User
	}
	out, units := map[string][]byte{}, map[string]bool{}
	for name, f := range files {
		if f.Shipped {
			out[name], units[shipped.Unit(name)] = f.Data, true
		}
	}
	if a.accepted == nil {
		return out, nil
	}
	accepted := slices.DeleteFunc(slices.Clone(a.accepted.Files), func(e accept.Entry) bool { return !units[shipped.Unit(e.Path)] })
	for _, e := range accepted {
		maps.DeleteFunc(out, func(name string, _ []byte) bool { return shipped.Unit(name) == shipped.Unit(e.Path) })
	}
	for _, e := range accepted {
		out[e.Path] = a.Accepted(e.Path)
	}
	return out, nil
}
