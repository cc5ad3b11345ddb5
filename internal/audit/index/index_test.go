package index

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"mycelium/internal/audit"
	"mycelium/internal/policy"
	"mycelium/internal/store"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

func options(t testing.TB) audit.Options {
	dir := t.TempDir()
	return audit.Options{Dir: filepath.Join(dir, "audit"), Lock: filepath.Join(dir, "audit.lock"), KeyDir: filepath.Join(dir, "home", "keys")}
}

func openLog(t testing.TB, o audit.Options) *audit.Log {
	t.Helper()
	l, err := audit.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func add(t testing.TB, l *audit.Log, recs ...audit.Record) {
	t.Helper()
	for _, r := range recs {
		if err := l.Append(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	}
}

func decision(id string) audit.Record {
	return audit.Record{ID: id, Kind: audit.Decided, Principal: "p1", Role: "guest", Tool: "files__read_file", Server: "files",
		Args: []byte(`{"path":"a.txt"}`), Effect: "allow", Rule: "fallback"}
}

func openIndex(t testing.TB, o audit.Options) *Index {
	t.Helper()
	db, err := store.Open(context.Background(), "sqlite://"+filepath.Join(filepath.Dir(o.Lock), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return New(db, o)
}

var day = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// fill writes nine calls: c0 to c7 with an outcome every other, a denial, reasoning; and acts that are no calls.
func fill(t testing.TB, l *audit.Log) {
	add(t, l, audit.Record{ID: "op", Kind: audit.Operator, Note: "session new"})
	for i := range 8 {
		id := fmt.Sprint("c", i)
		r := decision(id)
		r.Time = day.Add(time.Duration(i) * time.Minute)
		r.Session, r.Role = fmt.Sprint("s", i%2), []string{"guest", "developer"}[i%2]
		switch i {
		case 1:
			r.Sandbox = "project"
		case 2:
			r.Effect, r.Reason, r.Tool, r.Unknown = "deny", "=HYPERLINK(1)", "files__write_file", true
		case 3:
			r.Thinking = &audit.Thinking{Thinking: "I should read the configuration first", Type: "reasoning", Tokens: 10, Claimed: true}
		case 5:
			r.Thinking = &audit.Thinking{Thinking: "設定ファイルを読み込みます。" + strings.Repeat("長", 600),
				Type: "extended_thinking", Tokens: 30}
		}
		add(t, l, r)
		switch i {
		case 0, 4, 6:
			add(t, l, audit.Record{ID: id, Kind: audit.Outcome, Outcome: "ok", Duration: 2 * time.Millisecond, Time: r.Time})
		case 5:
			add(t, l, audit.Record{ID: id, Kind: audit.Outcome, Outcome: "error", Error: "boom", Duration: 4 * time.Millisecond, Time: r.Time})
		}
	}
}

func ids(t testing.TB, x *Index, q Query) string {
	t.Helper()
	es, err := x.Query(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range es {
		out = append(out, e.ID)
	}
	return strings.Join(out, " ")
}

// TestLateThinking: reasoning that came with the outcome belongs to the call, whatever the index has read of it before.
func TestLateThinking(t *testing.T) {
	for _, followed := range []string{"before", "after", "never", "rebuilt"} {
		o := options(t)
		l, x := openLog(t, o), openIndex(t, o)
		follow := func(when string) {
			if followed == when {
				if err := x.Follow(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		early := decision("early")
		early.Thinking = &audit.Thinking{Thinking: "known before"}
		add(t, l, decision("late"), early, decision("none"))
		follow("before")
		for _, id := range []string{"late", "early", "none"} {
			r := audit.Record{ID: id, Kind: audit.Outcome, Outcome: "ok"}
			if id == "late" {
				r.Thinking = &audit.Thinking{Thinking: "known later", Claimed: true}
			}
			add(t, l, r)
		}
		follow("after")
		if followed == "rebuilt" {
			if err := x.Rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for text, want := range map[string]string{"known": "early late", "later": "late", "before": "early"} {
			if got := ids(t, x, Query{Text: text}); got != want {
				t.Errorf("followed %s: %q finds %q, want %q", followed, text, got, want)
			}
		}
	}
}

// TestQueries asks the same of an index that has read all, half and nothing of the log.
func TestQueries(t *testing.T) {
	yes, no := true, false
	ctx := context.Background()
	for _, followed := range []string{"all", "some", "none", "rebuilt"} {
		o := options(t)
		l := openLog(t, o)
		x := openIndex(t, o)
		if followed == "some" {
			add(t, l, audit.Record{ID: "c8", Kind: audit.Decided, Effect: "ask", Tool: "files__read_file", Role: "guest", Session: "s9",
				Time: day.Add(-time.Hour), Args: []byte(`{"n":1}`)})
			if err := x.Follow(ctx); err != nil {
				t.Fatal(err)
			}
			add(t, l, audit.Record{ID: "c8", Kind: audit.Decided, Effect: "allow", DecidedBy: "person"},
				audit.Record{ID: "c8", Kind: audit.Outcome, Outcome: "ok", Duration: 2 * time.Millisecond})
		} else {
			add(t, l, audit.Record{ID: "c8", Kind: audit.Decided, Effect: "ask", Tool: "files__read_file", Role: "guest", Session: "s9",
				Time: day.Add(-time.Hour), Args: []byte(`{"n":1}`)},
				audit.Record{ID: "c8", Kind: audit.Decided, Effect: "allow", DecidedBy: "person"},
				audit.Record{ID: "c8", Kind: audit.Outcome, Outcome: "ok", Duration: 2 * time.Millisecond})
		}
		fill(t, l)
		switch followed {
		case "all":
			if err := x.Follow(ctx); err != nil {
				t.Fatal(err)
			}
		case "rebuilt":
			for range 2 {
				if err := x.Rebuild(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, c := range []struct {
			q    Query
			want string
		}{
			{Query{}, "c7 c6 c5 c4 c3 c2 c1 c0 c8"},
			{Query{Limit: 2, Offset: 1}, "c6 c5"},
			{Query{Role: "developer"}, "c7 c5 c3 c1"},
			{Query{Tool: "files__write_file"}, "c2"},
			{Query{Session: "s0", Outcome: "ok"}, "c6 c4 c0"},
			{Query{Outcome: "unfinished"}, "c7 c3 c1"},
			{Query{Effect: "deny"}, "c2"},
			{Query{Effect: "ask"}, ""},
			{Query{Since: day.Add(2 * time.Minute), Until: day.Add(4 * time.Minute)}, "c3 c2"},
			{Query{HasThinking: &yes}, "c5 c3"},
			{Query{HasThinking: &no, Role: "developer"}, "c7 c1"},
			{Query{ThinkingType: "reasoning"}, "c3"},
			{Query{Text: "CONFIG read"}, "c3"},
			{Query{Text: "config missing"}, ""},
			{Query{Text: `"configuration" OR (x`}, ""},
			{Query{Text: "読み込み"}, "c5"},
			{Query{Text: "込読"}, ""},
			{Query{Text: "読"}, "c5"},
			{Query{Text: "。！"}, ""},
			{Query{Role: "' OR 1=1 --"}, ""},
		} {
			if got := ids(t, x, c.q); got != c.want {
				t.Errorf("%s: %+v: got %q, want %q", followed, c.q, got, c.want)
			}
		}
		es, err := x.Query(ctx, Query{Session: "s9"})
		if err != nil || len(es) != 1 || string(es[0].Args) != `{"n":1}` || es[0].Effect != "allow" || es[0].DecidedBy != "person" ||
			es[0].DurationMs != 2 {
			t.Errorf("%s: a call that was asked about: %+v, %v", followed, es, err)
		}
		checkFigures(t, x)
	}
}

func checkFigures(t *testing.T, x *Index) {
	t.Helper()
	ctx := context.Background()
	s, err := x.Stats(ctx, time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	want := Stats{Total: 9, ByOutcome: map[string]int{"ok": 4, "error": 1, "denied": 1, "unfinished": 3},
		ByTool: []Count{{"files__read_file", 8}, {"files__write_file", 1}}, ByRole: []Count{{"guest", 5}, {"developer", 4}},
		DenialRate: 1.0 / 9, AvgDurationMs: 2.4,
		Asks: Asks{Person: 1, Hours: 0.42, PerHour: 2.4, ByRule: []Asked{{Person: 1, PerHour: 2.4}},
			ByAgent: []Asked{{Person: 1, Hours: 0.42, PerHour: 2.4}}},
		Thinking: ThinkingStats{Entries: 2, Coverage: 2.0 / 9, Tokens: 40, Average: 20,
			ByType: map[string]int{"reasoning": 1, "extended_thinking": 1}}}
	if d := cmp.Diff(want, s); d != "" {
		t.Errorf("stats: %s", d)
	}
	if d, err := x.Denials(ctx, 0); err != nil || len(d) != 1 || d[0].ID != "c2" || string(d[0].Args) != `{"path":"a.txt"}` {
		t.Errorf("denials: %+v, %v; a denied call keeps its arguments", d, err)
	}
	r, err := x.Thinking(ctx, 0)
	if err != nil || len(r.Entries) != 2 || len([]rune(r.Entries[0].Preview)) != 500 || r.Entries[0].FullLength != 614 ||
		!r.Entries[1].Claimed {
		t.Errorf("thinking: %+v, %v", r, err)
	}
}

func TestExport(t *testing.T) {
	o := options(t)
	l, x := openLog(t, o), openIndex(t, o)
	ctx := context.Background()
	var b bytes.Buffer
	if err := x.Export(ctx, &b, "json", Query{}); err != nil || b.String() != "[]\n" {
		t.Errorf("nothing: %q, %v", b.String(), err)
	}
	fill(t, l)
	b.Reset()
	if err := x.Export(ctx, &b, "json", Query{}); err != nil {
		t.Fatal(err)
	}
	var es []map[string]any
	if err := json.Unmarshal(b.Bytes(), &es); err != nil || len(es) != 8 {
		t.Fatalf("%d entries, %v", len(es), err)
	}
	b.Reset()
	if err := x.Export(ctx, &b, "jsonl", Query{Limit: 3}); err != nil || strings.Count(b.String(), "\n") != 3 {
		t.Errorf("jsonl: %s, %v", b.String(), err)
	}
	b.Reset()
	if err := x.Export(ctx, &b, "csv", Query{}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 9 || !slices.Equal(rows[0], csvHeader) {
		t.Fatalf("csv: %v, %v", rows, err)
	}
	if want := []string{"c2", "2026-11-20T12:02:00Z", "s0", "guest", "files__write_file", "files", "denied", "'=HYPERLINK(1)", "0", "false",
		"", "0", ""}; !slices.Equal(rows[6], want) {
		t.Errorf("row %q, want %q", rows[6], want)
	}
	if got := rows[7][len(csvHeader)-1]; got != "project" || es[6]["sandbox"] != "project" {
		t.Errorf("the sandbox of c1 is %q and %v", got, es[6]["sandbox"])
	}
	if err := x.Export(ctx, &b, "xml", Query{}); err == nil || !strings.Contains(err.Error(), "json, jsonl or csv") {
		t.Errorf("xml: %v", err)
	}
}

func TestEntryShape(t *testing.T) {
	for args, want := range map[string]string{`{"b":1,"a":1.50}`: `{"b":1,"a":1.50}`, "": "null"} {
		raw, err := json.Marshal(Entry{ID: "x", Sandbox: "box", Args: []byte(args), Thinking: &audit.Thinking{Thinking: "t", Tokens: 3}})
		full := `{"id":"x","time":"0001-01-01T00:00:00Z","session":"","principal":"","agent":"","role":"","surface":"",` +
			`"tool":"","server":"","args":` +
			want +
			`,"effect":"","rule":"","reason":"","decidedBy":"","sandbox":"box","outcome":"","durationMs":0,` +
			`"thinking":{"thinking":"t","thinkingTokens":3}}`
		if err != nil || string(raw) != full {
			t.Errorf("got %s, %v\nwant %s", raw, err, full)
		}
	}
}

func TestFollowAcrossSegmentsAndNewLog(t *testing.T) {
	o := options(t)
	o.Rotate = 3000
	ctx := context.Background()
	l, x := openLog(t, o), openIndex(t, o)
	for i := range 1500 { // more than a batch
		add(t, l, decision(fmt.Sprint("a", i)))
		if i%400 == 0 {
			if err := x.Follow(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := x.Follow(ctx); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := x.db.QueryRow("SELECT count(*) FROM audit_calls").Scan(&n); err != nil || n != 1500 {
		t.Errorf("%d rows, %v", n, err)
	}
	// Another log in the place of the first: queries say so, Follow begins anew.
	o2 := options(t)
	add(t, openLog(t, o2), decision("b0"))
	y := New(x.db, o2)
	if _, err := y.Query(ctx, Query{}); err == nil || !strings.Contains(err.Error(), "reindex") {
		t.Errorf("query of an index of another log: %v", err)
	}
	if err := y.Follow(ctx); err != nil {
		t.Fatal(err)
	}
	if got := ids(t, y, Query{}); got != "b0" {
		t.Errorf("after the log was replaced: %q", got)
	}
}

func TestQueryNeedsNoWriter(t *testing.T) {
	o := options(t)
	l, x := openLog(t, o), openIndex(t, o)
	add(t, l, decision("a"))
	err := x.db.Tx(context.Background(), func(*sql.Tx) error {
		if got := ids(t, x, Query{}); got != "a" {
			t.Errorf("while somebody writes: %q", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.db.Exec("DELETE FROM audit_calls"); err == nil {
		t.Error("after a query the reading pool writes")
	}
}

func BenchmarkFollow(b *testing.B) {
	o := options(b)
	l, x := openLog(b, o), openIndex(b, o)
	for b.Loop() {
		b.StopTimer()
		for i := range 500 {
			id := audit.NewID()
			add(b, l, decision(id), audit.Record{ID: id, Kind: audit.Outcome, Outcome: "ok", Duration: time.Duration(i)})
		}
		b.StartTimer()
		if err := x.Follow(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/record")
}

// million makes a log of a million records and its index: 500,000 calls of 40 sessions. One call in a thousand is of codex, runs ffmpeg,
// reaches example.org and is denied; the newest of them is not among the last ones.
func million(b *testing.B) *Index {
	o := options(b)
	l, x := openLog(b, o), openIndex(b, o)
	const calls = 500_000
	for i := range calls {
		r := decision(audit.NewID())
		r.Session, r.Agent, r.Surface = fmt.Sprint("s", i%40), "claude", "hook"
		r.Args = []byte(fmt.Sprintf(`{"command":"git log %d"}`, i))
		part := policy.Part{Program: "git", Paths: []policy.Path{{Raw: fmt.Sprint("src/f", i), Clean: fmt.Sprint("/p/src/f", i)}}}
		end := audit.Record{ID: r.ID, Kind: audit.Outcome, Outcome: "ok", Session: r.Session}
		if i%1000 == 0 {
			r.Agent, part.Program, part.Hosts, end.Outcome = "codex", "ffmpeg", []string{"example.org"}, "denied"
		}
		r.Facts = &policy.Facts{Parts: []policy.Part{part}}
		add(b, l, r, end)
		if i%10_000 == 0 {
			add(b, l, audit.Record{ID: audit.NewID(), Kind: audit.Session, Session: r.Session, Role: "guest"})
		}
	}
	began := time.Now()
	if err := x.Follow(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Logf("the index of %d records: %v", 2*calls, time.Since(began))
	return x
}

// BenchmarkPages measures the pages of a log of a million records, and what charts and the page of what is at work count.
func BenchmarkPages(b *testing.B) {
	x := million(b)
	const page = 51
	for _, c := range []struct {
		name string
		q    Query
	}{
		{"first", Query{Limit: page}}, {"deep", Query{Limit: page, Before: 1000}}, {"middle", Query{Limit: page, Before: 500_000}},
		{"back", Query{Limit: page, After: 500_000, OldestFirst: true}}, {"offset", Query{Limit: page, Offset: 499_900}},
		{"denied/first", Query{Limit: page, Outcome: "denied"}}, {"denied/deep", Query{Limit: page, Outcome: "denied", Before: 100_000}},
		{"session/first", Query{Limit: page, Session: "s7"}}, {"session/deep", Query{Limit: page, Session: "s7", Before: 1000}},
		{"tool/deep", Query{Limit: page, Tool: "files__*", Before: 1000}}, {"program/deep", Query{Limit: page, Before: 100_000,
			Filter: Filter{Program: "ffmpeg"}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if found, err := x.Query(b.Context(), c.q); err != nil || len(found) == 0 {
					b.Fatal(len(found), err)
				}
			}
		})
	}
	now := time.Now()
	b.Run("slices", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Slices(b.Context(), now.Add(-24*time.Hour), now, time.Hour); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("activity", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Activity(b.Context(), now.Add(-time.Hour), now); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFilters measures queries on a log of a million records.
func BenchmarkFilters(b *testing.B) {
	x := million(b)
	for _, c := range []struct {
		name string
		q    Query
	}{
		{"agent/often", Query{Filter: Filter{Agent: "claude"}}}, {"agent/rare", Query{Filter: Filter{Agent: "codex"}}},
		{"agent/absent", Query{Filter: Filter{Agent: "gemini"}}},
		{"program/often", Query{Filter: Filter{Program: "git"}}}, {"program/rare", Query{Filter: Filter{Program: "ffmpeg"}}},
		{"host/rare", Query{Filter: Filter{Host: "*.org"}}}, {"host/absent", Query{Filter: Filter{Host: "example.com"}}},
		{"path/absent", Query{Filter: Filter{Path: "src/absent"}}}, {"argument/absent", Query{Filter: Filter{Args: []string{"command=*x*"}}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Query(b.Context(), c.q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("changes", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Changes(b.Context(), Query{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkQueryTail(b *testing.B) {
	o := options(b)
	l, x := openLog(b, o), openIndex(b, o)
	for range 1000 {
		add(b, l, decision(audit.NewID()))
	}
	for b.Loop() {
		if _, err := x.Query(context.Background(), Query{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestQueriesUseTheIndex: a query reads the newest calls of a tool, a role or a session, and no others, also where the log has a tail that
// is not in the index.
func TestQueriesUseTheIndex(t *testing.T) {
	o := options(t)
	l, x := openLog(t, o), openIndex(t, o)
	add(t, l, decision("a"))
	if err := x.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		q    Query
		uses string
	}{
		"all":     {Query{}, "SCAN c"}, // from the newest on
		"tool":    {Query{Tool: "files__read_file"}, "SEARCH c USING INDEX audit_calls_tool (tool=?)"},
		"role":    {Query{Role: "guest"}, "SEARCH c USING INDEX audit_calls_role (role=?)"},
		"session": {Query{Session: "s"}, "SEARCH c USING INDEX audit_calls_scope (scope=?)"},
		"denied":  {Query{Outcome: "denied"}, "SEARCH c USING INDEX audit_calls_bad (outcome=?)"},
	} {
		for _, tail := range []bool{false, true} {
			err := x.read(t.Context(), func(tx *sql.Tx, _ bool) error {
				if tail {
					w, err := tempTables(t.Context(), tx)
					if err != nil {
						return err
					}
					defer w.close()
				}
				statement, args := selectEntries(c.q, tail)
				rows, err := tx.Query("EXPLAIN QUERY PLAN "+statement, args...)
				if err != nil {
					return err
				}
				defer rows.Close()
				var plan []string
				for rows.Next() {
					var id, parent, unused int
					var step string
					if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
						return err
					}
					plan = append(plan, step)
				}
				text := strings.Join(plan, "\n")
				sorts := strings.Contains(text, "TEMP B-TREE FOR ORDER BY") && name != "session" // it has several scopes
				if !slices.Contains(plan, c.uses) || sorts || tail && !strings.Contains(text, "MERGE (UNION ALL)") {
					t.Errorf("%s, tail %v: want %q, the order of an index, and a merge with a tail:\n%s", name, tail, c.uses, text)
				}
				return rows.Err()
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What only the lines of the log have is found with every filter, in the index and in its tail, and the limit counts what was found.
func TestFilters(t *testing.T) {
	o := options(t)
	l, x := openLog(t, o), openIndex(t, o)
	call := func(id, agent, by, rule, facts string) {
		r := decision(id)
		r.Agent, r.DecidedBy, r.Rule, r.Principal, r.Facts = agent, by, rule, "p1/kid"+id, &policy.Facts{}
		if err := json.Unmarshal([]byte(facts), r.Facts); err != nil {
			t.Fatal(err)
		}
		add(t, l, r)
	}
	call("1", "claude", "person", "no-push", `{"parts":[{"program":"git","argv":["git"],"hosts":["example.com"]}]}`)
	call("2", "codex", "policy", "[x]", `{"parts":[{"paths":[{"access":"read","raw":"b","clean":"/p/b.txt"}]}]}`)
	if err := x.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	call("3", "claude", "limit", "limit:a", `{"parts":[{"program":"gitk","argv":["gitk"]}]}`) // the tail
	// JSON writes such names in several ways.
	quoted := `{"parts":[{"paths":[{"access":"read","raw":"日.txt","clean":"/p/\"q\"/日.txt"}]}]}`
	call("4", "gemini", "policy", "other", quoted)
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{By: "person"}, "1"}, {Query{Rule: "no-*"}, "1"}, {Query{Rule: "[x]"}, "2"}, {Query{Tool: "files__*"}, "4 3 2 1"},
		{Query{Role: "g*t"}, "4 3 2 1"}, {Query{Role: "g?est"}, ""},
		{Query{Filter: Filter{Agent: "claude"}}, "3 1"}, {Query{Filter: Filter{Agent: "kid2"}}, "2"},
		{Query{Filter: Filter{Program: "git"}}, "1"}, {Query{Filter: Filter{Program: "git*"}}, "3 1"},
		{Query{Filter: Filter{Program: "git*"}, Limit: 1}, "3"}, {Query{Filter: Filter{Program: "git*"}, Offset: 1}, "1"},
		{Query{Filter: Filter{Host: "*.com"}}, "1"}, {Query{Filter: Filter{Path: "b.txt"}}, "2"}, {Query{Filter: Filter{Path: "/p/*"}}, "4 2"},
		{Query{Filter: Filter{Path: ".txt"}}, ""}, {Query{Filter: Filter{Path: `/p/"q"/日.txt`}}, "4"},
		{Query{Filter: Filter{Path: "日*"}}, "4"}, {Query{Filter: Filter{Args: []string{"path=a.*"}}, Limit: -1}, "4 3 2 1"},
		{Query{Filter: Filter{Args: []string{"path=a.txt", "x=*"}}}, ""},
	} {
		es, err := x.Query(t.Context(), c.q)
		var got []string
		for _, e := range es {
			got = append(got, e.ID)
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v, %v, want %s", c.q, got, err, c.want)
		}
	}
}
