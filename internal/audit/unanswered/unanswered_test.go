package unanswered

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/audit"
)

// open makes a log with these records.
func open(t testing.TB, records ...audit.Record) audit.Options {
	dir := t.TempDir()
	o := audit.Options{Dir: filepath.Join(dir, "audit"), Lock: filepath.Join(dir, "lock"), KeyDir: filepath.Join(dir, "key")}
	if _, bench := t.(*testing.B); !bench {
		o.Rotate = 4 << 10 // a few lines a segment
	}
	l, err := audit.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	for _, r := range records {
		if err := l.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func record(id, effect string) audit.Record {
	return audit.Record{ID: id, Kind: audit.Decided, Session: "s", Surface: "hook", Tool: "agent__Bash", ToolUse: "use-" + id, Effect: effect,
		Args: []byte(`{"command":"make"}`)}
}

// TestCalls: what was asked and is open, across segments, and neither what was answered or has ended, nor what another session asked.
func TestCalls(t *testing.T) {
	other, web := record("other", "ask"), record("web", "ask")
	other.Session, web.Surface = "s2", "http"
	records := []audit.Record{record("a", "ask"), record("b", "ask"), other, web, record("ran", "ask"), record("no", "ask"),
		record("allowed", "allow"), {ID: "ran", Kind: audit.Outcome, Session: "s", Surface: "hook", Outcome: "ok"}, record("no", "deny")}
	for i := range 20 {
		records = append(records, record(fmt.Sprint("more", i), "allow"))
	}
	calls, err := Calls(t.Context(), open(t, append(records, record("c", "ask"))...), "s", "hook")
	var got []string
	for _, r := range calls {
		got = append(got, r.ToolUse)
	}
	if said := strings.Join(got, " "); err != nil || said != "use-a use-b use-c" {
		t.Errorf("%q, %v", said, err)
	}
	if calls, err := Calls(t.Context(), open(t), "s", "hook"); err != nil || len(calls) > 0 {
		t.Errorf("an empty log: %v, %v", calls, err)
	}
}

func BenchmarkCalls(b *testing.B) {
	var records []audit.Record
	for i := range most {
		records = append(records, record(fmt.Sprint(i), "allow"))
	}
	o := open(b, append(records, record("open", "ask"))...)
	for b.Loop() {
		if calls, err := Calls(b.Context(), o, "s", "hook"); err != nil || len(calls) != 1 {
			b.Fatal(calls, err)
		}
	}
}
