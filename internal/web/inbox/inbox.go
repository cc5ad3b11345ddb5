// Package inbox is the room of what waits for a person: each with who asks, what would happen, and the answers that can be given.
package inbox

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

//go:embed pages/*.html
var pages embed.FS

// Room is the inbox.
func Room() site.Room {
	return site.Room{Pages: pages, Nav: []site.Link{{Href: "/inbox", Text: "Inbox", Count: "/inbox/count"}},
		Routes: func(s *site.Site) []site.Route {
			in := room{s}
			return []site.Route{
				{Pattern: "GET /inbox", Serve: in.list},
				{Pattern: "GET /inbox/count", Serve: in.count},
				{Pattern: "POST /inbox/several", Serve: in.several},
				{Pattern: "GET /inbox/{project}/{id}", Serve: in.one},
				{Pattern: "POST /inbox/{project}/{id}", Serve: in.answer},
				{Pattern: "GET /inbox/{project}/" + kindSkill, Serve: in.skill},
				{Pattern: "POST /inbox/{project}/" + kindKeep, Serve: in.decide(kindKeep)},
				{Pattern: "POST /inbox/{project}/" + kindHeld, Serve: in.decide(kindHeld)},
				{Pattern: "POST /inbox/{project}/" + kindSkill, Serve: in.decide(kindSkill)},
				{Pattern: "POST /inbox/{project}/" + kindFiles, Serve: in.decide(kindFiles)},
				{Pattern: "POST /inbox/{project}/" + kindWork, Serve: in.decide(kindWork)},
			}
		}}
}

// room is the inbox of a site.
type room struct{ *site.Site }

// live are the events after which a page of the inbox is loaded anew.
const live = "sse:inbox, sse:node, sse:resync"

// include are the names of the cards that a page shows, so that it can show who has answered them.
const include = "#view .shown"

// files are what only the pages of the inbox load.
var files = []string{"inbox.js", "inbox.css", "push.js", "passkey.js"}

// waitingList is what the inbox shows.
type waitingList struct {
	Cards    []card
	Settled  []card // that the open page showed and somebody else has answered
	Several  []several
	Running  int      // nodes that answered
	Problems []string // nodes that did not
	Problem  string   // why an answer was not taken
	Done     *card    // the request that was answered last
	Decided  string   // what was decided last, and is no request
}

// waiting returns what waits for a person in all projects.
func (s room) waiting(ctx context.Context) waitingList {
	lists, problem := site.AskAll(ctx, s.Site, api.ApprovalsList, op.None{})
	more, _ := site.AskAll(ctx, s.Site, api.Waits, api.WaitsParams{Calls: true})
	var in waitingList
	if problem != "" {
		in.Problems = append(in.Problems, problem)
	}
	about := map[string]api.WaitsReply{}
	for _, w := range more {
		switch {
		case errors.Is(w.Err, site.ErrNoNode):
			continue
		case w.Err != nil:
			w.Reply.Faults = append(w.Reply.Faults, text.Describe(w.Err))
		}
		about[site.Key(w.Paths)] = w.Reply
		in.Cards = append(in.Cards, otherCards(w.Paths, w.Reply)...)
		for _, f := range w.Reply.Faults {
			in.Problems = append(in.Problems, site.Name(w.Paths)+": "+text.Visible(f))
		}
	}
	for _, l := range lists {
		switch {
		case errors.Is(l.Err, site.ErrNoNode):
		case l.Err != nil:
			in.Problems = append(in.Problems, site.Name(l.Paths)+": "+text.Visible(text.Describe(l.Err)))
		default:
			in.Running++
			for _, q := range l.Reply {
				c := cardOf(l.Paths, q)
				c.know(about[c.Key].About[q.ID])
				in.Cards = append(in.Cards, c)
			}
		}
	}
	slices.Sort(in.Problems)
	in.Problems = slices.Compact(in.Problems)
	slices.SortFunc(in.Cards, urgent)
	in.group()
	return in
}

// count says how many wait, for the navigation of every page; nothing if none does.
func (s room) count(w http.ResponseWriter, r *http.Request, _ device.Device) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if n := len(s.waiting(r.Context()).Cards); n > 0 {
		fmt.Fprintf(w, `<b>%d</b><span class="unseen"> waiting for you</span>`, n)
	}
}

// list shows the inbox. An open page says which requests it showed: of one that somebody else has answered since, it is told who.
func (s room) list(w http.ResponseWriter, r *http.Request, d device.Device) {
	in := s.waiting(r.Context())
	s.settled(r.Context(), &in, r.URL.Query()["shown"], d)
	if done := r.URL.Query().Get("done"); done != "" {
		if c, ok := s.settledCard(r.Context(), done); ok {
			in.Done = &c
		}
	}
	in.Decided = text.OneLine(text.TruncateRunes(r.URL.Query().Get("decided"), 200))
	s.showInbox(w, r, http.StatusOK, d, in)
}

// mostSettled bounds the answers of others that a page keeps showing.
const mostSettled = 20

// settled adds the requests that a page showed and that wait no longer: the one that this device has answered last, and those that others
// have.
func (s room) settled(ctx context.Context, in *waitingList, shown []string, d device.Device) {
	shown = slices.Compact(slices.Sorted(slices.Values(shown)))
	for _, name := range shown[:min(len(shown), 512)] {
		if slices.ContainsFunc(in.Cards, func(c card) bool { return c.Key+"/"+c.ID == name }) {
			continue
		}
		c, ok := s.settledCard(ctx, name)
		switch {
		case !ok:
		case c.Via == via(d):
			in.Done = &c
		case len(in.Settled) < mostSettled:
			in.Settled = append(in.Settled, c)
		}
	}
}

// via is how the record names a device.
func via(d device.Device) string { return api.Answer{Device: d.ID}.Via() }

// settledCard is a request that was answered, by PROJECT/ID.
func (s room) settledCard(ctx context.Context, name string) (c card, ok bool) {
	key, id, _ := strings.Cut(name, "/")
	p, known := s.Project(key)
	if !known || id == "" {
		return c, false
	}
	q, err := site.Ask(ctx, s.Site, p, api.ApprovalsShow, api.ApprovalParams{ID: id})
	if err != nil || q.State == approval.Pending {
		return c, false
	}
	return cardOf(p, q), true
}

func (s room) showInbox(w http.ResponseWriter, r *http.Request, status int, d device.Device, in waitingList) {
	s.Show(w, r, status, "inbox", d, site.Page{Title: "Inbox", Here: "/inbox", Live: live, Include: include,
		Files: files, Body: in})
}

// single is the page of one card.
type single struct {
	Card    card
	Problem string // why an answer was not taken
}

func (s room) showOne(w http.ResponseWriter, r *http.Request, status int, d device.Device, one single) {
	s.Show(w, r, status, "single", d, site.Page{Title: one.Card.Title, Here: r.URL.Path, Live: live, Include: include,
		Files: files, Body: one})
}

// one shows a request alone, with what it can be approved as.
func (s room) one(w http.ResponseWriter, r *http.Request, d device.Device) {
	p, known := s.Project(r.PathValue("project"))
	if !known {
		s.refuseAnswer(w, r, http.StatusNotFound, d, "There is no such project.")
		return
	}
	q, err := site.Ask(r.Context(), s.Site, p, api.ApprovalsShow, api.ApprovalParams{ID: r.PathValue("id")})
	if err != nil {
		s.refuseAnswer(w, r, failure.Of(err).Kind.HTTP(), d, text.Visible(text.Describe(err)))
		return
	}
	one := single{Card: cardOf(p, q)}
	one.Card.Alone = true
	more, err := site.Ask(r.Context(), s.Site, p, api.Waits, api.WaitsParams{Calls: true, Ways: q.ID})
	if err != nil {
		one.Problem = text.Visible(text.Describe(err))
	}
	one.Card.know(more.About[q.ID])
	one.Card.widen(q, more.Ways)
	s.showOne(w, r, http.StatusOK, d, one)
}

// answer answers a request, with the call by which a command does. The answer is bound to what the page showed.
func (s room) answer(w http.ResponseWriter, r *http.Request, d device.Device) {
	r.Body = http.MaxBytesReader(w, r.Body, site.MaxForm)
	if err := r.ParseForm(); err != nil {
		s.refuseAnswer(w, r, http.StatusBadRequest, d, "The form cannot be read: "+err.Error())
		return
	}
	p, known := s.Project(r.PathValue("project"))
	if !known {
		s.refuseAnswer(w, r, http.StatusNotFound, d, "There is no such project.")
		return
	}
	q, err := site.Ask(r.Context(), s.Site, p, api.ApprovalsShow, api.ApprovalParams{ID: r.PathValue("id")})
	if err != nil {
		s.refuseAnswer(w, r, failure.Of(err).Kind.HTTP(), d, text.Visible(text.Describe(err)))
		return
	}
	said, problem := answerOfForm(r.PostForm, q)
	if problem != "" {
		s.refuseAnswer(w, r, http.StatusBadRequest, d, problem)
		return
	}
	said.ID, said.Device = q.ID, d.ID
	if _, err := site.Ask(r.Context(), s.Site, p, api.ApprovalsAnswer, said); err != nil {
		s.refuseAnswer(w, r, failure.Of(err).Kind.HTTP(), d, text.Visible(text.Describe(err)))
		return
	}
	s.Tell("answered by " + d.ID + ": " + text.OneLine(said.ID) + " of " + site.Name(p))
	s.answered(w, r, d, site.Key(p)+"/"+said.ID, "")
}

// answered shows the inbox after a decision: of a request, or of something else, in words.
func (s room) answered(w http.ResponseWriter, r *http.Request, d device.Device, request, decided string) {
	if r.Header.Get("HX-Request") == "" {
		site.SeeOther(w, r, "/inbox?"+url.Values{"done": {request}, "decided": {decided}}.Encode())
		return
	}
	in := s.waiting(r.Context())
	s.settled(r.Context(), &in, append(r.PostForm["shown"], request), d)
	in.Decided = decided
	s.showInbox(w, r, http.StatusOK, d, in)
}

// refuseAnswer shows the inbox with why the answer was not taken.
func (s room) refuseAnswer(w http.ResponseWriter, r *http.Request, status int, d device.Device, problem string) {
	in := s.waiting(r.Context())
	s.settled(r.Context(), &in, r.PostForm["shown"], d)
	in.Problem = problem
	s.showInbox(w, r, status, d, in)
}
