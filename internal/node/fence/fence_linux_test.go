package fence

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// TestOtherVersionIsNoAgent: `myc claude` is a command of a person for a daemon of another version too, whose program has the same name
// and is another file. A script with that name, which an interpreter runs, is an agent.
func TestOtherVersionIsNoAgent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(cat)
	if err != nil {
		t.Fatal(err)
	}
	for name, agent := range map[string]bool{filepath.Base(self): false, "interpreter": true} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, program, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(dir, "claude"), 0o600); err != nil { // it runs until it is killed
			t.Fatal(err)
		}
		cmd := exec.Command(file, "claude")
		cmd.Dir = dir
		cmd.Env = []string{}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		proc := filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid))
		if got := programOf(proc); (got != "") != agent {
			t.Errorf("%s claude is %q", name, got)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
