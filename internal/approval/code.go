package approval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mycelium/internal/credential"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
	"mycelium/internal/text"
)

// Code is the code that a call would run out of files: scripts, what they run in turn, the files in which a build finds its commands. An
// approval is bound to the content of these files, so that a file that changes is asked about anew.
type Code struct {
	Files []CodeFile `json:"files,omitempty"`
	// Unread says which code of the call could not be read, and why. Such a call is not approved for the session.
	Unread []string `json:"unread,omitempty"`
	// More is set if the call runs code of the project beyond these files: a test runner, a compiler.
	More bool `json:"more,omitzero"`
}

// CodeFile is one file of code. A file that is not there has no digest: it is listed if the call would run it once it exists.
type CodeFile struct {
	Path   string        `json:"path"`
	Size   int64         `json:"size,omitzero"`
	Digest ContentDigest `json:"digest,omitzero"` // of the content; zero: the file is not there
	Text   string        `json:"-"`               // of a small text file, for differences; in memory only
}

// ContentDigest is a SHA-256, written in hex.
type ContentDigest [sha256.Size]byte

// MarshalText writes a digest in hex.
func (d ContentDigest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *ContentDigest) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(d) {
		return fmt.Errorf("a digest has %d digits, not %d", hex.EncodedLen(len(d)), len(text))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// IsThere reports whether the file exists.
func (f *CodeFile) IsThere() bool { return f.Digest != ContentDigest{} }

// Whole reports whether an answer can be bound to all of the files that the call names or that those name.
func (c *Code) Whole() bool { return len(c.Unread) == 0 }

// Present returns the files that are there.
func (c *Code) Present() []CodeFile {
	return slices.DeleteFunc(slices.Clone(c.Files), func(f CodeFile) bool { return !f.IsThere() })
}

// NotRead says in a sentence that the call runs code that was not read, and which. It returns "" if all code was read.
func (c *Code) NotRead() string {
	switch {
	case len(c.Unread) > 0:
		return "It runs project code that was not read: " + strings.Join(c.Unread, "; ") + "."
	case c.More:
		return "It runs project code that was not read."
	}
	return ""
}

// maxNamed is how many files a line for people names.
const maxNamed = 5

// showCode is [ShowTerms] for the code of a request and its sandbox alone.
func showCode(r Request) (lines []string, changed string) {
	if files := r.Code.Present(); len(files) > 0 {
		var names []string
		for _, f := range files[:min(len(files), maxNamed)] {
			names = append(names, fmt.Sprintf("%s (%d bytes)", text.OneLine(shortPath(f.Path, r.Dir)), f.Size))
		}
		if more := len(files) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		lines = append(lines, "It runs, and the answer is bound to, "+strings.Join(names, ", ")+".")
	}
	if s := r.Code.NotRead(); s != "" {
		lines = append(lines, text.OneLine(s))
	}
	if !r.Sandbox.None() {
		lines = append(lines, "It runs in "+text.OneLine(sandboxName(r.Sandbox))+".")
	}
	return lines, text.Visible(r.Changed)
}

// shortPath returns a path without the folder that it is in.
func shortPath(path, dir string) string {
	if below, ok := strings.CutPrefix(path, dir+"/"); ok && dir != "" {
		return below
	}
	return path
}

// maxChange bounds the text that says what changed, in bytes: it is shown beside the arguments.
const maxChange = 4 << 10

// WhatChanged says how a request differs from the same one as it was asked before: which files, with a difference where they are short
// texts, and which paths lead elsewhere. It returns "" if an answer to one holds for the other.
func (r *Request) WhatChanged(before *Request) string {
	if r.Bound() == before.Bound() {
		return ""
	}
	var b strings.Builder
	old := map[string]CodeFile{}
	for _, f := range before.Code.Files {
		old[f.Path] = f
	}
	for _, f := range r.Code.Files {
		was, known := old[f.Path]
		delete(old, f.Path)
		if was.Digest != f.Digest {
			changeOf(&b, shortPath(f.Path, r.Dir), was, f, known)
		}
	}
	for _, f := range before.Code.Files {
		if _, gone := old[f.Path]; gone && f.IsThere() {
			fmt.Fprintf(&b, "%s is not run any more.\n", shortPath(f.Path, r.Dir))
		}
	}
	links, now := leading(&before.Facts), leading(&r.Facts)
	for _, clean := range slices.Sorted(maps.Keys(now)) {
		if was, known := links[clean]; known && was != now[clean] {
			to := now[clean]
			fmt.Fprintf(&b, "%s leads to %s; it led to %s.\n", shortPath(clean, r.Dir), cmp.Or(to, "nowhere"), cmp.Or(was, "nowhere"))
		}
	}
	if !before.Sandbox.Same(r.Sandbox) {
		fmt.Fprintf(&b, "It would run in %s now, and not in %s.\n", sandboxName(r.Sandbox), sandboxName(before.Sandbox))
	}
	if b.Len() == 0 {
		b.WriteString("What the call would do has changed.\n")
	}
	return text.Truncate(strings.TrimSuffix(b.String(), "\n"), maxChange)
}

// sandboxName names a sandbox by its profile, for people.
func sandboxName(b box.Box) string {
	if b.None() {
		return "no sandbox"
	}
	return "the sandbox " + b.String()
}

// changeOf says how one file changed.
func changeOf(b *strings.Builder, name string, was, is CodeFile, known bool) {
	switch {
	case !is.IsThere():
		fmt.Fprintf(b, "%s is gone.\n", name)
	case !known:
		fmt.Fprintf(b, "%s is run now too (%d bytes).\n", name, is.Size)
	case !was.IsThere():
		fmt.Fprintf(b, "%s is new (%d bytes).\n", name, is.Size)
	default:
		fmt.Fprintf(b, "%s has changed (%d bytes, it had %d).\n", name, is.Size, was.Size)
		if was.Text != "" && is.Text != "" {
			b.WriteString(text.Diff(credential.Mask(was.Text), credential.Mask(is.Text)))
		}
	}
}

// leading returns where each path of a call leads.
func leading(f *policy.Facts) map[string]string {
	to := map[string]string{}
	for i := range f.Parts {
		for _, p := range f.Parts[i].Paths {
			to[p.Clean] = p.Resolved
		}
	}
	return to
}

// withoutText returns the code without the texts of its files.
func (c Code) withoutText() Code {
	c.Files = slices.Clone(c.Files)
	for i := range c.Files {
		c.Files[i].Text = ""
	}
	return c
}
