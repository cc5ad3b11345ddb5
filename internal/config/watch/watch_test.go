package watch

import (
	"testing"

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
