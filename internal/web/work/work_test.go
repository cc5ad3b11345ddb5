package work

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/session"
	"mycelium/internal/node/api"
	"mycelium/internal/node/talks"
	"mycelium/internal/text"
	"mycelium/internal/transcript"
	"mycelium/internal/web/site"
	"mycelium/internal/web/timeline"
	"mycelium/internal/web/webtest"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// TestInjections has a text of an agent in each place of the room that an agent can write to.
func TestInjections(t *testing.T) {
	t.Parallel()
	s := webtest.Site(t, Room(), timeline.Room())
	webtest.HoldsText(t, func(x string) map[string]string {
		p := s.Root.Of("/home/" + x)
		agent := approval.AgentSession{ID: x, Session: "s1", Agent: x, Label: x, Dir: x, Role: x, State: approval.SessionState(x), Task: x,
			Last: x, Result: x, Tokens: 5}
		summary := session.Summary{ID: "s1", Name: x, Principal: x, Role: x, Roles: []string{x}, Skills: []string{x}, Live: true,
			Limits: []limit.Use{{Limit: x, Of: x, Tools: x, Retry: 5000}}}
		below := session.Summary{ID: "s2", Name: x, Principal: x, Role: x, Above: "s1", Live: true}
		call := index.Entry{ID: x, Seq: 3, Session: "s1", Principal: "p/" + "child", Role: x, Tool: x, Effect: x, Rule: x, Reason: x,
			DecidedBy: x, Outcome: x, Agent: x, Sandbox: x, Error: x, ToolUse: "t1", Time: noon, Thinking: &audit.Thinking{Thinking: x}}
		at := projectAtWork{Name: site.Name(p), Dir: text.OneLine(x), Key: site.Key(p), Problem: x, Warnings: []string{x}, Waiting: 1}
		at.Warnings = append(at.Warnings, warningsOf(api.StatusReply{Damage: []string{x}, Problem: x})...)
		ended := agent
		ended.ID, ended.Session, ended.State, ended.Ended = "e", x, approval.Done, noon
		at.fill(p, work{Alive: []approval.AgentSession{agent}, Agents: []approval.AgentSession{agent, ended},
			Sessions: []session.Summary{summary, below},
			Activity: activity{"s1": {Calls: 1, LastTool: x}}, Refused: []index.Entry{call}}, noon)
		home := overview{Problem: x, Quiet: []string{x}, Projects: []projectAtWork{at}}
		k := known{id: "s1", agent: &agent, summary: &summary, lanes: lanesOf(p, "s1", []string{x}),
			said: talks.Said{Messages: []transcript.Message{{Role: x, Content: x, Thinking: x, Time: noon}},
				Results: map[string]transcript.Call{"t1": {Output: x}}}}
		view := sessionView{Project: x, Dir: x, Key: site.Key(p), ID: x, Problem: x}
		view.Rows = k.group(p, place{}, k.between(place{}, nil, false), []index.Entry{call}, []audit.Record{{Session: "s1", Role: x, Note: x,
			Skills: []string{x}, Time: noon}})
		k.describe(&view, p, noon)
		return map[string]string{"home": webtest.Show(s, "home", x, home), "session": webtest.Show(s, "session", x, view)}
	})
}

// TestStates: the state of each session is told as it is, what waits for a person stands first, a sub-agent stands below the session that
// started it, and an agent that the node does not know to be there is not at work.
func TestStates(t *testing.T) {
	t.Parallel()
	p := webtest.Site(t, Room(), timeline.Room()).Root.Of("/p")
	agent := func(id string, state approval.SessionState) approval.AgentSession {
		return approval.AgentSession{ID: id, Session: "s-" + id, Agent: "claude", Label: id, State: state, Since: noon}
	}
	w := work{Agents: []approval.AgentSession{agent("active", approval.Active), agent("idle", approval.Idle), agent("asks", approval.Idle),
		agent("pending", approval.PermissionPending), agent("limited", approval.Active), agent("done", approval.Done),
		agent("halted", approval.Halted), agent("gone", approval.Active)}}
	w.Alive = w.Agents[:7]
	w.Waiting = []approval.Request{{Session: "s-asks"}, {Session: "s-idle", Kind: approval.Stop}}
	w.Activity = activity{"s-busy": {Calls: 5, Minute: 2, LastTool: "read"}}
	for _, s := range []session.Summary{{ID: "s-limited", Limits: []limit.Use{{Limit: "perMinute", Of: "role", Retry: 60_000}}},
		{ID: "s-busy"}, {ID: "s-child", Above: "s-active"}, {ID: "s-grandchild", Above: "s-child"}} {
		s.Live, s.Created = true, noon
		w.Sessions = append(w.Sessions, s)
	}
	at, ended := itemsOf(p, w, noon)
	got := map[string]string{}
	for _, i := range append(at, ended...) {
		got[i.Name] = i.State
	}
	want := map[string]string{"active": "works", "idle": "is idle", "asks": "waits for a person", "pending": "waits for a person",
		"limited": "waits for a limit", "s-busy": "works", "done": "has ended", "halted": "was ended", "gone": "is gone, and told of no end"}
	if !maps.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if len(ended) != 3 || at[0].State != "waits for a person" || at[2].Limit != "perMinute of the role, until 12:01:00 UTC" {
		t.Errorf("%+v", at)
	}
	for _, i := range at {
		if i.Name == "active" && (len(i.Children) != 1 || len(i.Children[0].Children) != 1) {
			t.Errorf("sub-agents: %+v", i.Children)
		}
	}
}

// TestPartsOfATimeline: parts that are asked for one after the other have every call, message and change once, in their order.
func TestPartsOfATimeline(t *testing.T) {
	t.Parallel()
	p := webtest.Site(t, Room(), timeline.Room()).Root.Of("/p")
	k := known{id: "s", lanes: lanesOf(p, "s", nil)}
	var calls []index.Entry
	var changes []audit.Record
	for i := range 120 {
		at := noon.Add(time.Duration(i) * time.Second)
		calls = append(calls, index.Entry{Seq: int64(10 + 2*i), Session: "s", Time: at, Tool: fmt.Sprint("call", i)})
		k.said.Messages = append(k.said.Messages, transcript.Message{Role: "user", Content: fmt.Sprint("said", i),
			Time: at.Add(time.Millisecond)})
		changes = append(changes, audit.Record{Session: "s", Note: fmt.Sprint("change", i), Time: at.Add(2 * time.Millisecond)})
	}
	part := func(at place) timeline.Group {
		var found []index.Entry
		for _, e := range calls {
			if (at.before.seq == 0 || e.Seq < at.before.seq) && e.Seq > at.after.seq {
				found = append(found, e)
			}
		}
		more := len(found) > sessionPage
		if at.newer {
			found = found[:min(len(found), sessionPage)]
		} else {
			found = found[max(0, len(found)-sessionPage):]
		}
		slices.Reverse(found)
		between := k.between(at, found, more)
		var happened []audit.Record
		for _, r := range changes {
			if !r.Time.Before(between.from) && (between.until.IsZero() || r.Time.Before(between.until)) {
				happened = append(happened, r)
			}
		}
		return k.group(p, at, between, found, happened)
	}
	follow := func(address string) place {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return placeOf(u.Query())
	}
	var names []string
	g := part(place{})
	first := g
	for {
		for _, row := range g.Rows {
			switch {
			case row.Call != nil:
				names = append(names, row.Call.Tool)
			case row.Message != nil:
				names = append(names, row.Message.Text)
			default:
				names = append(names, row.Change.Note)
			}
		}
		if g.Older == "" {
			break
		}
		g = part(follow(g.Older))
	}
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	if len(names) != 360 || len(slices.Compact(sorted)) != 360 || names[0] != "change119" || names[359] != "call0" {
		t.Errorf("%d rows, %d of them once: %v", len(names), len(slices.Compact(sorted)), names)
	}
	if rest := part(follow(first.Newer)); len(rest.Rows) != 0 {
		t.Errorf("what came since: %d rows", len(rest.Rows))
	}
	if back := part(follow(g.Newer)); len(back.Rows) != 148 || back.Rows[147].Call.Tool != "call20" {
		t.Errorf("back again: %d rows, the last is %+v", len(back.Rows), back.Rows[len(back.Rows)-1])
	}
}
