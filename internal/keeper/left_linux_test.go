package keeper

import (
	"bufio"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLeftWithoutAMark: a process that was started without the environment of its server is found by the cgroup of the keeper, where the
// system lets us make one. Where it does not, servers start all the same.
func TestLeftWithoutAMark(t *testing.T) {
	dir := t.TempDir()
	s := New([]string{self(t), "play-keeper"}, os.Environ(), dir, slog.New(slog.DiscardHandler))
	defer s.Close()
	p := sh(t, s, `env -i setsid sh -c 'trap "" TERM HUP; echo $$; exec sleep 600' & echo $PPID; wait`, "PATH="+os.Getenv("PATH"))
	lines := bufio.NewReader(p.Stdout)
	var pids []int
	for range 2 {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	keeper, left := keeperHere(t), 0
	for _, pid := range pids {
		if pid != keeper {
			left = pid
		}
	}
	fd, err := unix.PidfdOpen(left, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	defer func() { _ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) }()
	cgroup := cgroupOfNote(t, dir)
	if err := syscall.Kill(keeper, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if cgroup == "" {
		t.Log("no cgroup may be made here")
		return
	}
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10_000); n != 1 {
		t.Errorf("the process is left: %v", err)
	}
	if _, err := os.Stat(cgroup); !os.IsNotExist(err) {
		t.Errorf("the cgroup is left: %v", err)
	}
}

// keeperHere is the keeper among our children.
func keeperHere(t *testing.T) int {
	t.Helper()
	for _, pid := range Descendants(os.Getpid()) {
		if parent, _ := parentOf(pid); parent == os.Getpid() {
			return pid
		}
	}
	t.Fatal("no keeper runs")
	return 0
}

// cgroupOfNote is the cgroup that the only note in a folder names.
func cgroupOfNote(t *testing.T, dir string) string {
	t.Helper()
	notes, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(notes) != 1 {
		t.Fatalf("%v %v", notes, err)
	}
	b, err := os.ReadFile(notes[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
