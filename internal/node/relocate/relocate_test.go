package relocate_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/node/project"
	"mycelium/internal/node/relocate"
	"mycelium/internal/state"
)

// TestMain lets the test binary play a person's process that is killed at a step of a job.
func TestMain(m *testing.M) {
	if at := os.Getenv("KILL_AT"); at != "" {
		os.Exit(killed(at))
	}
	os.Exit(m.Run())
}

// killed does a job and ends by SIGKILL before one of its steps.
func killed(at string) int {
	l := &project.Loader{Dir: os.Getenv("KILL_DIR"), Environ: []string{"HOME=" + os.Getenv("KILL_HOME")}, Err: os.Stderr}
	to, err := l.State()
	if err != nil {
		return 1
	}
	p := l.Mover()
	p.AtStep(func(name string) {
		if name == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	if from := os.Getenv("KILL_FROM"); from != "" {
		err = p.Move(context.Background(), to, from)
	} else {
		err = p.TakeOver(context.Background(), to, to.Root)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
	}
	return 1
}

// world is a home with a project that has a log of a few records.
type world struct {
	*testing.T
	home, dir string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, home, filepath.Join(home, "shop")}
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// loader is the one of a person, or of an agent in that home.
func (w *world) loader(dir string, agent bool) *project.Loader {
	l := &project.Loader{Dir: dir, Environ: []string{"HOME=" + w.home}, Agent: agent, Err: os.Stderr}
	if agent {
		l.StateDir = filepath.Join(w.home, ".local", "state", "mycelium")
	}
	return l
}

func (w *world) paths(dir string) state.Paths {
	w.Helper()
	p, err := w.loader(dir, true).State()
	w.must(err)
	return p
}

// write appends records to a log.
func (w *world) write(o audit.Options, n int) {
	w.Helper()
	log, err := audit.Open(o)
	w.must(err)
	for range n {
		w.must(log.Append(w.Context(), audit.Record{ID: audit.NewID(), Kind: audit.Operator, Time: time.Now(), Note: "work"}))
	}
	w.must(log.Close())
}

// options are those of the log of a project as it is in force.
func (w *world) options(dir string) audit.Options {
	w.Helper()
	p, err := w.loader(dir, false).Load()
	w.must(err)
	o, err := p.AuditLog()
	w.must(err)
	return o
}

// records verifies the log and returns its records.
func (w *world) records(dir string) int {
	w.Helper()
	r, err := audit.Verify(w.options(dir))
	w.must(err)
	if r.Broken != nil {
		w.Fatalf("the log of %s is broken: %+v", dir, r.Broken)
	}
	return r.Records
}

// kill has another process do a job and die before a step.
func (w *world) kill(dir, from, at string) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "KILL_AT="+at, "KILL_DIR="+dir, "KILL_FROM="+from, "KILL_HOME="+w.home)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
		w.Fatalf("it was not killed at %q: %v\n%s", at, err, out)
	}
}

// TestKilledMove: whatever the step before which a move is killed, an agent has no state until the next command of a person has finished
// the move, and then everything is there once.
func TestKilledMove(t *testing.T) {
	steps, _ := relocate.Steps()
	for _, at := range steps {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			was := w.paths(w.dir)
			_, err := w.loader(w.dir, false).Know()
			w.must(err)
			w.write(w.options(w.dir), 3)
			w.must(os.WriteFile(filepath.Join(was.Keys(), "another.secret"), []byte("s"), 0o600))
			w.must(os.MkdirAll(was.Written(), 0o700))
			w.must(os.WriteFile(filepath.Join(was.Written(), "s1"), []byte(`"`+w.dir+`/x.sh"`+"\n"), 0o600))
			dir := filepath.Join(w.home, "moved")
			w.must(os.Rename(w.dir, dir))
			w.kill(dir, w.dir, at)

			if _, err := w.loader(dir, true).Know(); at != "end" && !errors.Is(err, state.ErrUnknown) {
				t.Errorf("an agent finds a state before the move is done: %v", err)
			}
			_, err = w.loader(dir, false).Load() // any command of a person
			w.must(err)
			to := w.paths(dir)
			_, err = w.loader(dir, true).Know()
			w.must(err)
			if n := w.records(dir); n != 4 {
				t.Errorf("%d records, want 3 and the one of the move", n)
			}
			for _, gone := range []string{was.Folder(), was.Keys(), to.Journal(), to.Staging()} {
				if _, err := os.Lstat(gone); err == nil {
					t.Errorf("%s is left", gone)
				}
			}
			if _, err := os.Stat(filepath.Join(to.Keys(), "another.secret")); err != nil {
				t.Error(err)
			}
			if b, err := os.ReadFile(filepath.Join(to.Written(), "s1")); err != nil || strings.Count(string(b), `"`+dir+`/x.sh"`) != 1 {
				t.Errorf("what the session wrote is %q, %v", b, err)
			}
		})
	}
}

// TestMovedBack: a project that a person moves back while its state is on the way has its state in the old place again.
func TestMovedBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.loader(w.dir, false).Know()
	w.must(err)
	w.write(w.options(w.dir), 3)
	dir := filepath.Join(w.home, "moved")
	w.must(os.Rename(w.dir, dir))
	w.kill(dir, w.dir, "written files")
	w.must(os.Rename(dir, w.dir))
	if _, err := w.loader(w.dir, true).Know(); !errors.Is(err, state.ErrUnknown) {
		t.Errorf("an agent finds a state: %v", err)
	}
	_, err = w.loader(w.dir, false).Load()
	w.must(err)
	_, err = w.loader(w.dir, true).Know()
	w.must(err)
	if n := w.records(w.dir); n != 4 {
		t.Errorf("%d records, want 3 and the one of the move", n)
	}
	if left, err := w.paths(w.dir).Journals(); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// former makes the state that an earlier version kept of the project, with records.
func (w *world) former(n int) state.Former {
	w.Helper()
	sum := sha256.Sum256([]byte(w.dir))
	root := w.paths(w.dir).Root
	f := state.FormerOf(root, w.dir)
	if f.Keys != filepath.Join(string(root), "audit", hex.EncodeToString(sum[:16])) {
		w.Fatalf("the keys were in %s", f.Keys)
	}
	for path, text := range map[string]string{
		f.Pins + "/fs.json": "{}", f.OperatorToken: "{}", f.Folder + "/written/s1": `"/x"` + "\n", f.Folder + "/mycelium.db": "db",
		f.Folder + "/catalog/fs.json": "{}", f.Folder + "/tools/index.yaml": "tools: []\n", f.Folder + "/.gitignore": "*\n",
	} {
		w.must(os.MkdirAll(filepath.Dir(path), 0o700))
		w.must(os.WriteFile(path, []byte(text), 0o600))
	}
	w.write(audit.Options{Dir: f.Log, Lock: f.LogLock, KeyDir: f.Keys}, n)
	return f
}

// TestKilledTakeover: whatever the step before which a takeover is killed, the next command of a person finishes it, and every file is
// somewhere.
func TestKilledTakeover(t *testing.T) {
	_, steps := relocate.Steps()
	for _, at := range steps {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			f := w.former(3)
			if _, err := w.loader(w.dir, false).Know(); err == nil || !strings.Contains(err.Error(), "earlier version") {
				t.Fatalf("a new state was begun: %v", err)
			}
			segment, err := os.ReadFile(filepath.Join(f.Log, audit.SegmentName(1)))
			w.must(err)
			w.kill(w.dir, "", at)
			_, err = w.loader(w.dir, false).Load()
			w.must(err)
			_, err = w.loader(w.dir, true).Know()
			w.must(err)
			if n := w.records(w.dir); n != 4 {
				t.Errorf("%d records, want 3 and the one of the takeover", n)
			}
			to := w.paths(w.dir)
			for _, path := range []string{to.Pins() + "/fs.json", to.OperatorToken(), to.Written() + "/s1", f.Folder + "/tools/index.yaml",
				to.Aside() + "/project/mycelium.db", to.Aside() + "/project/catalog/fs.json", to.Aside() + "/pins/fs.json"} {
				if _, err := os.Stat(path); err != nil {
					t.Error(err)
				}
			}
			for _, path := range []string{to.Database(), to.Catalogs(), f.Log, f.Keys, f.Pins, to.Journal(), to.Staging()} {
				if _, err := os.Lstat(path); err == nil {
					t.Errorf("%s is there", path)
				}
			}
			if b, err := os.ReadFile(filepath.Join(to.Aside(), "project", "audit", audit.SegmentName(1))); err != nil || !bytes.Equal(b, segment) {
				t.Errorf("the old log: %q, %v", b, err)
			}
			if err := w.loader(w.dir, false).Mover().TakeOver(t.Context(), to, to.Root); err == nil {
				t.Error("it was taken over twice")
			}
		})
	}
}

// TestUnfitTakeover: a damaged log, one without its key and one that a daemon uses are not taken over, and stay as they are.
func TestUnfitTakeover(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(w *world, f state.Former)
		want   string
	}{
		"edited":   {func(w *world, f state.Former) { edit(w, filepath.Join(f.Log, audit.SegmentName(1))) }, "is broken at 00000001.jsonl:1"},
		"gone":     {func(w *world, f state.Former) { w.must(os.RemoveAll(f.Folder)) }, "is broken at"},
		"link":     {func(w *world, f state.Former) { w.must(os.Symlink("/etc/passwd", f.Pins+"/x")) }, "neither a file nor a folder"},
		"new log":  {func(w *world, _ state.Former) { w.write(w.options(w.dir), 1) }, "has begun a log of its own"},
		"in use":   {func(w *world, f state.Former) { hold(w, f.DaemonLock) }, "still runs"},
		"its hook": {func(w *world, f state.Former) { w.must(os.Remove(f.Keys + "/audit.checkpoint")) }, "checkpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			f := w.former(3)
			c.damage(w, f)
			to := w.paths(w.dir)
			err := w.loader(w.dir, false).Mover().TakeOver(t.Context(), to, to.Root)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(f.Keys, audit.KeyFile)); err != nil {
				t.Error(err)
			}
			if _, err := w.loader(w.dir, true).Know(); !errors.Is(err, state.ErrUnknown) {
				t.Errorf("it is known: %v", err)
			}
		})
	}
}

func edit(w *world, path string) {
	b, err := os.ReadFile(path)
	w.must(err)
	w.must(os.WriteFile(path, bytes.Replace(b, []byte("work"), []byte("play"), 1), 0o600))
}

func hold(w *world, path string) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	w.must(err)
	w.must(syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	w.Cleanup(func() { _ = f.Close() })
}
