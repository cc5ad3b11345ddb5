package sandbox

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mycelium/internal/policy"
	"mycelium/internal/sandbox/folder"
)

// old lets the lists of a session count as read long after each change, and waits until the clock of files has gone on, so that this is
// true.
func (s *Session) old(t *testing.T) {
	t.Helper()
	s.ahead = folder.Margin
	var was, is unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &was); err != nil {
		t.Fatal(err)
	}
	for is = was; is == was; {
		if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &is); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSessionLooks: after any change of a project, a look with the lists of the last one finds the same as a look without them.
func TestSessionLooks(t *testing.T) {
	text := func(s string) *string { return &s }
	rules := []policy.ClosedRule{{Rule: "notes", Read: true, Change: true, Groups: []policy.ClosedGroup{{Paths: policy.Values{
		{Glob: text("**/notes/**")}, {Glob: text("**/*.closed")}}}}}}
	names := []string{"a", "b", "c", ".git", "HEAD", "objects", "refs", "config", "hooks", ".env", ".claude", "settings.json", "CLAUDE.md",
		"notes", "x.closed", "go.sum", ".mcp.json", ".secrets", "id_rsa"}
	known, changed := 0, 0
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(seed, 30))
		home := t.TempDir()
		dir := filepath.Join(home, "p")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		c := Command{Project: dir, Home: home, Scratch: t.TempDir(), Environ: []string{"PATH=/usr/bin:/bin"},
			Closed: policy.Closed{Dir: dir, Home: home, Rules: rules}}
		if seed%2 == 0 { // git has a folder for secrets, so that each file in it counts
			put(t, dir, ".secrets/a", "x")
			gitIn(t, dir, "init", "-q")
			gitIn(t, dir, "add", ".")
		}
		kept := c
		kept.Session = &Session{}
		some := func() string { // a path of the project, which may be there
			path := dir
			for range 1 + r.IntN(4) {
				path = filepath.Join(path, names[r.IntN(len(names))])
			}
			return path
		}
		var before *Guarded
		for step := range 30 {
			did := ""
			for range 1 + r.IntN(4) {
				did += "\n" + change(r, some)
			}
			kept.Session.old(t)
			if step%3 == 0 {
				before = nil
			}
			want, wantErr := c.look(t.Context(), before)
			got, err := kept.look(t.Context(), before)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("seed %d, step %d: %v, not %v", seed, step, err, wantErr)
			}
			if err == nil && !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, step %d: after%s\nthe look with lists finds\n%+v\nnot\n%+v", seed, step, did, got, want)
			}
			for _, lists := range kept.Session.lists {
				known += len(lists)
			}
			changed, before = changed+strings.Count(did, "done"), want
		}
	}
	if t.Logf("%d lists kept, %d changes", known, changed); known < 1000 || changed < 500 {
		t.Errorf("the test is about %d lists and %d changes", known, changed)
	}
}

// change makes one change in a project, and describes it.
func change(r *rand.Rand, path func() string) string {
	a, b := path(), path()
	var err error
	var did string
	switch r.IntN(9) {
	case 0, 1:
		did, err = "mkdir "+a, os.MkdirAll(a, 0o700)
	case 2, 3:
		did, err = "write "+a, os.WriteFile(a, []byte("x"), 0o600)
		if err != nil && os.MkdirAll(filepath.Dir(a), 0o700) == nil {
			err = os.WriteFile(a, []byte("[core]\n"), 0o600)
		}
	case 4:
		did, err = "rename "+a+" "+b, os.Rename(a, b)
	case 5:
		did, err = "link "+b+" to "+a, os.Symlink(a, b)
	case 6:
		did, err = "remove "+a, os.RemoveAll(a)
	case 7:
		did = "swap " + a + " " + b
		err = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	case 8: // the folder goes, and another one of the same names comes
		did = "replace " + a
		if err = os.Rename(a, a+".was"); err == nil {
			err = os.CopyFS(a, os.DirFS(a+".was"))
			_ = os.RemoveAll(a + ".was")
		}
	}
	if err != nil {
		return "(not) " + did
	}
	return "done: " + did
}

// TestSessionRacy: a list that was read just after a change is not kept, because the same step of the clock may bring another change.
func TestSessionRacy(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "p", "d")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := &Session{}
	c := Command{Project: filepath.Dir(dir), Home: home, Scratch: t.TempDir(), Session: s}
	kept := func() (n int) {
		if _, err := c.look(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		for _, lists := range s.lists {
			n += len(lists)
		}
		return n
	}
	if n := kept(); n != 0 {
		t.Errorf("%d lists of fresh folders are kept", n)
	}
	s.old(t)
	if n := kept(); n != 2 {
		t.Errorf("%d lists are kept, not 2", n)
	}
}

// TestSessionRuns: the commands of a session run in children that were begun before, one after the other, with all that is true of a run
// alone: a file that governs is put away, and a child that was killed or is too old is not used.
func TestSessionRuns(t *testing.T) {
	c := projectCommand(t)
	s := &Session{}
	defer s.Close()
	c.Session = s
	run := func(line, want string) {
		t.Helper()
		s.old(t)
		var out strings.Builder
		c.Argv, c.Out, c.Err = []string{"/bin/sh", "-c", line}, &out, &out
		r, err := Run(t.Context(), self(t), c)
		if err != nil || r.ExitCode != 0 || strings.TrimSpace(out.String()) != want {
			t.Fatalf("%s: %+v, %v, %s", line, r, err, &out)
		}
	}
	waiting := func() int {
		t.Helper()
		all := children(t)
		if len(all) != 1 {
			t.Fatalf("the children are %v, and not the one that waits", all)
		}
		return all[0]
	}
	run("echo one", "one")
	first := waiting()
	run("readlink /proc/self/ns/pid", space(t, first))
	second := waiting()
	if second == first {
		t.Fatal("the same child waits after it ran a command")
	}
	kill(t, second)
	run("echo three", "three")
	for range 2 {
		run("mkdir -p d/.claude && echo '{}' > d/.claude/settings.json && echo made", "made")
		if _, err := os.Lstat(filepath.Join(c.Project, "d/.claude/settings.json")); err == nil {
			t.Fatal("a file that governs agents stays in the project")
		}
	}
	last := waiting()
	s.Close()
	if err := syscall.Kill(last, 0); err == nil {
		t.Error("the child that waited lives on after the session")
	}
	run("echo four", "four")
	if left := children(t); len(left) > 0 {
		t.Errorf("a session that has ended begins a child: %v", left)
	}
}

// children are the processes that this one has started and that run. No other test runs at the same time.
func children(t *testing.T) (pids []int) {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		data, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(data)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// kill kills a process, and waits until it has ended.
func kill(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < 1; {
		if n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); err != nil && !errors.Is(err, unix.EINTR) { //nolint:gosec // a descriptor
			t.Fatal(err)
		}
	}
}

// space is the process namespace of a child.
func space(t *testing.T, pid int) string {
	t.Helper()
	to, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid_for_children", pid))
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// TestSessionMounts: a child that was begun before a folder was mounted is not used, because it may not have the mount.
func TestSessionMounts(t *testing.T) {
	if os.Getenv("MYC_MOUNTS") == "" { // in mounts of its own
		cmd := exec.CommandContext(t.Context(), actor(t), "-test.run=^TestSessionMounts$", "-test.v")
		cmd.Env = append(os.Environ(), "MYC_MOUNTS=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestSessionMounts") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	c := projectCommand(t)
	c.Session = &Session{}
	defer c.Session.Close()
	var out strings.Builder
	run := func() {
		t.Helper()
		out.Reset()
		c.Argv, c.Out, c.Err = []string{"/bin/ls"}, &out, &out
		if r, err := Run(t.Context(), self(t), c); err != nil || r.ExitCode != 0 {
			t.Fatal(r, err, out.String())
		}
	}
	run()
	if err := syscall.Mount("test", c.Project, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.Project, "mounted"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if run(); !slices.Contains(strings.Fields(out.String()), "mounted") {
		t.Errorf("the command finds %q", out.String())
	}
}

// TestKilledAtItsStart: a child that somebody killed before it said that it waits costs the command nothing: another one takes its place.
func TestKilledAtItsStart(t *testing.T) {
	c := projectCommand(t)
	me := self(t)
	script := filepath.Join(t.TempDir(), "child")
	text := fmt.Sprintf("#!/bin/sh\nif [ -e %[1]s.ran ]; then exec %[2]s \"$@\"; fi\n: > %[1]s.ran\nkill -9 $$\nexit 1\n", script, me.Argv[0])
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	var out strings.Builder
	c.Argv, c.Out, c.Err = []string{"/bin/sh", "-c", "echo here"}, &out, &out
	me.Argv, me.Small = append([]string{script}, me.Argv[1:]...), ""
	r, err := Run(t.Context(), me, c)
	if err != nil || r.ExitCode != 0 || strings.TrimSpace(out.String()) != "here" {
		t.Errorf("%+v %v %s", r, err, &out)
	}
	if _, err := os.Stat(script + ".ran"); err != nil {
		t.Errorf("the first one did not end: %v", err)
	}
}
