package ops

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/policy/sign"
	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/text"
)

// TestOnlyWhatLandedIsTaken: a branch of a session that was moved by something other than a landing is neither offered nor taken.
func TestOnlyWhatLandedIsTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	top := filepath.Join(dir, "project")
	if err := os.Mkdir(top, 0o700); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=W", "-c", "user.email=w@localhost"}, args...)...)
		cmd.Dir = top
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	db, err := store.Open(t.Context(), "sqlite://"+filepath.Join(dir, "m.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	o := Ops{Book: book.New(db), Dir: top, Folder: filepath.Join(dir, "state"), Trees: filepath.Join(dir, "trees"), By: Person}
	s, err := o.Begin(t.Context(), "", book.Settings{}, plan.Plan{Features: []plan.Feature{{ID: "a", Description: "Add a"}}})
	if err != nil {
		t.Fatal(err)
	}
	red := git("commit-tree", "-p", "HEAD", "-m", "never verified", "HEAD^{tree}")
	take := func() (moved bool, err error) {
		_, moved, err = o.HandOver(t.Context(), s, "main", ground.Commit(git("rev-parse", s.Branch)), sign.Of(true))
		return moved, err
	}
	record := func(change func(s *book.Session)) {
		if err := o.change(t.Context(), s.ID, func(s *book.Session) (book.Event, error) {
			change(s)
			return book.Event{Kind: "merge", Text: "x"}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}

	git("update-ref", "refs/heads/"+s.Branch, red)
	_, err = o.Offer(t.Context(), s, "main", 1000)
	if err == nil || !strings.Contains(err.Error(), "has not landed") || !strings.Contains(text.HintOf(err), "update-ref") {
		t.Errorf("it is offered: %v %s", err, text.HintOf(err))
	}
	before := git("rev-parse", "main")
	if moved, err := take(); err == nil || moved || git("rev-parse", "main") != before {
		t.Errorf("it is taken: %v", err)
	}
	git("update-ref", "refs/heads/"+s.Branch, before)
	if _, err := take(); err != nil { // the mend that the error names
		t.Errorf("nothing has landed, and the branch is back: %v", err)
	}

	good := git("commit-tree", "-p", "HEAD", "-m", "verified", "HEAD^{tree}")
	record(func(s *book.Session) { s.Landed = good; s.Features[0].Commit = good })
	git("update-ref", "refs/heads/"+s.Branch, git("commit-tree", "-p", good, "-m", "beyond", "HEAD^{tree}"))
	if moved, err := take(); err == nil || moved {
		t.Errorf("what came after it landed is taken: %v", err)
	}
	git("update-ref", "refs/heads/"+s.Branch, good)
	record(func(s *book.Session) { s.Landed = "" }) // of a version that did not record it
	if moved, err := take(); err != nil || !moved || git("rev-parse", "main") != good {
		t.Errorf("what landed is not taken: %v", err)
	}
}
