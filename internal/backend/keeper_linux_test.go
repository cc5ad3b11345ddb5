package backend

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mycelium/internal/keeper"
	"mycelium/internal/policy"
)

func keeperOf(t testing.TB) []string { return []string{self(t), "play-keeper"} }

// family is a server whose children and grandchildren write their pids into a folder: one in its group, one in a session of its own that
// ignores SIGTERM, and one that was orphaned.
const family = `
echo $$ >"$PIDS/server"
sleep 600 & echo $! >"$PIDS/child"
setsid sh -c 'trap "" TERM; echo $$ >"$PIDS/stubborn"; while :; do sleep 600; done' </dev/null >/dev/null 2>&1 &
(setsid sh -c 'echo $$ >"$PIDS/orphan"; exec sleep 600' </dev/null >/dev/null 2>&1 &)
while [ ! -s "$PIDS/stubborn" ] || [ ! -s "$PIDS/orphan" ]; do sleep 0.01; done
exec "$SELF" play-fake good
`

func familyServer(t testing.TB, self, pids string) Server {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		missing(t, "setsid")
	}
	return Server{Name: "s", Command: "sh", Args: []string{"-c", family}, Env: map[string]string{"PIDS": pids, "SELF": self}}
}

// missing skips a test on a machine without a tool; under CI=true the tool has to be there.
func missing(t testing.TB, tool string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing", tool)
	}
	t.Skipf("%s is missing", tool)
}

// watchFamily opens every member, so that their ends can be waited for whatever happens to their pids.
func watchFamily(t testing.TB, pids string) map[string]*os.File {
	t.Helper()
	files := map[string]*os.File{}
	for _, name := range []string{"server", "child", "stubborn", "orphan"} {
		files[name] = watchPID(t, readPID(t, filepath.Join(pids, name)))
	}
	return files
}

func readPID(t testing.TB, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func watchPID(t testing.TB, pid int) *os.File {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("process %d: %v", pid, err)
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	t.Cleanup(func() { f.Close() })
	return f
}

// mustEnd waits for the end of a process.
func mustEnd(t testing.TB, name string, pidfd *os.File) {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(pidfd.Fd()), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, int(limit/time.Millisecond))
		if err == unix.EINTR {
			continue
		}
		if n != 1 || err != nil {
			t.Errorf("%s is still there: %v", name, err)
			_ = unix.PidfdSendSignal(int(pidfd.Fd()), unix.SIGKILL, nil, 0)
		}
		return
	}
}

func TestKeeperEndsTheFamilyWithThePool(t *testing.T) {
	pids := t.TempDir()
	s := familyServer(t, self(t), pids)
	s.Stop = Duration(time.Second)
	p := newPool(t, Options{Keeper: keeperOf(t)}, s)
	if got, err := ask(testContext(t), t, p, "s", nil); err != nil || got != fakeResult {
		t.Fatal(got, err)
	}
	files := watchFamily(t, pids)
	endPool(t, p)
	for name, f := range files {
		fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
		if n, _ := unix.Poll(fds, 0); n != 1 { // Run does not return before they are gone
			t.Errorf("%s outlives the pool", name)
			mustEnd(t, name, f)
		}
	}
}

// Who left the group of a server, even without a parent, ends with that server, and not with another.
func TestStraysEndWithTheirServer(t *testing.T) {
	folders := map[string]string{"a": t.TempDir(), "b": t.TempDir()}
	var servers []Server
	for name, pids := range folders {
		s := familyServer(t, self(t), pids)
		s.Name, s.Stop = name, Duration(300*time.Millisecond)
		servers = append(servers, s)
	}
	p := newPool(t, Options{Keeper: keeperOf(t)}, servers...)
	ctx := testContext(t)
	if err := p.Start(ctx, []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	keeperID := keeperPID(os.Getpid())
	gone, stays := watchFamily(t, folders["a"]), watchFamily(t, folders["b"])
	if err := p.Reconfigure(slices.DeleteFunc(servers, func(s Server) bool { return s.Name == "a" })); err != nil {
		t.Fatal(err)
	}
	for name, f := range gone {
		mustEnd(t, "a's "+name, f)
	}
	for name, f := range stays {
		fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
		if n, _ := unix.Poll(fds, 0); n != 0 {
			t.Errorf("b's %s ended with a", name)
		}
	}
	if now := keeperPID(os.Getpid()); now != keeperID {
		t.Errorf("the keeper was %d and is %d", keeperID, now)
	}
	if got, err := ask(ctx, t, p, "b", nil); err != nil || got != fakeResult {
		t.Error(got, err)
	}
}

// What a server leaves behind when it dies by itself ends too, at once.
func TestStraysEndWithAServerThatDied(t *testing.T) {
	pids := t.TempDir()
	s := familyServer(t, self(t), pids)
	s.Stop = Duration(300 * time.Millisecond)
	p := newPool(t, Options{Keeper: keeperOf(t)}, s)
	if err := p.Start(testContext(t), []string{"s"}); err != nil {
		t.Fatal(err)
	}
	family := watchFamily(t, pids)
	if err := unix.PidfdSendSignal(int(family["server"].Fd()), unix.SIGKILL, nil, 0); err != nil {
		t.Fatal(err)
	}
	for name, f := range family {
		mustEnd(t, name, f)
	}
	if keeperPID(os.Getpid()) == 0 {
		t.Error("the keeper ended")
	}
}

// playOwner is a daemon: it starts a server through a keeper, says so, and waits for its own violent end.
func playOwner(args []string) error {
	self, pids, keepers := args[0], args[1], args[2]
	p, err := New([]Server{{Name: "s", Command: "sh", Args: []string{"-c", family}, Env: map[string]string{"PIDS": pids, "SELF": self}}},
		Options{Dir: "/", Keeper: []string{self, "play-keeper"}, Keepers: keepers})
	if err != nil {
		return err
	}
	if _, _, err := p.Do(context.Background(), policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"t"}`), nil); err != nil {
		return err
	}
	fmt.Println("ready", keeperPID(os.Getpid()))
	select {}
}

// keeperPID finds the keeper among the children of a process.
func keeperPID(owner int) int {
	for _, pid := range keeper.Descendants(owner) {
		cmd, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if parentOf(pid) == owner && strings.Contains(string(cmd), "play-keeper") {
			return pid
		}
	}
	return 0
}

// parentOf is the parent of a process; 0: it is gone.
func parentOf(pid int) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	var parent int
	if _, after, ok := strings.Cut(string(b), "\nPPid:"); ok {
		_, _ = fmt.Sscan(after, &parent)
	}
	return parent
}

// startOwner runs playOwner and returns it with its keeper.
func startOwner(t *testing.T, pids, keepers string) (owner *exec.Cmd, keeper int) {
	t.Helper()
	familyServer(t, "", "") // is there setsid?
	cmd := exec.Command(self(t), "play-owner", self(t), pids, keepers)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, serr := fmt.Sscanf(line, "ready %d", &keeper); err != nil || serr != nil || keeper == 0 {
		t.Fatalf("owner says %q: %v", line, err)
	}
	return cmd, keeper
}

func TestNothingOutlivesAKilledOwner(t *testing.T) {
	pids := t.TempDir()
	owner, keeper := startOwner(t, pids, t.TempDir())
	files := watchFamily(t, pids)
	files["keeper"] = watchPID(t, keeper)
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for name, f := range files {
		mustEnd(t, name, f)
	}
}

// TestNothingOutlivesAKilledKeeper: its owner ends what the keeper has left behind, in whatever group, session or family that is.
func TestNothingOutlivesAKilledKeeper(t *testing.T) {
	pids, keepers := t.TempDir(), t.TempDir()
	p := newPool(t, Options{Keeper: keeperOf(t), Keepers: keepers}, familyServer(t, self(t), pids))
	if err := p.Start(testContext(t), []string{"s"}); err != nil {
		t.Fatal(err)
	}
	family := watchFamily(t, pids)
	if err := unix.Kill(keeperPID(os.Getpid()), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for name, f := range family {
		mustEnd(t, name, f)
	}
	endPool(t, p)
	if notes := folder(t, keepers); len(notes) > 0 {
		t.Errorf("these notes are left: %v", notes)
	}
}

// TestTheNextPoolEndsWhatIsLeft: when both processes of a keeper and its owner are killed together, the next start ends what both have left behind, and no
// process of anybody else.
func TestTheNextPoolEndsWhatIsLeft(t *testing.T) {
	pids, keepers := t.TempDir(), t.TempDir()
	owner, guard := startOwner(t, pids, keepers)
	family := watchFamily(t, pids)
	guardEnd := watchPID(t, guard)
	stranger := exec.Command("sleep", "600")
	stranger.Env = []string{"MYCELIUM_SERVER=another." + folder(t, keepers)[0]}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
	// Owner and guard are stopped first, so that they do not end anything themselves.
	servers := keeper.Descendants(guard)[0] // the process that keeps the servers
	for _, end := range []struct {
		pid int
		sig unix.Signal
	}{{owner.Process.Pid, unix.SIGSTOP}, {guard, unix.SIGSTOP}, {servers, unix.SIGKILL}, {guard, unix.SIGKILL},
		{owner.Process.Pid, unix.SIGKILL}} {
		if err := unix.Kill(end.pid, end.sig); err != nil {
			t.Fatal(err)
		}
	}
	_ = owner.Wait()
	mustEnd(t, "keeper", guardEnd)
	mustEnd(t, "server", family["server"])
	for _, name := range []string{"stubborn", "orphan"} {
		if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(family[name].Fd()), Events: unix.POLLIN}}, 0); n != 0 {
			t.Fatalf("%s ended by itself: there is nothing to find", name)
		}
	}
	p := newPool(t, Options{Keeper: keeperOf(t), Keepers: keepers}, play(t, "s", "play-fake", "good"))
	ctx, end := context.WithCancel(testContext(t))
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	for name, f := range family {
		mustEnd(t, name, f)
	}
	if err := p.Start(ctx, []string{"s"}); err != nil {
		t.Error(err)
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := stranger.Process.Signal(unix.Signal(0)); err != nil {
		t.Errorf("a process with another mark: %v", err)
	}
	if notes := folder(t, keepers); len(notes) > 0 {
		t.Errorf("these notes are left: %v", notes)
	}
}

// folder lists a folder.
func folder(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestKilledKeeper(t *testing.T) {
	p := newPool(t, Options{Keeper: keeperOf(t)}, play(t, "s", "play-fake", "late"))
	ctx := testContext(t)
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	keeperID := keeperPID(os.Getpid())
	server := watchPID(t, keeper.Descendants(keeperID)[0])
	failed := make(chan error, 1)
	go func() {
		_, err := ask(ctx, t, p, "s", nil)
		failed <- err
	}()
	if err := unix.Kill(keeperID, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil {
		t.Error("a call in flight was answered")
	}
	mustEnd(t, "server", server)
	if err := p.Start(ctx, []string{"s"}); err != nil { // with another keeper
		t.Error(err)
	}
}

func TestKeeperHoldsOutAgainstSignals(t *testing.T) {
	p := newPool(t, Options{Keeper: keeperOf(t)}, play(t, "s", "play-fake", "good"))
	ctx := testContext(t)
	if err := p.Start(ctx, []string{"s"}); err != nil {
		t.Fatal(err)
	}
	keeperID := keeperPID(os.Getpid())
	for _, sig := range []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP} {
		if err := unix.Kill(keeperID, sig); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := ask(ctx, t, p, "s", nil); err != nil || got != fakeResult {
		t.Error(got, err)
	}
}

func TestStubbornServerIsKilledAfterItsGrace(t *testing.T) {
	for name, keeper := range map[string][]string{"keeper": keeperOf(t), "direct": nil} {
		t.Run(name, func(t *testing.T) {
			starts := filepath.Join(t.TempDir(), "starts")
			s := play(t, "s", "play-fake", "silent-stubborn", starts)
			s.Stop = Duration(200 * time.Millisecond)
			p := newPool(t, Options{Keeper: keeper}, s)
			done := make(chan error, 1)
			go func() { done <- p.Start(testContext(t), []string{"s"}) }()
			waitFor(t, func() bool { return countLines(t, starts) == 1 })
			file := watchPIDIfAlive(readPID(t, starts))
			endPool(t, p)
			if err := <-done; err == nil {
				t.Error("a server that is silent started")
			}
			if file != nil {
				defer file.Close()
				mustEnd(t, "server", file)
			}
		})
	}
}

// watchPIDIfAlive is nil for a process that is gone already.
func watchPIDIfAlive(pid int) *os.File {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), "pidfd")
}

func TestKeeperTellsWhatCannotStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, keeper := range map[string][]string{"keeper": keeperOf(t), "direct": nil} {
		p := newPool(t, Options{Keeper: keeper}, Server{Name: "s", Command: file})
		err := p.Start(testContext(t), []string{"s"})
		if err == nil || err.Error() != `server "s": start process: no such file or directory` {
			t.Errorf("%s: %v", name, err)
		}
	}
}
