package backend

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An idle server that does not answer any more is found without a call, on the connection that stands, and ended.
func TestIdleServerThatStopped(t *testing.T) {
	t.Parallel()
	starts := filepath.Join(t.TempDir(), "starts")
	s := play(t, "s", "play-fake", "good", starts)
	s.Ping, s.Timeout, s.Stop = Duration(50*time.Millisecond), Duration(3*time.Second), Duration(200*time.Millisecond)
	p := newPool(t, Options{}, s)
	ctx := testContext(t)
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	before := p.entry("s").conn.Received()
	waitFor(t, func() bool { return p.entry("s").conn.Received() >= before+3 }) // it answers three pings
	if n := countLines(t, starts); n != 1 || p.Status()[0].State != StateReady {
		t.Fatalf("%d starts, status %+v", n, p.Status()[0])
	}
	halt(t, readPID(t, starts))
	waitFor(t, func() bool {
		s := p.Status()[0]
		return s.State == StateFailed && strings.HasPrefix(s.Error, "it did not answer a ping within 3s, so that it was ended")
	})
	if n := countLines(t, starts); n != 1 {
		t.Errorf("%d starts: somebody was started to see whether it is there", n)
	}
	if got, err := ask(ctx, t, p, "s", nil); err != nil || got != fakeResult { // the next need starts it
		t.Error(got, err)
	}
}

// halt stops a process, and returns when each of its threads has stopped: until then, another thread may still answer.
func halt(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil || len(threads) == 0 {
			t.Fatalf("process %d has no threads: %v", pid, err)
		}
		return !slices.ContainsFunc(threads, func(path string) bool {
			b, err := os.ReadFile(path)
			return err == nil && !bytes.HasPrefix(b[bytes.LastIndexByte(b, ')')+1:], []byte(" T"))
		})
	})
}

// A server that stops in the middle of a call: the call has its time-out, then the server is ended, and the next call has a new one.
func TestServerThatStopsInACall(t *testing.T) {
	t.Parallel()
	starts := filepath.Join(t.TempDir(), "starts")
	s := play(t, "s", "play-fake", "good", starts)
	s.Timeout, s.Stop = Duration(2*time.Second), Duration(200*time.Millisecond)
	p := newPool(t, Options{}, s)
	ctx := testContext(t)
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	halt(t, readPID(t, starts))
	if _, err := ask(ctx, t, p, "s", nil); err == nil || !strings.Contains(err.Error(), "did not answer tools/call within 2s") {
		t.Errorf("error %v", err)
	}
	waitFor(t, func() bool { return p.Status()[0].State == StateFailed })
	s.Timeout = 0 // a new server may need longer than that on a busy machine
	if err := p.Reconfigure([]Server{s}); err != nil {
		t.Fatal(err)
	}
	if got, err := ask(ctx, t, p, "s", nil); err != nil || got != fakeResult {
		t.Error(got, err)
	}
	if n := countLines(t, starts); n != 2 {
		t.Errorf("%d starts", n)
	}
}

// A server that works at something for longer than it may is not ended while another call is within its time.
func TestPingEndsNobodysCall(t *testing.T) {
	t.Parallel()
	s := play(t, "s", "play-fake", "never")
	p := newPool(t, Options{}, s)
	ctx := testContext(t)
	if err := p.Start(ctx, []string{"s"}); err != nil {
		t.Fatal(err)
	}
	e := p.entry("s")
	c := e.conn
	<-c.learned
	hung, release := context.WithCancel(ctx)
	defer release()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = ask(hung, t, p, "s", nil)
	}()
	waitFor(t, func() bool { return c.Busy() == 1 })
	e.pinged(c, os.ErrDeadlineExceeded)
	if c.Err() != nil {
		t.Fatal("a call within its time was ended")
	}
	release()
	<-done
	e.pinged(c, os.ErrDeadlineExceeded)
	if c.Err() == nil {
		t.Error("a server that does not answer was not ended")
	}
}

func TestStderrIsKept(t *testing.T) {
	t.Parallel()
	logs := t.TempDir()
	s := play(t, "s", "play-fake", "dies")
	s.Env = map[string]string{"TOKEN": "${SECRET_TOKEN}"}
	p := newPool(t, Options{Logs: logs, Environ: []string{"SECRET_TOKEN=first-line-of-it\nsecond-line-of-it"}}, s)
	if _, err := ask(testContext(t), t, p, "s", nil); err == nil {
		t.Fatal("an answer")
	}
	file := filepath.Join(logs, "server-s.log")
	waitFor(t, func() bool { return p.Status()[0].State == StateFailed && p.Status()[0].Log == file })
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[0], " out of memory while holding ${SECRET_TOKEN}") ||
		!strings.HasSuffix(lines[1], " ${SECRET_TOKEN}") {
		t.Errorf("the log is %q", lines)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if !strings.Contains(p.Status()[0].Error, "out of memory") {
		t.Errorf("status %+v", p.Status()[0])
	}
}

// A folder that cannot be written to costs the log, and nothing else.
func TestLogThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPool(t, Options{Logs: file}, play(t, "s", "play-fake", "floods-stderr"))
	if got, err := ask(testContext(t), t, p, "s", nil); err != nil || got != fakeResult {
		t.Error(got, err)
	}
	if log := p.Status()[0].Log; log != "" {
		t.Errorf("status names %s", log)
	}
}
