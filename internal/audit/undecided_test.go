package audit

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestUndecided: a call is decided by a decision of the surface, in any segment, whatever else names its id.
func TestUndecided(t *testing.T) {
	o := options(t)
	o.Rotate = 4 << 10
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	begun := time.Now().Add(-time.Minute)
	put := func(r Record) {
		t.Helper()
		r.ID, r.Time = NewID(), time.Now()
		if err := l.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	put(Record{Kind: Decided, Surface: "hook", ToolUse: "first"})
	for i := range 100 {
		put(Record{Kind: Decided, Surface: "hook", ToolUse: fmt.Sprint("c", i), Args: []byte(`{"toolUse":"named","x":"` + fmt.Sprint(i) + `"}`)})
	}
	put(Record{Kind: Outcome, Surface: "hook", ToolUse: "ended"})
	put(Record{Kind: Decided, Surface: "mcp-stdio", ToolUse: "elsewhere"})
	put(Record{Kind: Decided, Surface: "hook", ToolUse: "last"})
	ids := []string{"last", "named", "c50", "ended", "elsewhere", "first"}
	got, err := l.Undecided(t.Context(), "hook", begun, ids)
	if want := []string{"named", "ended", "elsewhere"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v, want %v", got, err, want)
	}
	if got, err := l.Undecided(t.Context(), "hook", time.Now().Add(time.Hour), ids); err != nil || !slices.Equal(got, ids) {
		t.Errorf("since later: %v %v", got, err)
	}
}
