package accept

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
)

// The bounds of what is kept of former contents.
const (
	mostVersions    = 50       // of one file; the oldest go first, and the numbers of the others stay
	mostVersionsAll = 2000     // of all files
	maxVersion      = 64 << 10 // bytes of a content that is kept; a larger one is listed without it
)

// Version is a content of a file that was accepted at some time, or its removal.
type Version struct {
	Path   string    `json:"path"`             // the file's name in a Set
	Number int       `json:"number"`           // from 1, for each file
	Sum    string    `json:"sha256,omitempty"` // of the content; empty: the file was removed
	Time   time.Time `json:"time"`
	By     string    `json:"by,omitempty"` // who accepted it: an account of the system, and in which browser; empty: not known
}

// versionList is versions.json.
type versionList struct {
	Version  int       `json:"version"`  // 1
	Versions []Version `json:"versions"` // the oldest first
}

func (s Store) versionsFile() string   { return filepath.Join(s.dir, "versions.json") }
func (s Store) versionsFolder() string { return filepath.Join(s.dir, "versions") }

// Versions returns the versions of a file of which something is known, the oldest first; of all files for "". What is in force is among
// them, also if an older program accepted it.
func (s Store) Versions(name string) ([]Version, error) {
	all, err := s.readVersions()
	if err != nil {
		return nil, err
	}
	n := &versions{all: slices.DeleteFunc(all, func(v Version) bool { return name != "" && v.Path != name })}
	m, err := s.readManifest()
	if errors.Is(err, fs.ErrNotExist) {
		return n.all, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range m.Files {
		if last := n.last(e.Path); (name == "" || e.Path == name) && isVersioned(e.Path) && last.Sum != e.Sum {
			n.all = append(n.all, Version{Path: e.Path, Number: last.Number + 1, Sum: e.Sum, Time: e.Since})
		}
	}
	return n.all, nil
}

// Content returns what a version says. The error is [fs.ErrNotExist] if nothing is kept of it.
func (s Store) Content(v Version) ([]byte, error) {
	if v.Sum == "" {
		return nil, fs.ErrNotExist
	}
	data, err := os.ReadFile(filepath.Join(s.versionsFolder(), v.Sum)) //nolint:gosec // parseVersions has checked the digest
	if a, e := s.Read(); e == nil && errors.Is(err, fs.ErrNotExist) && slices.ContainsFunc(a.Files, func(e Entry) bool {
		return e.Path == v.Path && e.Sum == v.Sum
	}) {
		data, err = os.ReadFile(a.Path(v.Path))
	}
	if err != nil {
		return nil, err
	}
	if (File{Data: data}).sum() != v.Sum {
		return nil, fmt.Errorf("the copy of version %d of %s was changed", v.Number, v.Path)
	}
	return data, nil
}

// isVersioned reports whether former contents of a file are kept: it is one of those that people edit.
func isVersioned(name string) bool {
	return !path.IsAbs(name) && slices.Contains([]string{".yaml", ".yml", ".json", ".md"}, path.Ext(name))
}

// keepVersions adds to the versions what an acceptance changes: was is in force, and is will be; folder has the contents of is. What is in
// force and has no version yet, because an older program accepted it, gets one first.
func (s Store) keepVersions(was, is *Manifest, folder string, now time.Time) error {
	if s.trial {
		return nil
	}
	all, err := s.readVersions()
	if err != nil { // it is no part of what is in force, and must not keep a person from accepting; the file stays, for him to look at
		all = nil
		if err := os.Rename(s.versionsFile(), s.versionsFile()+".damaged"); err != nil {
			return fmt.Errorf("keep versions: %w", err)
		}
	}
	n := &versions{store: s, all: all, before: len(all)}
	for _, e := range was.Files {
		if isVersioned(e.Path) && n.last(e.Path).Sum != e.Sum {
			n.add(Version{Path: e.Path, Sum: e.Sum, Time: e.Since}, copyPath(filepath.Join(s.dir, was.Copy), e.Path))
		}
		if isVersioned(e.Path) && !slices.ContainsFunc(is.Files, func(f Entry) bool { return f.Path == e.Path }) {
			n.add(Version{Path: e.Path, Time: now.UTC().Truncate(time.Second), By: cmp.Or(s.by, account())}, "")
		}
	}
	for _, e := range is.Files {
		if isVersioned(e.Path) && n.last(e.Path).Sum != e.Sum {
			n.add(Version{Path: e.Path, Sum: e.Sum, Time: now.UTC().Truncate(time.Second), By: cmp.Or(s.by, account())}, copyPath(folder, e.Path))
		}
	}
	return n.write()
}

// account is the name of the account under which this process runs.
func account() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// versions are the versions while some are added.
type versions struct {
	store  Store
	all    []Version
	before int // how many there were
	err    error
}

// last is the newest version of a file; the zero one if there is none.
func (n *versions) last(path string) Version {
	for _, v := range slices.Backward(n.all) {
		if v.Path == path {
			return v
		}
	}
	return Version{}
}

// add adds a version, and keeps its content, which lies at a path.
func (n *versions) add(v Version, at string) {
	v.Number = n.last(v.Path).Number + 1
	n.all = append(n.all, v)
	if v.Sum == "" || n.err != nil {
		return
	}
	data, err := os.ReadFile(at) //nolint:gosec // a copy of what is accepted
	if err != nil || len(data) > maxVersion || (File{Data: data}).sum() != v.Sum {
		return // what is not there, or too large, is listed without its content
	}
	if err := os.MkdirAll(n.store.versionsFolder(), 0o700); err != nil {
		n.err = err
		return
	}
	n.err = atomicfile.Write(filepath.Join(n.store.versionsFolder(), v.Sum), data, 0o600)
}

// write drops what is too old, and writes the list. Contents that no version has any more are removed afterwards.
func (n *versions) write() error {
	if len(n.all) == n.before || n.err != nil {
		return n.err
	}
	count := map[string]int{}
	kept := n.all[:0:0]
	for _, v := range slices.Backward(n.all) {
		if count[v.Path]++; count[v.Path] <= mostVersions && len(kept) < mostVersionsAll {
			kept = append(kept, v)
		}
	}
	slices.Reverse(kept)
	data, err := json.Marshal(versionList{1, kept})
	if err == nil {
		err = atomicfile.Write(n.store.versionsFile(), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep versions: %w", err)
	}
	if len(kept) == len(n.all) {
		return nil
	}
	list, _ := os.ReadDir(n.store.versionsFolder())
	for _, f := range list {
		if !slices.ContainsFunc(kept, func(v Version) bool { return v.Sum == f.Name() }) {
			_ = os.Remove(filepath.Join(n.store.versionsFolder(), f.Name())) // the next time tries again
		}
	}
	return nil
}

// readVersions reads the list; an absent one is empty.
func (s Store) readVersions() ([]Version, error) {
	data, err := os.ReadFile(s.versionsFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the list of versions cannot be read: %w", err)
	}
	return parseVersions(data)
}

// parseVersions reads versions.json. It is strict, because a name or a digest of it becomes a path.
func parseVersions(data []byte) ([]Version, error) {
	var l versionList
	if err := json.Unmarshal(data, &l, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("the list of versions cannot be read: %w", err)
	}
	if l.Version != 1 {
		return nil, fmt.Errorf("the list of versions has version %d, which this program does not know", l.Version)
	}
	last := map[string]int{}
	for _, v := range l.Versions {
		if !goodName(v.Path) || v.Sum != "" && (len(v.Sum) != 64 || !hexSum.MatchString(v.Sum)) || v.Number <= last[v.Path] {
			return nil, fmt.Errorf("the list of versions has a wrong entry for %q", v.Path)
		}
		last[v.Path] = v.Number
	}
	return l.Versions, nil
}
