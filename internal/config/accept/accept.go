// Package accept keeps what a person has accepted of a project: a copy of the files that govern it, and a manifest with the digest of
// each. What is in force is read from this copy and not from the project, so that a file which somebody changed has no effect until a
// person accepts it.
package accept

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// File is a file that governs, as it was read once.
type File struct {
	Data  []byte
	Exec  bool      // somebody may execute it
	Time  time.Time // of its last change, for people
	Loose bool      // only its digest counts: it is used where it lies, so no copy is kept

	Shipped bool // it comes with the program and does not lie in the folder
}

// sum returns the SHA-256 of the content, as hexadecimal digits.
func (f File) sum() string {
	sum := sha256.Sum256(f.Data)
	return hex.EncodeToString(sum[:])
}

// Set is the files that govern a project, by name. The name of a file of the project is its path below the project folder, with slashes;
// the name of any other file is its absolute path.
type Set map[string]File

// Name returns the name in a [Set] of the file at a path, which is absolute and clean.
func Name(project, path string) string {
	if rel, err := filepath.Rel(project, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

// Digest returns one digest over the names, modes and contents of all files.
func (s Set) Digest() string {
	entries := make([]Entry, 0, len(s))
	for _, name := range slices.Sorted(maps.Keys(s)) {
		entries = append(entries, Entry{Path: name, Exec: s[name].Exec, Sum: s[name].sum()})
	}
	return digest(entries)
}

// digest is the digest of sorted entries. Each part stands behind its length, so that no two lists read the same.
func digest(entries []Entry) string {
	h := sha256.New()
	part := func(s string) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	part("mycelium accepted 1")
	for _, e := range entries {
		part(e.Path)
		part(map[bool]string{false: "-", true: "x"}[e.Exec])
		part(e.Sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Joined returns one digest over the digests of several sets.
func Joined(digests ...string) string {
	h := sha256.New()
	h.Write([]byte("mycelium accepted together 1"))
	for _, d := range digests { // all of one length
		h.Write([]byte(d))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Kinds of a [Change].
const (
	New     = "new"
	Changed = "changed"
	Removed = "removed"
)

// Change is a file that differs from what was accepted.
type Change struct {
	File  string
	Kind  string    // New, Changed or Removed
	Since time.Time // when the file was changed last; for a removed file, when it was accepted

	Shipped bool // the file comes with the program and does not lie in the folder
}

// What says what became of the file, for people.
func (c Change) What() string {
	if c.Shipped {
		return c.Kind + ", shipped by the program"
	}
	return c.Kind
}

// Changes compares files with what was accepted; nil accepted is nothing. The result is sorted by name.
func (s Set) Changes(a *Accepted) []Change {
	var out []Change
	was := map[string]Entry{}
	if a != nil {
		for _, e := range a.Files {
			was[e.Path] = e
			if _, ok := s[e.Path]; !ok {
				out = append(out, Change{File: e.Path, Kind: Removed, Since: e.Since})
			}
		}
	}
	for name, f := range s {
		switch e, ok := was[name]; {
		case !ok:
			out = append(out, Change{name, New, f.Time, f.Shipped})
		case e.Sum != f.sum() || e.Exec != f.Exec:
			out = append(out, Change{name, Changed, f.Time, f.Shipped})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.File, b.File) })
	return out
}
