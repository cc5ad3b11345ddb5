package swarm

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/worker"
)

// longAgo writes events as if they had happened two days ago, a second apart.
func longAgo(t *testing.T, f worker.Folder, events ...worker.Event) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(string(f), "events.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for i, e := range events {
		e.At = time.Now().Add(-48*time.Hour + time.Duration(i)*time.Second)
		if err := json.NewEncoder(file).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
}

// loop is a call that fails again and again.
func loop() (events []worker.Event) {
	for range 30 {
		events = append(events, worker.Event{Kind: worker.Call, Call: "1", Tool: "Bash", Args: "make", Sum: "a"},
			worker.Event{Kind: worker.Done, Call: "1", Tool: "Bash", Text: "no rule", Sum: "b", Failed: true})
	}
	return events
}

// A worker that has ended has ended, whatever its stream looks like: it is not shown as waiting, and not taken for stuck or at work.
func TestFinishedIsFinished(t *testing.T) {
	for name, last := range map[string][]worker.Event{
		"a call waits for a person":   {{Kind: worker.Call, Call: "1", Tool: "Bash"}, {Kind: worker.Waits, Call: "1", Text: "git push"}},
		"a call is under way":         {{Kind: worker.Call, Call: "1", Tool: "Bash", Args: "make"}},
		"nothing for two days":        {{Kind: worker.Says, Text: "I begin."}},
		"the same again and again":    loop(),
		"it says that it is not done": {{Kind: worker.Says, Text: "I am stuck."}},
	} {
		t.Run(name, func(t *testing.T) {
			f := begin(t, &book.Session{Features: []*book.Feature{feature("one")}})
			f.workers["one"] = func(*hand) {}
			f.Start = func(ctx context.Context, folder worker.Folder, window string) error { // it has ended when the driver looks first
				w, err := folder.Begin()
				if err != nil {
					return err
				}
				longAgo(t, folder, append([]worker.Event{{Kind: worker.Began}}, last...)...)
				o, _, err := folder.Order()
				if err == nil {
					f.commit(o.Tree, "feat: one", "one.txt", "1")
				}
				return errors.Join(err, w.End(worker.Ended{Stop: "end_turn"}), f.start(ctx, folder, window))
			}
			f.want(f.drive(), "one", book.Completed, 1, 1)
			if said := f.happened(); strings.Contains(said, "message") {
				t.Errorf("it was told something:\n%s", said)
			}
			f.want(f.drive(), "one", book.Completed, 1, 1) // and it stays so
		})
	}
}

// The merge queue is at work while others work: what is committed lands before them, also what a driver before this one has queued.
func TestQueueDoesNotWaitForWorkers(t *testing.T) {
	f := begin(t, &book.Session{Settings: book.Settings{Workers: 2},
		Features: []*book.Feature{feature("one"), feature("two"), feature("old")}})
	dir := filepath.Join(f.Folder, "by-hand")
	f.git(f.top, "worktree", "add", "-q", "--detach", dir)
	tip := f.commit(dir, "feat: old", "old.txt", "0")
	f.git(f.top, "worktree", "remove", dir)
	if _, err := f.Book.Change(t.Context(), "s", "", func(s *book.Session) ([]book.Event, error) {
		s.Features[2].State = book.Queued
		s.Features[2].Attempts = []*book.Attempt{{N: 1, State: book.Queued, Base: string(f.base), Tip: tip, Ended: time.Now()}}
		return []book.Event{{Kind: "feature"}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	f.workers["one"] = adds("one.txt", "1")
	f.workers["two"] = func(h *hand) {
		h.work(func(*worker.Work) {
			for h.on("one.txt") == "" || h.on("old.txt") == "" {
				if h.Context().Err() != nil {
					return
				}
			}
			h.commit(h.tree, "feat: two", "two.txt", "2")
		})
	}
	s := f.drive()
	for _, id := range []string{"one", "two"} {
		f.want(s, id, book.Completed, 1, 1)
	}
	f.want(s, "old", book.Completed, 1, 0)
}

// Twenty features wait in the merge queue of a driver, every fourth in conflict and two of them bad. All land, no commit of the branch is
// red, and the verifications are within twice the bound of bisection, what comes back mended included.
func TestQueueOfTwenty(t *testing.T) {
	const n = 20
	s := &book.Session{}
	for i := range n {
		s.Features = append(s.Features, feature(fmt.Sprint("f", i)))
	}
	f := begin(t, s)
	dir := filepath.Join(f.Folder, "by-hand")
	f.git(f.top, "worktree", "add", "-q", "--detach", dir)
	if _, err := f.Book.Change(t.Context(), "s", "", func(s *book.Session) ([]book.Event, error) {
		for i, of := range s.Features {
			f.git(dir, "checkout", "-q", "--detach", string(f.base))
			files := []string{of.ID + ".txt", "x\n"}
			switch {
			case i%4 == 3:
				files = append(files, "shared", of.ID+"\n")
			case i == 6, i == 12:
				files = append(files, "bad"+of.ID, "x\n")
			}
			of.State = book.Queued
			of.Attempts = []*book.Attempt{{N: 1, State: book.Queued, Base: string(f.base), Tip: f.commit(dir, "feat: "+of.ID, files...),
				Ended: time.Now(), Folder: filepath.Join(f.Folder, "s", of.ID+"-1.0")}}
			f.workers[of.ID] = func(h *hand) {
				h.work(func(*worker.Work) {
					h.git(h.tree, "merge", "-q", "--no-edit", "-X", "theirs", "swarm/s")
					h.git(h.tree, "rm", "-q", "--ignore-unmatch", "bad"+of.ID)
					h.git(h.tree, "commit", "-q", "--allow-empty", "-m", "fix: "+of.ID)
				})
			}
		}
		return []book.Event{{Kind: "feature"}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	f.git(f.top, "worktree", "remove", dir)
	verified := 0
	f.Verify = func(_ context.Context, tree string, _ []string) (Checked, error) {
		verified++
		bad, err := filepath.Glob(filepath.Join(tree, "bad*"))
		return Checked{OK: len(bad) == 0, Output: strings.Join(bad, " ")}, err
	}
	s = f.drive()
	for i, of := range s.Features {
		workers := 0
		if i%4 == 3 && i > 3 || i == 6 || i == 12 {
			workers = 1
		}
		f.want(s, of.ID, book.Completed, 1, workers)
	}
	for _, c := range strings.Fields(f.git(f.top, "rev-list", string(f.base)+"..swarm/s")) {
		if files := f.git(f.top, "ls-tree", "--name-only", c); strings.Contains(files, "bad") {
			t.Errorf("commit %s is red", c)
		}
	}
	bound := 2 * (1 + bits.Len(n-1)) // for each bad one a red batch, and its search by halves
	if f.landed() != strconv.Itoa(n) || verified > 2*(bound+1) {
		t.Errorf("%s landed after %d verifications, the bound is %d", f.landed(), verified, bound+1)
	}
	t.Logf("%d verifications, the bound is %d", verified, bound+1)
}

// hangs is a session whose first feature has a worker, a process of its own, that began two days ago and hangs since these events.
func hangs(t *testing.T, events ...worker.Event) (*chaos, *Driver, worker.Folder) {
	t.Helper()
	t.Parallel()
	c := newChaos(t, 1)
	folder := worker.Folder(filepath.Join(c.dir, "f0-1.0"))
	tree, err := c.ground.Add(t.Context(), "f0-1", ground.Commit(c.head))
	if err == nil {
		err = folder.Give(worker.Order{Session: chaosSession, Feature: "f0", Attempt: 1, Tree: tree.Project}, "stub: hang 0")
	}
	if err == nil {
		_, err = c.book.Change(t.Context(), chaosSession, "", func(s *book.Session) ([]book.Event, error) {
			for _, f := range s.Features[1:] {
				f.State = book.Completed
			}
			s.Features[0].State = book.Going
			s.Features[0].Attempts = []*book.Attempt{{N: 1, State: book.Running, Base: c.head, Folder: string(folder),
				Began: time.Now().Add(-48 * time.Hour)}}
			return []book.Event{{Kind: "feature"}}, nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	said, inside, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	argv := process("worker", string(folder), filepath.Join(c.dir, "notes"))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout = inside
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	_ = inside.Close()
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil || line != "hangs\n" {
		t.Fatalf("the worker says %q, %v", line, err)
	}
	longAgo(t, folder, append([]worker.Event{{Kind: worker.Began}}, events...)...)
	d, _ := c.driver()
	return c, d, folder
}

// A build that waits looks idle, and is work: nobody is told and nobody is stopped.
func TestBuildThatWaits(t *testing.T) {
	c, d, folder := hangs(t, worker.Event{Kind: worker.Call, Call: "1", Tool: "Bash", Args: "make"})
	for range 3 {
		if f := c.step(d); f.Live() == nil || f.Live().State != book.Running {
			t.Fatalf("%+v", f)
		}
	}
	if told, err := folder.Inbox(); err != nil || len(told) > 0 || !folder.Alive() {
		t.Errorf("told %v, %v; alive: %v", told, err, folder.Alive())
	}
}

// A worker that hangs is not at work for two days: it is told so, and stopped when that changes nothing. Its feature says why.
func TestHangingIsStopped(t *testing.T) {
	c, d, folder := hangs(t, worker.Event{Kind: worker.Says, Text: "I look into it."})
	c.step(d)
	if told, err := folder.Inbox(); err != nil || len(told) != 1 || !folder.Alive() {
		t.Fatalf("told %v, %v; alive: %v", told, err, folder.Alive())
	}
	d.watches[folder].told = time.Now().Add(-2 * patience)
	f := c.step(d)
	if folder.Alive() || f.State != book.Pending || !strings.Contains(f.Reason, "it was stuck") {
		t.Errorf("alive: %v; %s, because %q", folder.Alive(), f.State, f.Reason)
	}
}

// A worker that was started and has not begun when it is stopped never begins: another one has its worktree by then.
func TestStoppedBeforeItBegan(t *testing.T) {
	t.Parallel()
	c := newChaos(t, 1)
	d, started := c.driver()
	c.step(d)
	d.work.Wait()
	c.to(book.Paused)
	c.step(d)
	for _, folder := range *started {
		if w, err := folder.Begin(); err == nil {
			t.Errorf("%s: a worker begins beside the next one", folder)
			_ = w.End(worker.Ended{})
		}
	}
	c.to(book.Going)
	before := len(*started)
	c.step(d)
	if len(*started) == before {
		t.Fatal("no worker goes on")
	}
	for _, folder := range (*started)[before:] {
		w, err := folder.Begin()
		if err != nil {
			t.Fatal(err)
		}
		_ = w.End(worker.Ended{})
	}
}
