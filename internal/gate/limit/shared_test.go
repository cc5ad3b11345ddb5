package limit

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mycelium/internal/atomicfile"
	"mycelium/internal/policy"
)

// TestMain lets the test binary play a process that takes tokens of a folder until it gets none: see TestKilledProcessesNeverExceed.
func TestMain(m *testing.M) {
	if folder := os.Getenv("TAKE_TOKENS"); folder != "" {
		most, _ := strconv.Atoi(os.Getenv("MOST"))
		l := New(Options{Folder: folder})
		for {
			if refused, _ := l.Pass(callOf(l, policy.Count(most), "s", time.Now())); refused != nil {
				if refused.Err != nil {
					fmt.Println(refused.Err)
				}
				os.Exit(0)
			}
			os.Stdout.WriteString("ran\n")
		}
	}
	os.Exit(m.Run())
}

// callOf is a call that a figure of a role and the same figure of a session count, over a day.
func callOf(l *Limits, most policy.Count, session string, at time.Time) Call {
	counters := l.Session(session)
	rates := policy.Rates{PerDay: most}
	return Call{Bounds: []policy.Bound{{Name: "guest", Rates: rates}, {Name: "guest.session", Session: true, Rates: rates}},
		Session: &counters, Item: policy.Item{Server: "files", Name: "read_file"}, At: at}
}

// TestLawShared: whatever processes take tokens when, end, are killed or begin anew, and while figures change and the clock goes back, no
// stretch of a day has more calls than the figure; and no call is refused as long as fewer were taken, with those of killed processes.
func TestLawShared(t *testing.T) {
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		folder := filepath.Join(root, strconv.Itoa(n))
		const slot = 24 * time.Minute
		kind := rapid.IntRange(0, 1).Draw(t, "of a role, of a session")
		type process struct {
			*Limits
			session Counters
		}
		processes := make([]*process, 3)
		now := time.Unix(1_800_000_000, 0)
		var taken []time.Time // never before the one taken last, whatever the clock says
		latest := now
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			p := rapid.IntRange(0, len(processes)-1).Draw(t, "process")
			if processes[p] == nil || rapid.IntRange(0, 4).Draw(t, "anew") == 0 {
				l := New(Options{Folder: folder})
				processes[p] = &process{l, l.Session("s")}
			}
			now = now.Add(time.Duration(rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 900), rapid.IntRange(-30, 0)).Draw(t, "minutes")) *
				time.Minute)
			if latest = now; len(taken) > 0 && taken[len(taken)-1].After(now) {
				latest = taken[len(taken)-1]
			}
			most := rapid.IntRange(1, 4).Draw(t, "most")
			call := callOf(processes[p].Limits, policy.Count(most), "s", now)
			call.Bounds, call.Session = call.Bounds[kind:kind+1], &processes[p].session
			refused, _ := processes[p].Pass(call)
			if refused != nil && refused.Err != nil {
				t.Fatal(refused.Err)
			}
			since := func(from time.Time) (n int) {
				for _, at := range taken {
					if at.After(from) {
						n++
					}
				}
				return n
			}
			if refused != nil && since(now.Add(-24*time.Hour-slot)) < most {
				t.Fatalf("refused at %v with %v, after %v", now, most, taken)
			}
			if refused == nil && since(latest.Add(-24*time.Hour)) >= most {
				t.Fatalf("admitted at %v with %v, after %v", now, most, taken)
			}
			if refused == nil {
				taken = append(taken, latest)
			}
		}
	})
}

// TestKilledProcessesNeverExceed: processes that take tokens at once, and are killed by kill -9 wherever they are, get no more of them
// together than there are; what a killed process had taken is not given back.
func TestKilledProcessesNeverExceed(t *testing.T) {
	const most, kills = 4000, 12
	folder := filepath.Join(t.TempDir(), "limits")
	var mu sync.Mutex
	ran := 0
	take := func(upTo int) { // is killed after so many tokens; 0: takes all that are left
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "TAKE_TOKENS="+folder, "MOST="+strconv.Itoa(most))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Error(err)
			return
		}
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return
		}
		lines, mine := bufio.NewScanner(out), 0
		for lines.Scan() {
			if lines.Text() != "ran" {
				t.Errorf("a process says: %s", lines.Text())
				continue
			}
			if mine++; mine == upTo {
				_ = cmd.Process.Kill()
			}
		}
		_ = cmd.Wait()
		mu.Lock()
		defer mu.Unlock()
		ran += mine
	}
	var processes sync.WaitGroup
	for p := range 3 {
		processes.Go(func() {
			for k := range kills / 3 {
				take(20 + 13*p + 7*k)
			}
		})
	}
	processes.Wait()
	if ran >= most {
		t.Fatalf("%d calls ran before the last process began: the figure is too small for this test", ran)
	}
	take(0)
	// A process may be killed between the token and its line.
	if ran > most || ran < most-kills {
		t.Errorf("%d calls ran, and there are %d tokens", ran, most)
	}
}

// TestSharedFiles: a file that is not what was written refuses, and so does a state that is gone; a file that was removed counts anew.
func TestSharedFiles(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "limits")
	l := New(Options{Folder: folder})
	pass := func() *Exceeded {
		refused, _ := l.Pass(callOf(l, 2, "s", time.Now()))
		return refused
	}
	if x := pass(); x != nil {
		t.Fatal(x)
	}
	roles := filepath.Join(folder, rolesFile)
	good, err := os.ReadFile(roles)
	if err != nil || len(good) != recordSize {
		t.Fatalf("%d bytes, %v", len(good), err)
	}
	for _, bad := range []string{"x", string(good[:500]), strings.Repeat("x", recordSize)} {
		if err := os.WriteFile(roles, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		l = New(Options{Folder: folder}) // a process that remembers where its record is needs no other
		if x := pass(); x == nil || x.Err == nil || x.Decision().Rule != "limit:guest" ||
			!strings.Contains(x.Err.Error(), "begins no record of this version") {
			t.Errorf("%.20q: %v", bad, x)
		}
		call := callOf(l, 2, "s", time.Now())
		for _, u := range l.Uses(call.Bounds, call.Session, call.At, func(*policy.Bound) bool { return true }) {
			if u.Used != u.Max || u.Retry == 0 {
				t.Errorf("%.20q: told of as %+v", bad, u)
			}
		}
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, true, false} {
		if x := pass(); (x == nil) != want || x != nil && x.Err != nil {
			t.Errorf("call %d after the files were removed: %v", i, x)
		}
	}
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	if x := pass(); x == nil || x.Err == nil {
		t.Errorf("without a state: %v", x)
	}
}

// TestLockThatIsHeld: while another process holds the lock, calls are refused, and those behind the first do not each wait as long as it.
func TestLockThatIsHeld(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "limits")
	l := New(Options{Folder: folder})
	pass := func() *Exceeded {
		refused, _ := l.Pass(callOf(l, 9, "s", time.Now()))
		return refused
	}
	if x := pass(); x != nil {
		t.Fatal(x)
	}
	other, err := atomicfile.OpenMutex(filepath.Join(folder, rolesFile))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Lock(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if x := pass(); x == nil || !errors.Is(x.Err, atomicfile.ErrLocked) || l.shared.stuck != true {
			t.Fatalf("call %d: %v", i, x)
		}
	}
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	if x := pass(); x != nil || l.shared.stuck {
		t.Errorf("after the lock is free: %v", x)
	}
}

// TestSharedRecords: a bound whose tokens are all back leaves its place to another one, and the file of a session goes a day after its
// last call.
func TestSharedRecords(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "limits")
	now := time.Now().Truncate(time.Second)
	for i := range 5 {
		l := New(Options{Folder: folder})
		call := callOf(l, 9, fmt.Sprint("s", i), now)
		call.Bounds[0].Name = fmt.Sprint("role", i)
		if refused, _ := l.Pass(call); refused != nil {
			t.Fatal(refused)
		}
		files, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		size := int64(0)
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				t.Fatal(err)
			}
			if f.Name() == rolesFile {
				size = info.Size()
				continue
			}
			if err := os.Chtimes(filepath.Join(folder, f.Name()), now, now); err != nil {
				t.Fatal(err)
			}
		}
		if size != recordSize || len(files) != 2 {
			t.Errorf("after day %d: %d bytes of roles, %d files", i, size, len(files))
		}
		now = now.Add(26 * time.Hour)
	}
}

// TestLeaves: a process that ends before its calls refuses those that a limit of calls under way counts, and takes no token for them.
func TestLeaves(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "limits")
	l := New(Options{Folder: folder, Leaves: true})
	call := callOf(l, 1, "s", time.Now())
	call.Bounds = append(call.Bounds, policy.Bound{Name: "guest.tools.files__*", Tools: "files__*", Rates: policy.Rates{Concurrent: 3}})
	if !call.Bounds[2].Concerns(call.Item) {
		call.Bounds[2].Tools = ""
	}
	refused, _ := l.Pass(call)
	if refused == nil || refused.Err != nil || !strings.Contains(refused.Decision().Reason, "only the daemon counts those") {
		t.Fatalf("%+v", refused)
	}
	if refused, _ := l.Pass(callOf(l, 1, "s", time.Now())); refused != nil {
		t.Errorf("a token was taken: %v", refused)
	}
}
