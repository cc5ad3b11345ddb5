package keeper

import (
	"errors"
	"fmt"
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

// TestKilledTogether: if the owner and one of its keepers are killed in the same moment, nothing of what they kept stays, not even a
// process that left its group, its session and its environment. Nobody starts anything after them.
func TestKilledTogether(t *testing.T) {
	for _, which := range []string{"the keeper of the servers", "the keeper that the owner started"} {
		t.Run(which, func(t *testing.T) {
			owner := exec.Command(self(t), "play-owner")
			out, err := owner.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := owner.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = owner.Process.Kill(); _ = owner.Wait() }()
			var keeper, left int
			if _, err := fmt.Fscan(out, &keeper, &left); err != nil {
				t.Fatal(err)
			}
			fd, err := unix.PidfdOpen(left, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = unix.Close(fd) }()
			defer func() { _ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) }()
			if which == "the keeper that the owner started" {
				for parent, _ := parentOf(keeper); parent != owner.Process.Pid; parent, _ = parentOf(keeper) {
					keeper = parent
				}
			}
			_ = unix.Kill(owner.Process.Pid, unix.SIGKILL)
			_ = unix.Kill(keeper, unix.SIGKILL)
			for {
				n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10_000)
				if errors.Is(err, unix.EINTR) {
					continue
				}
				if n != 1 {
					t.Errorf("the process is left: %v", err)
				}
				break
			}
		})
	}
}
