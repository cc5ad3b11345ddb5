package role

import (
	"errors"
	"mycelium/cmd/myc/internal/change"
	"mycelium/internal/config"
	"mycelium/internal/node/failure"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSlug: the id of a role is a name of a file that a role may have, whatever the name (D4).
func TestSlug(t *testing.T) {
	for name, want := range map[string]string{"Data Analyst": "data-analyst", "guest": "guest", "開発者": "role", "  A  (b) ": "a-b",
		"../x": "x", "v1.2_b": "v1.2_b", "": "role", "...": "role", "Ünder": "nder", strings.Repeat("a", 80): strings.Repeat("a", 64)} {
		if got := slug(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		id := slug(rapid.String().Draw(t, "name"))
		good := strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789.-_") == "" && !strings.HasPrefix(id, ".")
		if id == "" || len(id) > 64 || !good || slug(id) != id {
			t.Errorf("%q", id)
		}
	})
}

// TestChangedMeanwhile: a file that is no longer what was looked at is not overwritten, nor removed.
func TestChangedMeanwhile(t *testing.T) {
	p := &config.Project{Dir: t.TempDir()}
	at := filepath.Join(p.Dir, "roles", "a.yaml")
	if err := errors.Join(os.Mkdir(filepath.Dir(at), 0o755), os.WriteFile(at, []byte("theirs"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{[]byte("mine"), nil} {
		c := &change.File{Act: "roles edit", P: p, Name: "roles/a.yaml", Was: []byte("before"), Data: data}
		if err := c.Write([]string{p.Dir}); err == nil || failure.Of(err).Kind != failure.Conflict {
			t.Errorf("%q: %v", data, err)
		}
		if got, err := os.ReadFile(at); err != nil || string(got) != "theirs" {
			t.Errorf("%q: %q %v", data, got, err)
		}
	}
}
