package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestFailedWriteIsUndone has a write fail after others: those are as before.
func TestFailedWriteIsUndone(t *testing.T) {
	dir := t.TempDir()
	kept, blocked := filepath.Join(dir, "mycelium.yaml"), filepath.Join(dir, "blocked")
	for _, file := range []string{kept, blocked} {
		if err := os.WriteFile(file, []byte("before\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made := filepath.Join(dir, "skills", "fix", "SKILL.yaml")
	err := changes{
		{path: kept, before: []byte("before\n"), after: []byte("after\n")},
		{path: made, after: []byte("name: fix\n")},
		{path: filepath.Join(blocked, "x.yaml"), after: []byte("x\n")}, // its folder is a file
	}.write()
	if err == nil {
		t.Fatal("a file was written below a file")
	}
	for _, file := range []string{kept, blocked} {
		if b, err := os.ReadFile(filepath.Clean(file)); err != nil || string(b) != "before\n" {
			t.Errorf("%s: %q, %v", file, b, err)
		}
	}
	if _, err := os.Stat(filepath.Dir(made)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the skill stayed: %v", err)
	}
}
