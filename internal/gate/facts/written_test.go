package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestWrittenIsBounded: past the bound everything in the project counts as written, also for the next process.
func TestWrittenIsBounded(t *testing.T) {
	dir := t.TempDir()
	w := NewWritten(dir, "s1", "")
	var paths []string
	for i := range maxWritten + 10 {
		paths = append(paths, fmt.Sprintf("/p/%d\n\"", i))
	}
	w.add(paths)
	next := NewWritten(dir, "s1", "")
	next.load()
	if !w.all || !next.all || len(w.paths) != maxWritten || len(next.paths) != maxWritten {
		t.Errorf("%v %v, %d and %d paths", w.all, next.all, len(w.paths), len(next.paths))
	}
	strange := NewWritten(dir, "../../x", "")
	strange.add([]string{"/p/a"})
	if strange.file != "" || len(strange.paths) != 1 {
		t.Errorf("%q", strange.file)
	}
}

// TestWrittenWhereNothingCanBeWritten: it is kept in memory, and nobody is refused for it.
func TestWrittenWhereNothingCanBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".mycelium"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := NewWritten(filepath.Join(dir, ".mycelium"), "s1", "")
	w.add([]string{"/p/a"})
	w.load()
	if _, ok := w.paths["/p/a"]; !ok {
		t.Error("forgotten")
	}
}
