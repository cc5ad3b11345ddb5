package watch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestTheRestDoesNotCount: what agents do in the project all day is no reason to load again.
func TestTheRestDoesNotCount(t *testing.T) {
	v := &watch{files: map[string]bool{"/p/rules.yaml": true}, trees: []string{"/p/skills"}}
	counts := func(name string) bool { return v.counts(fsnotify.Event{Name: "/p/" + name, Op: fsnotify.Write}) }
	for _, name := range []string{"main.go", ".mycelium/audit/1.jsonl", "src/skills/x", "skills.txt", ".git/index", "rules.yaml~"} {
		if counts(name) {
			t.Errorf("%s counts", name)
		}
	}
	for _, name := range []string{"rules.yaml", "skills/a/b/c.md"} {
		if !counts(name) {
			t.Errorf("%s does not count", name)
		}
	}
}

// TestAFileThatChangesEarly: a change after a file was read, and before it is watched, is noticed, also of a file outside of the set.
func TestAFileThatChangesEarly(t *testing.T) {
	for _, name := range []string{"set.yaml", "more.yaml", "appears.yaml"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("set.yaml", "")
			write("more.yaml", "")
			set := Set{Files: []string{filepath.Join(dir, "set.yaml")}}
			var more Marks
			for _, name := range []string{"more.yaml", "appears.yaml"} {
				more.Note(filepath.Join(dir, name))
			}
			before := set.Fingerprint()
			write(name, "changed")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only a lost change takes so long
			defer cancel()
			noticed := false
			if err := Until(ctx, set, more, before, nil, func() { noticed = true; cancel() }); err != nil {
				t.Fatal(err)
			}
			if !noticed {
				t.Error("the change is lost")
			}
		})
	}
}
