package role

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"mycelium/cmd/myc/internal/change"
	"mycelium/internal/config"
	"mycelium/internal/op/failure"
)

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
