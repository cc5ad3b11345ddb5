package node

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
	"mycelium/internal/store"
)

// TestTaught: the calls that followed a search of their session come back from the log; no other call does.
func TestTaught(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := audit.Options{Dir: filepath.Join(dir, "audit"), Lock: filepath.Join(dir, "audit.lock"), KeyDir: filepath.Join(dir, "key")}
	log, err := audit.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	db, err := store.Open(t.Context(), "sqlite://"+filepath.Join(dir, "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for i, c := range [...]struct {
		session, tool, args, effect string
		ago                         time.Duration
	}{
		{"old", "mycelium-router__find_tool", `{"query":"long ago"}`, "allow", 91 * 24 * time.Hour},
		{"old", "box__old", `{}`, "allow", 91*24*time.Hour - time.Minute},
		{"a", "box__before", `{}`, "allow", 61 * time.Minute},
		{"a", "mycelium-router__find_tool", `{"query":"send a letter","limit":3}`, "allow", time.Hour},
		{"b", "box__other", `{}`, "allow", 59 * time.Minute},
		{"a", "mycelium-router__get_context", `{}`, "allow", 59 * time.Minute},
		{"a", "agent__Bash", `{}`, "allow", 59 * time.Minute},
		{"a", "box__denied", `{}`, "deny", 58 * time.Minute},
		{"a", "post__send", `{}`, "allow", 58 * time.Minute},
		{"a", "box__late", `{}`, "allow", 40 * time.Minute},
	} {
		r := audit.Record{ID: fmt.Sprint("c", i), Kind: audit.Decided, Session: c.session, Principal: "p", Tool: c.tool, Args: []byte(c.args),
			Effect: c.effect, Time: now.Add(-c.ago)}
		if err := log.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	uses, err := taught(t.Context(), index.New(db, o), now)
	if err != nil {
		t.Fatal(err)
	}
	if len(uses) != 1 || uses[0].Request != "send a letter" || uses[0].Server != "post" || uses[0].Name != "send" {
		t.Errorf("uses %+v", uses)
	}
}
