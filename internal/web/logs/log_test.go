package logs

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
	"mycelium/internal/web/site"
	"mycelium/internal/web/timeline"
	"mycelium/internal/web/webtest"
)

// TestInjections has a text of an agent in each place of the log that an agent can write to.
func TestInjections(t *testing.T) {
	t.Parallel()
	s := webtest.Site(t, Room(), timeline.Room())
	webtest.HoldsText(t, func(x string) map[string]string {
		quote, err := json.Marshal(strings.ToValidUTF8(x, "?"))
		if err != nil {
			t.Fatal(err)
		}
		p := s.Root.Of("/home/" + x)
		form := url.Values{"tool": {x}, "arg": {"x=" + x}, "session": {x}}
		shown := recordList{Problem: x, Key: site.Key(p), Projects: []site.Choice{{Value: x, Text: x, Chosen: true}},
			Exports: []site.Link{{Href: "/log/export?" + form.Encode(), Text: x}}}
		shown.fill(form)
		for _, outcome := range []string{x, "unfinished"} {
			e := index.Entry{ID: x, Session: x, Role: x, Tool: x, Args: []byte(`{"x":` + string(quote) + `}`), Effect: x, Rule: x,
				Reason: x, DecidedBy: x, Outcome: outcome, Agent: x, Sandbox: x, Thinking: &audit.Thinking{Thinking: x, Claimed: true}, Seq: 7}
			shown.Rows.Rows = append(shown.Rows.Rows, groupOf(p, form, index.Query{}, []index.Entry{e}).Rows...)
		}
		shown.Rows.Newer, shown.Rows.Older = "/log?after=7&tool="+x, "/log?before=7&tool="+x
		return map[string]string{"log": webtest.Show(s, "log", x, shown)}
	})
}

// TestQueryOf: a form asks what the flags of myc audit query ask, and a word that it cannot read is said.
func TestQueryOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	q, err := queryOf(url.Values{"since": {"24h"}, "until": {"2026-11-27T11:00:00Z"}, "arg": {"a=b", ""}, "host": {"*.org"},
		"effect": {"ask"}, "before": {"80"}}, now)
	if err != nil || !q.Since.Equal(now.Add(-24*time.Hour)) || !q.Until.Equal(now.Add(-time.Hour)) || len(q.Args) != 1 || q.Host != "*.org" ||
		q.Effect != "ask" || q.Before != 80 || q.OldestFirst || q.Limit != logPage+1 {
		t.Errorf("%+v %v", q, err)
	}
	if q, err := queryOf(url.Values{"only": {"80"}}, now); err != nil || q.Before != 81 || q.After != 79 {
		t.Errorf("one call: %+v %v", q, err)
	}
	for _, bad := range []url.Values{{"since": {"yesterday"}}, {"until": {"soon"}}, {"arg": {"nothing"}}} {
		if _, err := queryOf(bad, now); err == nil {
			t.Errorf("%v is no error", bad)
		}
	}
}

// TestGroupOf: a page names the ones beside it by the calls at its edges, so that they stay the same while the log grows.
func TestGroupOf(t *testing.T) {
	t.Parallel()
	s := webtest.Site(t, Room(), timeline.Room())
	p := s.Root.Of("/home/x")
	calls := func(from, step int64, n int) (out []index.Entry) {
		for i := range n {
			out = append(out, index.Entry{Seq: from + step*int64(i), Outcome: "ok"})
		}
		return out
	}
	form := url.Values{"role": {"guest"}, "before": {"9"}, "offset": {"3"}}
	for _, test := range []struct {
		name         string
		q            index.Query
		found        []index.Entry
		newer, older string
		newest       bool
		rows         int
	}{
		{"the newest of more", index.Query{}, calls(100, -1, 51), "after=100", "before=51", true, 50},
		{"all there are", index.Query{}, calls(100, -1, 3), "after=100", "", true, 3},
		{"further back", index.Query{Before: 101}, calls(100, -1, 51), "after=100", "before=51", false, 50},
		{"back again", index.Query{After: 10, OldestFirst: true}, calls(11, 1, 51), "after=60", "before=11", false, 50},
		{"what came since", index.Query{After: 10, OldestFirst: true}, calls(11, 1, 2), "after=12", "before=11", true, 2},
		{"nothing", index.Query{After: 10, OldestFirst: true}, nil, "", "", false, 0},
	} {
		g := groupOf(p, form, test.q, test.found)
		has := func(at, want string) bool {
			return want == "" && at == "" || want != "" && strings.Contains(at, want) && strings.Contains(at, "role=guest") &&
				!strings.Contains(at, "offset")
		}
		if !has(g.Newer, test.newer) || !has(g.Older, test.older) || g.Newest != test.newest || len(g.Rows) != test.rows {
			t.Errorf("%s: %q %q %v, %d rows", test.name, g.Newer, g.Older, g.Newest, len(g.Rows))
		}
	}
}
