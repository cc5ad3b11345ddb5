package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mycelium/internal/audit"
)

// TestPlaces: parts of a log that are asked for by places, one after the other, have every call once, while the log grows and wherever the
// index ends.
func TestPlaces(t *testing.T) {
	for _, followed := range []string{"all", "half", "none"} {
		t.Run(followed, func(t *testing.T) {
			o := options(t)
			l, x := openLog(t, o), openIndex(t, o)
			for i := range 20 {
				add(t, l, decision(fmt.Sprintf("c%02d", i)))
				if followed == "half" && i == 9 || followed == "all" && i == 19 {
					if err := x.Follow(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			var seen []string
			var last []Entry
			for at := int64(0); ; at = last[len(last)-1].Seq {
				found, err := x.Query(t.Context(), Query{Limit: 6, Before: at})
				if err != nil {
					t.Fatal(err)
				}
				if len(found) == 0 {
					break
				}
				for _, e := range found {
					seen = append(seen, e.ID)
				}
				last = found
				add(t, l, decision(fmt.Sprintf("new%02d", len(seen))))
			}
			slices.Reverse(seen)
			if want := 20; len(seen) != want || !slices.IsSorted(seen) || len(slices.Compact(slices.Clone(seen))) != want {
				t.Errorf("%d calls: %v", len(seen), seen)
			}
			next, err := x.Query(t.Context(), Query{Limit: 3, After: last[0].Seq, OldestFirst: true})
			if err != nil || len(next) != 3 || next[0].ID != "c02" || next[2].ID != "c04" {
				t.Errorf("back again: %v %v", next, err)
			}
			one, err := x.Query(t.Context(), Query{Before: next[1].Seq + 1, After: next[1].Seq - 1})
			if err != nil || len(one) != 1 || one[0].ID != "c03" {
				t.Errorf("one call: %v %v", one, err)
			}
		})
	}
}

// TestBelow: the sub-agents of a session are found, and those of sub-agents; their calls and their changes are found with it, and no
// others.
func TestBelow(t *testing.T) {
	o := options(t)
	l, x := openLog(t, o), openIndex(t, o)
	begin := func(id, above string) {
		add(t, l, audit.Record{ID: audit.NewID(), Kind: audit.Session, Session: id, Note: "session spawned", Args: []byte(
			fmt.Sprintf(`{"act":"spawned","above":%q}`, above))})
		r := decision("call-" + id)
		r.Session, r.ToolUse = id, "use-"+id
		add(t, l, r, audit.Record{ID: r.ID, Kind: audit.Outcome, Session: id, Outcome: "error", Error: "no " + id})
	}
	begin("other", "")
	begin("top", "")
	begin("a", "top")
	begin("b", "other")
	begin("c", "a")
	below, err := x.Below(t.Context(), "top")
	if err != nil || !slices.Equal(below, []string{"a", "c"}) {
		t.Fatal(below, err)
	}
	if none, err := x.Below(t.Context(), "absent"); err != nil || none != nil {
		t.Error(none, err)
	}
	found, err := x.Query(t.Context(), Query{Session: "top", Also: below})
	if err != nil || len(found) != 3 || found[0].Session != "c" || found[2].Error != "no top" || found[2].ToolUse != "use-top" {
		t.Errorf("%+v %v", found, err)
	}
	changes, err := x.Changes(t.Context(), Query{Session: "top", Also: below})
	if err != nil || len(changes) != 3 || changes[0].Session != "c" {
		t.Errorf("%+v %v", changes, err)
	}
}

// TestCounts: what sessions did, and parts of a time, are counted from the index and the end of the log alike.
func TestCounts(t *testing.T) {
	o := options(t)
	l, x := openLog(t, o), openIndex(t, o)
	call := func(session, tool, outcome, by string, at, took time.Duration) {
		r := decision(audit.NewID())
		r.Session, r.Tool, r.Time, r.DecidedBy = session, tool, day.Add(at), by
		r.Thinking = &audit.Thinking{Thinking: "because", Tokens: 5}
		add(t, l, r, audit.Record{ID: r.ID, Kind: audit.Outcome, Session: session, Outcome: outcome, Duration: took})
	}
	call("a", "early", "ok", "policy", -time.Hour, time.Second)
	call("a", "one", "ok", "policy", 0, time.Second)
	if err := x.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	call("a", "two", "denied", "person", 9*time.Minute+30*time.Second, 3*time.Second)
	call("b", "three", "ok", "policy", 2*time.Minute, time.Second)
	did, err := x.Activity(t.Context(), day, day.Add(10*time.Minute))
	a, b := did["a"], did["b"]
	if err != nil || a.Calls != 2 || a.Denied != 1 || a.Minute != 1 || a.LastTool != "two" || b.Calls != 1 || b.Minute != 0 ||
		!b.LastTime.Equal(day.Add(2*time.Minute)) {
		t.Errorf("%+v %v", did, err)
	}
	parts, err := x.Slices(t.Context(), day, day.Add(10*time.Minute), 5*time.Minute)
	if err != nil || len(parts) != 2 {
		t.Fatal(parts, err)
	}
	if p := parts[0]; p.Outcomes["ok"] != 2 || p.Deciders["policy"] != 2 || p.Ended != 2 || p.Took != 2*time.Second || p.Tokens != 10 {
		t.Errorf("%+v", p)
	}
	if p := parts[1]; p.Outcomes["denied"] != 1 || p.Deciders["person"] != 1 || p.Longest != 3*time.Second ||
		!p.Start.Equal(day.Add(5*time.Minute)) {
		t.Errorf("%+v", p)
	}
}

// TestWatch: a record is told of when it is written, and none from before is.
func TestWatch(t *testing.T) {
	o := options(t)
	l, x := openLog(t, o), openIndex(t, o)
	add(t, l, decision("before"))
	ctx, cancel := context.WithCancel(t.Context())
	ready, told, ended := make(chan struct{}), make(chan string, 10), make(chan error, 1)
	go func() {
		ended <- x.Watch(ctx, func() { close(ready) }, func(r audit.Record) { told <- r.ID })
	}()
	<-ready
	for i := range 3 {
		began := time.Now()
		add(t, l, decision(fmt.Sprint("c", i)))
		if got := <-told; got != fmt.Sprint("c", i) {
			t.Errorf("told of %s", got)
		}
		t.Logf("told %v after the append began", time.Since(began))
	}
	cancel()
	if err := <-ended; err != nil && !strings.Contains(err.Error(), "canceled") {
		t.Error(err)
	}
}

// TestLongTail: a query brings the index up to date if it lags far behind the log, and leaves a short tail to the daemon.
func TestLongTail(t *testing.T) {
	o := options(t)
	l, x := openLog(t, o), openIndex(t, o)
	lags := func() bool {
		t.Helper()
		lag, err := x.Lag(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return lag > 0
	}
	asks := func(want string) {
		t.Helper()
		if found, err := x.Query(t.Context(), Query{Limit: 1}); err != nil || len(found) != 1 || found[0].ID != want {
			t.Errorf("the newest call: %v %v, want %s", found, err, want)
		}
	}
	add(t, l, decision("short"))
	asks("short")
	if !lags() {
		t.Error("a query of a short tail wrote to the index")
	}
	long := decision("long")
	long.Args = []byte(`{"path":"` + strings.Repeat("a", 4<<10) + `"}`)
	add(t, l, slices.Repeat([]audit.Record{long}, longTail>>12)...)
	asks("long")
	if lags() {
		t.Error("the index still lags far behind")
	}
}
