package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// list lists a folder.
func list(t *testing.T, r *Reader, path string) map[string]fs.FileMode {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]fs.FileMode{}
	err = r.List(int(f.Fd()), func(name string, mode fs.FileMode) error {
		if _, twice := out[name]; twice {
			t.Errorf("%q comes twice", name)
		}
		out[name] = mode
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestList: each name comes once, with its type, in a folder that takes several readings.
func TestList(t *testing.T) {
	dir := t.TempDir()
	want := map[string]fs.FileMode{}
	for n := range 3_000 {
		want[fmt.Sprintf("a name of a usual length, number %d", n)] = 0
	}
	for _, name := range []string{".hidden", "two\nlines", "\xff not UTF-8", "...", "ä"} {
		want[name] = 0
	}
	for name := range want {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(os.Mkdir(filepath.Join(dir, "folder"), 0o700), os.Symlink("folder", filepath.Join(dir, "link")),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	want["folder"], want["link"] = fs.ModeDir, fs.ModeSymlink
	var r Reader
	got := list(t, &r, dir)
	if mode := got["pipe"]; mode == 0 || mode&(fs.ModeDir|fs.ModeSymlink) != 0 {
		t.Errorf("a pipe is %v", mode)
	}
	delete(got, "pipe")
	if !maps.Equal(got, want) {
		t.Errorf("%d names, not %d", len(got), len(want))
	}
	if got := list(t, &r, filepath.Join(dir, "folder")); len(got) > 0 {
		t.Errorf("an empty folder has %v", got)
	}
}

// TestListEnds: the list ends with the first error of the caller, and that is its error.
func TestListEnds(t *testing.T) {
	f, err := os.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	enough, calls := errors.New("enough"), 0
	var r Reader
	err = r.List(int(f.Fd()), func(string, fs.FileMode) error { calls++; return enough })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
