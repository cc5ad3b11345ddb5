package keeper

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestKeeperAlone(t *testing.T) {
	cmd := exec.Command(self(t), "play-keeper")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no socket") {
		t.Errorf("%v: %s", err, out)
	}
	// A keeper whose owner speaks nonsense ends.
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	cmd = exec.Command(self(t), "play-keeper")
	cmd.Stdin = theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	if _, err := io.WriteString(ours, "{\"spawn\":[\"/bin/true\"]}\n"); err != nil { // without its descriptors
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// BenchmarkStrays is one look of the keeper over the processes of the machine.
func BenchmarkStrays(b *testing.B) {
	for b.Loop() {
		findStrays()
	}
}
