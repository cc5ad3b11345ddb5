// Package held tells whether a file holds a secret: by its name, as package secretfile has it, and by what is in it. It is the one
// place that reads files for this, and it reads each of them once as long as the file does not change.
package held

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"mycelium/internal/credential"
	"mycelium/internal/policy"
	"mycelium/internal/policy/secretfile"
)

// Bounds of what is read.
const (
	// MaxSize is the size, in bytes, up to which a file is read. Files that people write secrets into are smaller, and so are bundles of
	// certificates (that of Debian has 220 KB).
	MaxSize = 512 << 10
	// MaxKept bounds the files whose contents are remembered: past them all are forgotten.
	MaxKept = 10_000
)

// Reader reads files and remembers what it found. The zero Reader is ready to use, and nil is one that remembers nothing. It is safe for
// concurrent use.
type Reader struct {
	mu   sync.Mutex
	kept map[string]kept
}

// kept is what was found in a file, and how the file was then.
type kept struct {
	as    state
	grade secretfile.Grade // for which it was read
	found
}

// state tells whether a file has changed. No program can set the time of a change of the inode.
type state struct {
	device, inode     uint64
	size              int64
	modified, changed unix.Timespec
}

// found is what is in a file.
type found struct {
	form     bool // a form of a secret
	sure     bool // a key or token of a service, or a private key, which nobody would make up
	assigned bool // a value under the name of a secret
	public   bool // only certificates and public keys
}

// Secret reports whether a file holds a secret, by its name or by what is in it. name is absolute. home is the home folder of the user.
func (r *Reader) Secret(name, home string) bool {
	row, known := secretfile.Of(name, home)
	switch {
	case known && row.Grade == secretfile.Named:
		return true
	case !known && !MayHold(name):
		return false
	}
	return r.Of(name, row.Grade) == policy.HoldsSecret
}

// Judged reports whether a file whose name the table has holds a secret. Other files are not read.
func (r *Reader) Judged(name, home string) bool {
	row, known := secretfile.Of(name, home)
	return known && (row.Grade == secretfile.Named || r.Of(name, row.Grade) == policy.HoldsSecret)
}

// Of says what a file holds whose name has a grade. Of a file whose name says nothing, only keys and tokens count that are sure. A file that
// cannot be read, or that is too large, holds a secret if its name says that it may. It is "" for what is no file.
func (r *Reader) Of(name string, grade secretfile.Grade) policy.Content {
	var st unix.Stat_t
	if err := unix.Stat(name, &st); err != nil {
		if os.IsNotExist(err) {
			return policy.Absent
		}
		return unknown(grade)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ""
	}
	if grade == secretfile.Named {
		return policy.HoldsSecret
	}
	if grade == secretfile.None && (st.Size == 0 || !MayHold(name)) {
		return policy.HoldsNone
	}
	if grade == secretfile.Judged && !MayHold(name) {
		return policy.HoldsNone
	}
	if st.Size > MaxSize {
		return unknown(grade)
	}
	f, ok := r.read(name, stateOf(&st), grade)
	if !ok {
		return unknown(grade)
	}
	if f.secret(grade) {
		return policy.HoldsSecret
	}
	return policy.HoldsNone
}

// secret reports whether what is in a file is a secret, if its name has a grade.
func (f found) secret(grade secretfile.Grade) bool {
	return f.sure || grade == secretfile.Judged && (f.form || f.assigned) || grade == secretfile.Public && !f.public
}

// Committed reports whether a file of a repository holds a secret, as [Reader.Judged] does for a file on the disk. name is its path from the
// top of the repository, and size is its size in bytes. content returns what is in it; it is called only for a name that does not decide.
func Committed(name string, size int64, content func() (string, error)) (bool, error) {
	name = "/" + name
	row, known := secretfile.Of(name, "")
	switch {
	case !known || !MayHold(name):
		return false, nil
	case row.Grade == secretfile.Named || size > MaxSize:
		return true, nil
	}
	s, err := content()
	return err == nil && inspect(s, row.Grade).secret(row.Grade), err
}

func unknown(grade secretfile.Grade) policy.Content {
	if grade == secretfile.None {
		return ""
	}
	return policy.HoldsSecret
}

func stateOf(st *unix.Stat_t) state {
	return state{uint64(st.Dev), st.Ino, st.Size, st.Mtim, st.Ctim} //nolint:unconvert // the types differ between systems
}

// read returns what is in a file, from memory if the file is as it was.
func (r *Reader) read(name string, as state, grade secretfile.Grade) (found, bool) {
	if r != nil {
		r.mu.Lock()
		k, known := r.kept[name]
		r.mu.Unlock()
		if known && k.as == as && k.grade == grade {
			return k.found, true
		}
	}
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0) // a pipe in its place does not block
	if err != nil {
		return found{}, false
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return found{}, false
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil || len(data) > MaxSize {
		return found{}, false
	}
	out := inspect(string(data), grade)
	if r != nil {
		r.mu.Lock()
		if r.kept == nil || len(r.kept) >= MaxKept {
			r.kept = map[string]kept{}
		}
		r.kept[name] = kept{as, grade, out}
		r.mu.Unlock()
	}
	return out, true
}

// inspect looks for what decides about a file whose name has a grade.
func inspect(s string, grade secretfile.Grade) (out found) {
	if strings.IndexByte(s[:min(len(s), 8000)], 0) >= 0 { // it is no text
		return found{}
	}
	if credential.Possible(s) {
		for _, sp := range credential.Find(s) {
			if madeUp(s[sp.Start:sp.End]) {
				continue
			}
			out.form = true
			out.sure = out.sure || sp.Sure && issued(sp.Form.Name)
		}
	}
	out.assigned = grade == secretfile.Judged && assigns(s)
	out.public = grade == secretfile.Public && !out.form && public(s)
	return out
}

// placed are the forms that go by the text around them: what they find in a file may be a placeholder.
var placed = []string{credential.PasswordInAddress, "basic-credential", "bearer-token", "json-web-token", "azure-shared-signature"}

// issued reports whether only a service, or the maker of a key, makes a text of a form.
func issued(form string) bool { return !slices.Contains(placed, form) }

// madeUp reports whether a secret is one that documentation shows.
func madeUp(s string) bool {
	if strings.Contains(s, "PRIVATE KEY") {
		return !strings.Contains(s, "\n") || strings.Count(s, "\n") < 3 // only the head
	}
	upper := strings.ToUpper(s)
	for _, word := range [...]string{"EXAMPLE", "XXXX", "PLACEHOLDER", "YOUR", "REDACTED", "....", "****"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	var seen [256]bool
	n := 0
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			n++
		}
	}
	return len(s) >= 16 && n < 8
}

// published are the folders of files that others have made and published.
var published = []string{"node_modules", ".venv", "venv", "site-packages", ".git", "vendor"}

// tests are the folders in which files with made-up keys lie.
var tests = []string{"test", "tests", "testdata", "__tests__", "fixtures", "__fixtures__", "spec", "specs", "mocks", "__mocks__", "e2e"}

// MayHold reports whether a file of which the name says nothing may hold a person's secret: it is none of the system's, of a package's, or
// of a test's.
func MayHold(name string) bool {
	for _, system := range [...]string{"/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/etc/", "/proc/", "/sys/", "/dev/", "/nix/", "/System/",
		"/Library/"} {
		if strings.HasPrefix(name, system) {
			return false
		}
	}
	dir, base := path.Split(filepath.ToSlash(name))
	for part := range strings.SplitSeq(dir, "/") {
		if slices.Contains(published, part) || slices.Contains(tests, part) {
			return false
		}
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	return !strings.Contains(dir, "/go/pkg/mod/") && !strings.Contains(dir, "/.cargo/registry/") && !strings.HasPrefix(base, "test_") &&
		!strings.HasSuffix(stem, "_test") && !strings.HasSuffix(stem, ".test") && !strings.HasSuffix(stem, ".spec")
}
