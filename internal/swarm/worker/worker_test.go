package worker_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mycelium/internal/swarm/worker"
)

// TestMain is also a worker that begins and then does nothing until it is killed.
func TestMain(m *testing.M) {
	if folder := os.Getenv("TEST_WORKER"); folder != "" {
		w, err := worker.Folder(folder).Begin()
		if err != nil {
			os.Exit(3)
		}
		_, _ = os.Stdout.WriteString("begun\n")
		_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed
		_ = w.End(worker.Ended{Stop: "end_turn"})
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func give(t *testing.T) worker.Folder {
	t.Helper()
	f := worker.Folder(filepath.Join(t.TempDir(), "a-1.0"))
	if err := f.Give(worker.Order{Session: "s", Feature: "a", Attempt: 1, Runner: "claude", Tree: "/tree"}, "Do it.\n"); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestOrderIsForThisUserOnly(t *testing.T) {
	f := give(t)
	o, prompt, err := f.Order()
	if err != nil || o.Feature != "a" || prompt != "Do it.\n" {
		t.Fatalf("%+v %q %v", o, prompt, err)
	}
	for _, name := range []string{"order.json", "prompt.md"} {
		if info, err := os.Stat(filepath.Join(string(f), name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestWorkIsFollowed(t *testing.T) {
	f := give(t)
	if f.Alive() || f.PID() != 0 {
		t.Error("a worker that has not begun is alive")
	}
	w, err := f.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if !f.Alive() || f.PID() != os.Getpid() {
		t.Error("a worker at work is not alive")
	}
	for _, text := range []string{"one", "two"} {
		if err := w.Write(worker.Event{Kind: worker.Says, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	events, offset, err := follow(f, 0)
	if err != nil || len(events) != 2 || events[1].Text != "two" {
		t.Fatalf("%v %v", events, err)
	}
	if err := w.Write(worker.Event{Kind: worker.Says, Text: strings.Repeat("x", 1<<20)}); err != nil {
		t.Fatal(err)
	}
	events, offset, err = follow(f, offset)
	if err != nil || len(events) != 1 || len(events[0].Text) > 5<<10 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	// A line that a crash has cut is read when it is whole, or never.
	file, err := os.OpenFile(filepath.Join(string(f), "events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(`{"kind":"says"`); err != nil {
		t.Fatal(err)
	}
	if events, next, err := follow(f, offset); err != nil || len(events) != 0 || next != offset {
		t.Errorf("a line that is not whole: %v, %d, %v", events, next, err)
	}
	if err := w.End(worker.Ended{Stop: "end_turn", Text: "done"}); err != nil {
		t.Fatal(err)
	}
	if e, err := f.Ended(); err != nil || e.Text != "done" || f.Alive() {
		t.Errorf("%+v, %v, alive %v", e, err, f.Alive())
	}
	if _, err := f.Begin(); err == nil {
		t.Error("an attempt that is over begins again")
	}
}

// follow is the events of a worker behind an offset.
func follow(f worker.Folder, offset int64) (out []worker.Event, next int64, err error) {
	next, err = f.Follow(offset, func(e worker.Event) { out = append(out, e) })
	return out, next, err
}

// What a worker says without end is recorded up to a bound; what it does is recorded all the same.
func TestFloodIsBounded(t *testing.T) {
	f := give(t)
	w, err := f.Begin()
	if err != nil {
		t.Fatal(err)
	}
	const pieces = 5000
	for range pieces {
		if err := w.Write(worker.Event{Kind: worker.Says, Text: strings.Repeat("x", 1<<20)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Write(worker.Event{Kind: worker.Call, Tool: "last"}); err != nil {
		t.Fatal(err)
	}
	all, _, err := follow(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 500 || len(all) > pieces/2 || all[len(all)-1].Tool != "last" {
		t.Errorf("%d of %d events are recorded, the last is %q", len(all), pieces, all[len(all)-1].Tool)
	}
}

func TestMessagesArriveInOrderAndOnce(t *testing.T) {
	f := give(t)
	w, err := f.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{"first", "second"} {
		if err := f.Tell(m); err != nil {
			t.Fatal(err)
		}
	}
	waiting, err := f.Inbox()
	if err != nil || len(waiting) != 2 || waiting[0].Text != "first" || waiting[1].Text != "second" {
		t.Fatalf("%+v %v", waiting, err)
	}
	if err := w.Received(waiting[0].ID); err != nil {
		t.Fatal(err)
	}
	if events, _, err := follow(f, 0); err != nil || len(events) != 1 || events[0].Kind != worker.Heard || events[0].Text != "first" {
		t.Errorf("%+v %v", events, err)
	}
	// It dies before it has received the other one: that waits for the next worker, under the same id.
	next := give(t)
	if err := next.Inherit(f); err != nil {
		t.Fatal(err)
	}
	if left, err := f.Inbox(); err != nil || len(left) != 0 {
		t.Errorf("%+v is left: %v", left, err)
	}
	if got, err := next.Inbox(); err != nil || len(got) != 1 || got[0] != waiting[1] {
		t.Errorf("%+v %v", got, err)
	}
	for _, m := range []string{"", " \n", strings.Repeat("x", 17<<10)} {
		if f.Tell(m) == nil {
			t.Errorf("a message of %d bytes is taken", len(m))
		}
	}
}

func TestKilledWorkerIsDead(t *testing.T) {
	f := give(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "TEST_WORKER="+string(f))
	out, err := cmd.StdoutPipe()
	if err == nil {
		_, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	if f.PID() != cmd.Process.Pid {
		t.Errorf("pid %d, want %d", f.PID(), cmd.Process.Pid)
	}
	if _, err := f.Begin(); err == nil {
		t.Error("a second worker begins")
	}
	if err := f.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !f.Gone(t.Context(), 1<<40) {
		t.Error("it is not gone")
	}
	_ = cmd.Wait()
	if f.Alive() || f.PID() != 0 {
		t.Error("a killed worker is alive")
	}
	if err := f.Signal(syscall.SIGKILL); err != nil { // and nobody else is killed for it
		t.Error(err)
	}
}
