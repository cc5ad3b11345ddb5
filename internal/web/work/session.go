package work

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
	"mycelium/internal/gate/session"
	"mycelium/internal/node/api"
	"mycelium/internal/node/talks"
	"mycelium/internal/op"
	"mycelium/internal/run/book"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
	"mycelium/internal/web/timeline"
)

// sessionPage is how many calls one part of a timeline has.
const sessionPage = 50

// sessionView is the page of one session.
type sessionView struct {
	Project, Dir, Key string
	ID                string
	Item              item
	Facts             []fact
	Sessions          string // the ids whose records are on the page, between spaces
	Above             string // the address of the session that started this one; "": none
	Lanes             []lane
	Result            string // what the agent said at its last stop
	Rows              timeline.Group
	Problem           string
}

// fact is a line of what is known of a session.
type fact struct{ Name, Value string }

// lane is a sub-agent on the page.
type lane struct {
	N          int
	Name, Page string // Page "": it has no session of its own
}

// errNoSession means that nothing is known of a session.
var errNoSession = errors.New("nothing is known of this session: it is neither at work nor in the log")

// known is what is known of a session.
type known struct {
	id      string
	agent   *approval.AgentSession // nil: it is no agent whose hooks told of it
	summary *session.Summary       // nil: it has ended, or no node runs
	all     work
	said    talks.Said
	lanes   *lanes
}

// session shows the timeline of one session.
func (s room) session(w http.ResponseWriter, r *http.Request, d device.Device) {
	p, ok := s.Project(r.PathValue("project"))
	if !ok {
		s.Fail(w, http.StatusNotFound, errors.New("there is no such project"))
		return
	}
	k := s.knownOf(r.Context(), p, r.PathValue("id"))
	shown := sessionView{Project: site.Name(p), Dir: text.OneLine(p.Project), Key: site.Key(p), ID: text.OneLine(k.id)}
	err := s.WithIndex(r.Context(), p, func(x *index.Index) error {
		below, err := x.Below(r.Context(), k.id)
		if err != nil {
			return err
		}
		k.lanes = lanesOf(p, k.id, below)
		if k.all.Activity, err = x.Activity(r.Context(), s.Now().Add(-lately), s.Now()); err != nil {
			return err
		}
		shown.Rows, err = k.rows(r.Context(), x, p, placeOf(r.URL.Query()))
		return err
	})
	switch {
	case err != nil:
		shown.Problem = text.Visible(text.Describe(err))
	case len(shown.Rows.Rows) == 0 && k.agent == nil && k.summary == nil && r.URL.RawQuery == "":
		s.Fail(w, http.StatusNotFound, errNoSession)
		return
	}
	k.describe(&shown, p, s.Now())
	s.Show(w, r, http.StatusOK, "session", d, site.Page{Title: cmp.Or(shown.Item.Name, "Session"), Here: r.URL.EscapedPath(),
		Live: "sse:resync", Files: append(timeline.Assets(), "work.css"), Body: shown})
}

// knownOf returns what a node knows of a session, or what is left of it without a node.
func (s room) knownOf(ctx context.Context, p state.Paths, id string) known {
	k := known{id: id, lanes: lanesOf(p, id, nil)}
	var err error
	if k.all, err = workOf(ctx, s.Site, p); err == nil {
		k.all.Waiting, err = site.Ask(ctx, s.Site, p, api.ApprovalsList, op.None{})
	}
	if err == nil {
		var st api.StatusReply
		st, err = site.Ask(ctx, s.Site, p, api.Status, op.None{})
		k.all.Alive = st.Agents
	}
	if err != nil {
		k.all.Agents, _ = book.Read(p.Agents()) // without what it remembers the log is as true
		slices.Reverse(k.all.Agents)
	}
	for i := range k.all.Agents {
		if a := &k.all.Agents[i]; a.Session == id && (k.agent == nil || k.agent.Seen.Before(a.Seen)) {
			k.agent = a
		}
	}
	for i := range k.all.Sessions {
		if k.all.Sessions[i].ID == id {
			k.summary = &k.all.Sessions[i]
		}
	}
	if k.agent != nil && k.agent.Transcript != "" {
		k.said, _ = s.live.Read(k.agent.Agent, k.agent.Transcript) // an agent without a file that can be read has calls only
	}
	return k
}

// lanes are the sub-agents of a session, by what their records say.
type lanes struct {
	list []lane
	of   map[string]int // the number of a lane, by the session or the last part of the principal of a sub-agent
	also []string
}

func lanesOf(p state.Paths, id string, below []string) *lanes {
	l := &lanes{of: map[string]int{id: 0}, also: below}
	for _, child := range below {
		l.number(child, pageOf(p, child))
	}
	return l
}

// pageOf is the address of a session.
func pageOf(p state.Paths, id string) string {
	return "/sessions/" + url.PathEscape(site.Key(p)) + "/" + url.PathEscape(id)
}

// number returns the number of a lane. There are four, which further sub-agents share.
func (l *lanes) number(name, page string) int {
	n, ok := l.of[name]
	if !ok {
		n = len(l.list) + 1
		l.of[name] = n
		l.list = append(l.list, lane{N: 1 + (n-1)%4, Name: text.OneLine(name), Page: page})
	}
	return n
}

// put puts a row in the lane of its session, or of the sub-agent whose principal stands below that of its agent.
func (l *lanes) put(row timeline.Row, id, session, principal string) timeline.Row {
	name := session
	if _, child, ok := strings.Cut(principal, "/"); session == id && ok && !strings.HasSuffix(child, id) {
		name = child[strings.LastIndex(child, "/")+1:]
	}
	if n := l.number(name, ""); n > 0 {
		row.Lane, row.Name = l.list[n-1].N, l.list[n-1].Name
	}
	return row
}

// describe fills in what is known besides the rows.
func (k *known) describe(v *sessionView, p state.Paths, now time.Time) {
	v.Item = k.all.itemOf(p, k.agent, k.summary, now)
	add := func(name, value string) {
		if value != "" {
			v.Facts = append(v.Facts, fact{name, text.OneLine(value)})
		}
	}
	if a := k.agent; a != nil {
		add("Agent", a.Agent)
		add("Folder", cmp.Or(a.Start, a.Dir))
		v.Result = text.Visible(text.TruncateRunes(a.Result, 2000))
	}
	if s := k.summary; s != nil {
		add("Who", s.Principal)
		add("May take", strings.Join(s.Roles, ", "))
		if s.Above != "" {
			v.Above = pageOf(p, s.Above)
		}
	}
	v.Lanes = k.lanes.list
	v.Sessions = strings.Join(append([]string{k.id}, k.lanes.also...), " ")
}

// rows returns a part of the timeline. Its calls make its length; what was said, and what happened to the sessions, stands between them.
func (k *known) rows(ctx context.Context, x *index.Index, p state.Paths, at place) (timeline.Group, error) {
	q := index.Query{Session: k.id, Also: k.lanes.also, Before: at.before.seq, After: at.after.seq, OldestFirst: at.newer,
		Limit: sessionPage + 1}
	if at.only != 0 {
		q.Before, q.After = at.only+1, at.only-1
	}
	calls, err := x.Query(ctx, q)
	if err != nil {
		return timeline.Group{}, err
	}
	more := len(calls) > sessionPage
	calls = calls[:min(len(calls), sessionPage)]
	if at.newer {
		slices.Reverse(calls)
	}
	part := k.between(at, calls, more)
	if at.only != 0 {
		part = span{}
	}
	var changes []audit.Record
	if at.only == 0 {
		changes, err = x.Changes(ctx, index.Query{Session: k.id, Also: k.lanes.also, Since: part.from, Until: part.until, Limit: maxChanges})
	}
	return k.group(p, at, part, calls, changes), err
}

// maxChanges bounds the changes of sessions in a part of a timeline.
const maxChanges = 200

// group makes the rows of a part, the newest first.
func (k *known) group(p state.Paths, at place, part span, calls []index.Entry, changes []audit.Record) timeline.Group {
	var g timeline.Group
	for _, e := range calls {
		row := timeline.CallOf(e)
		if result, ok := k.said.Results[e.ToolUse]; ok && e.ToolUse != "" {
			row.Call.SetResult(result.Output, result.Failed)
		}
		if row.Call.Open() {
			row.Call.Look = pageOf(p, k.id) + "?" + at.one(e.Seq)
		}
		row.Call.Session = ""
		g.Rows = append(g.Rows, k.lanes.put(row, k.id, e.Session, e.Principal))
	}
	for _, r := range changes {
		g.Rows = append(g.Rows, k.lanes.put(timeline.ChangeOf(r), k.id, r.Session, r.Principal))
	}
	for i := part.said[0]; i < part.said[1]; i++ {
		m := k.said.Messages[i]
		by := map[string]string{"user": "Prompt", "assistant": "Agent"}[m.Role]
		if strings.TrimSpace(m.Content) != "" || m.Thinking != "" {
			g.Rows = append(g.Rows, timeline.MessageOf(m.Time, cmp.Or(by, m.Role), m.Content, m.Thinking))
		}
	}
	slices.SortStableFunc(g.Rows, func(a, b timeline.Row) int { return b.Time.Compare(a.Time) })
	if part.edge(changes); len(g.Rows) > 0 {
		g.Newest = part.newest
		g.Newer = pageOf(p, k.id) + "?after=" + part.top.String()
		if part.older {
			g.Older = pageOf(p, k.id) + "?before=" + part.bottom.String()
		}
	}
	return g
}
