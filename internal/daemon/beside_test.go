package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A socket of another name lies beside that of the daemon, in a folder that only this user may enter, and its path is not too long.
func TestBeside(t *testing.T) {
	p := Paths{Socket: filepath.Join(t.TempDir(), "m", "x.sock")}
	got, err := p.Beside("x.tmux")
	if err != nil || got != filepath.Join(filepath.Dir(p.Socket), "x.tmux") {
		t.Errorf("%s, %v", got, err)
	}
	if info, err := os.Stat(filepath.Dir(got)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v %v", info, err)
	}
	if _, err := p.Beside(strings.Repeat("x", maxSocketPath)); err == nil {
		t.Error("a path that is too long is taken")
	}
}
