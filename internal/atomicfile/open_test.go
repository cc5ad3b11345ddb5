package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// TestOpen: files and folders open; a pipe, a device and a link to one are refused at once, though nobody writes to the pipe.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "folder", "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(DirFS(dir), "folder/file"); err != nil {
		t.Error(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "pipe", "device": "/dev/null"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"pipe", "link", "device"} {
		if f, err := DirFS(dir).Open(name); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v %v", name, f, err)
		}
	}
	if _, err := fs.ReadFile(DirFS(dir), "../x"); err == nil {
		t.Error("outside")
	}
}
