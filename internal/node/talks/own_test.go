package talks

import (
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/agent/journal"
	"mycelium/internal/model"
	"mycelium/internal/store"
	"mycelium/internal/transcript"
)

// TestDeleteOwn: a conversation of our own agent is deleted with its file, so that it neither comes back nor is gone on with. One that is
// open in a chat stays whole.
func TestDeleteOwn(t *testing.T) {
	dir := t.TempDir()
	db, err := store.Open(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), "b.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	b, person := Book(db, strings.ToLower, dir), transcript.Caller{Person: true}
	j, err := journal.New(dir, journal.Head{Engine: "api", Role: "guest"})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(journal.Line{Kind: journal.Said, Text: "hello", Blocks: []model.Block{{Type: "text", Text: "hello"}}}); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		t.Helper()
		if err := Own(t.Context(), b, dir, "local", "guest"); err != nil {
			t.Fatal(err)
		}
		all, err := b.List(t.Context(), person, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if n := count(); n != 1 {
		t.Fatalf("%d conversations", n)
	}
	if err := b.Delete(t.Context(), person, j.ID); err == nil || !strings.Contains(err.Error(), "open in another process") || count() != 1 {
		t.Errorf("an open conversation is deleted: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), transcript.Caller{Principal: "local", Role: "admin"}, j.ID); err == nil || count() != 1 {
		t.Errorf("another role deletes it: %v", err)
	}
	if err := b.Delete(t.Context(), person, j.ID); err != nil || count() != 0 {
		t.Errorf("it comes back: %v", err)
	}
	if last, err := journal.Last(dir, ""); last != "" || err != nil {
		t.Errorf("--continue goes on with %s, %v", last, err)
	}
	if err := journal.Remove(dir, "../x"); err == nil {
		t.Error("a path is an id")
	}
}
