package atomicfile

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain lets the test binary play another process that holds a lock until its input closes.
func TestMain(m *testing.M) {
	if os.Getenv("HOLD_LOCK") != "" {
		if _, err := TryLock("l"); err != nil { // in the folder where it was started
			os.Exit(1)
		}
		os.Stdout.WriteString("held\n")
		bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func TestWriteReplacesWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for i, want := range []string{"first, the longer one", "second", ""} {
		perm := []fs.FileMode{0o600, 0o644, 0o666}[i]
		if err := Write(path, []byte(want), perm); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("read %q, %v; want %q", got, err, want)
		}
		if st, _ := os.Stat(path); st.Mode().Perm() != perm {
			t.Errorf("mode %v, want %v whatever the umask", st.Mode().Perm(), perm)
		}
	}
	onlyFile(t, path)
}

func TestWriteReplacesLinkNotTarget(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "old" {
		t.Errorf("the target has %q", got)
	}
	if st, _ := os.Lstat(link); !st.Mode().IsRegular() {
		t.Errorf("the link is %v, want a file", st.Mode())
	}
}

func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "no", "f")
	err := Write(missing, nil, 0o600)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "folder "+filepath.Join(dir, "no")+" does not exist") {
		t.Errorf("missing folder: %v", err)
	}
	sub := filepath.Join(dir, "sub")
	if err := os.MkdirAll(filepath.Join(sub, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(sub, []byte("x"), 0o600); err == nil || !strings.HasPrefix(err.Error(), "write "+sub+":") {
		t.Errorf("over a folder: %v", err)
	}
	onlyFile(t, sub)
}

func TestWriteLongAndBareNames(t *testing.T) {
	t.Chdir(t.TempDir())
	name := strings.Repeat("n", 255)
	if err := Write(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(name); string(got) != "x" {
		t.Errorf("read %q", got)
	}
}

// onlyFile checks that nothing temporary was left behind.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("the folder has %v, %v; want only %s", entries, err, filepath.Base(path))
	}
}

func TestLockExcludesAndReturns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	a, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TryLock(path); !errors.Is(err, ErrLocked) || errors.Is(err, fs.ErrExist) {
		t.Errorf("second lock: %v, want ErrLocked, which is no other error", err)
	}
	start := time.Now()
	if _, err := LockWait(path, 30*time.Millisecond); !errors.Is(err, ErrLocked) || time.Since(start) < 30*time.Millisecond {
		t.Errorf("wait: %v after %v", err, time.Since(start))
	}
	got := make(chan error, 1)
	go func() {
		b, err := LockWait(path, time.Minute)
		if err == nil {
			err = b.Unlock()
		}
		got <- err
	}()
	if err := a.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("the one who waited: %v", err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the lock file: %v, %v", st, err)
	}
}

func TestLockEndsWithItsProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Dir = append(os.Environ(), "HOLD_LOCK=1"), filepath.Dir(path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	if _, err := TryLock(path); !errors.Is(err, ErrLocked) {
		t.Errorf("while another process holds it: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	l, err := TryLock(path)
	if err != nil {
		t.Fatalf("after kill -9 of the holder: %v", err)
	}
	l.Unlock()
}

func TestMutex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	a, err := OpenMutex(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := OpenMutex(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ctx := context.Background()
	if err := a.Lock(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if err := b.Lock(ctx, time.Millisecond); !errors.Is(err, ErrLocked) {
		t.Errorf("while the other holds it: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := b.Lock(ended, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that ended: %v", err)
	}
	if err := a.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := b.Lock(ctx, time.Minute); err != nil {
		t.Errorf("after the other gave it back: %v", err)
	}
	if b.Stale() {
		t.Error("stale while the name is there")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if !b.Stale() {
		t.Error("not stale after the file was removed")
	}
}

func TestLockUnderMissingFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "l")
	for _, err := range []error{
		func() error { _, err := TryLock(path); return err }(),
		func() error { _, err := LockWait(path, time.Minute); return err }(),
		func() error { _, err := OpenMutex(path); return err }(),
	} {
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "folder") {
			t.Errorf("%v", err)
		}
	}
}

// TestNote: whole, with its mode, a link replaced and not followed, and nothing left beside it.
func TestNote(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "note"), filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, path); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if err := Note(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		st, serr := os.Lstat(path)
		if err != nil || serr != nil || string(got) != text || st.Mode() != 0o640 {
			t.Errorf("%q, %v, %v, %v", got, st.Mode(), err, serr)
		}
	}
	if got, err := os.ReadFile(other); err != nil || string(got) != "mine" {
		t.Errorf("what the link led to is %q, %v", got, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left: %v, %v", left, err)
	}
}
