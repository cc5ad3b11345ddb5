package role

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"mycelium/internal/config"
	"mycelium/internal/node/edit"
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
		c := edit.Set{Act: "roles edit", P: p, Files: []*edit.File{{Name: "roles/a.yaml", Was: []byte("before"), Data: data}}}
		if err := c.Write([]string{p.Dir}, func() error { return nil }); err == nil || failure.Of(err).Kind != failure.Conflict {
			t.Errorf("%q: %v", data, err)
		}
		if got, err := os.ReadFile(at); err != nil || string(got) != "theirs" {
			t.Errorf("%q: %q %v", data, got, err)
		}
	}
}
