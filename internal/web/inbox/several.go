package inbox

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/node/api"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// several are calls that can be answered together: the same rule asks about them, and they have the same effects.
type several struct {
	ID, Project, Rule string
	Effects           []string
	Calls             []card
}

// Names is what the form of a card says of it: its project, its id and what was shown.
func (c card) Names() string { return c.Key + "/" + c.ID + "/" + c.Digest }

// Gist is what the call would do, on one line.
func (c card) Gist() string {
	var lines []string
	for _, l := range c.Lines {
		lines = append(lines, l.Text)
	}
	return approval.Short(strings.Join(lines, " "), 160)
}

// group finds the calls that can be answered together.
func (in *waitingList) group() {
	like := map[string][]card{}
	for _, c := range in.Cards {
		if c.Same != "" {
			like[c.Key+"\n"+c.Same] = append(like[c.Key+"\n"+c.Same], c)
		}
	}
	in.Several = nil
	for same, list := range like {
		if len(list) < 2 {
			continue
		}
		words := strings.Split(same, "\n") // project, risk, rule, effects
		g := several{ID: list[0].ID, Project: list[0].Project, Rule: text.OneLine(words[2]), Calls: list}
		for _, e := range words[3:] {
			g.Effects = append(g.Effects, text.OneLine(strings.ReplaceAll(e, "_", " ")))
		}
		slices.SortFunc(g.Calls, func(a, b card) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
		in.Several = append(in.Several, g)
	}
	slices.SortFunc(in.Several, func(a, b several) int { return urgent(a.Calls[0], b.Calls[0]) })
}

// chosenCall is one of the calls that a form answers.
type chosenCall struct {
	p      state.Paths
	q      approval.Request
	digest string
}

// several answers calls together, each by its own answer, which is bound to what the page showed. They must be equal in rule and effects:
// the form is not believed.
func (s room) several(w http.ResponseWriter, r *http.Request, d device.Device) {
	r.Body = http.MaxBytesReader(w, r.Body, site.MaxForm)
	if err := r.ParseForm(); err != nil {
		s.refuseAnswer(w, r, http.StatusBadRequest, d, "The form cannot be read: "+err.Error())
		return
	}
	list, problem := s.chosenCalls(r)
	allow := r.PostForm.Get("answer") == "once"
	if problem == "" && !allow && r.PostForm.Get("answer") != "deny" {
		problem = "The form says neither to allow nor to deny."
	}
	if problem != "" {
		s.refuseAnswer(w, r, http.StatusBadRequest, d, problem)
		return
	}
	var late []string
	done := 0
	for _, c := range list {
		_, err := site.Ask(r.Context(), s.Site, c.p, api.ApprovalsAnswer, api.Answer{ID: c.q.ID, Allow: &allow, For: approval.Once,
			Reason: strings.TrimSpace(r.PostForm.Get("reason")), Digest: c.digest, Device: d.ID})
		if err != nil {
			late = append(late, text.Visible(text.Describe(err)))
			continue
		}
		done++
		s.Tell("answered by " + d.ID + ": " + text.OneLine(c.q.ID) + " of " + site.Name(c.p))
	}
	if len(late) > 0 {
		s.refuseAnswer(w, r, http.StatusConflict, d, fmt.Sprintf("%d of %d were answered. ", done, len(list))+strings.Join(late, "\n"))
		return
	}
	said := "denied "
	if allow {
		said = "allowed "
	}
	s.answered(w, r, d, "", said+text.Count(done, "call")+" once")
}

// chosenCalls reads which calls a form answers. problem says why they cannot be answered together.
func (s room) chosenCalls(r *http.Request) (list []chosenCall, problem string) {
	names := slices.Compact(slices.Sorted(slices.Values(r.PostForm["call"])))
	if len(names) == 0 {
		return nil, "No call was chosen."
	}
	same := ""
	for _, name := range names {
		parts := strings.Split(name, "/")
		if len(parts) != 3 || parts[2] == "" {
			return nil, "The form does not say which requests it answers."
		}
		p, known := s.Project(parts[0])
		if !known {
			return nil, "There is no such project."
		}
		q, err := site.Ask(r.Context(), s.Site, p, api.ApprovalsShow, api.ApprovalParams{ID: parts[1]})
		if err != nil {
			return nil, text.Visible(text.Describe(err))
		}
		if q.State == approval.Pending { // of one that was answered meanwhile the answer says who did
			like := parts[0] + "\n" + likeness(q)
			if likeness(q) == "" || same != "" && like != same {
				return nil, "These calls are not equal in rule and effects, so each is answered alone. Nothing was answered."
			}
			same = like
		}
		list = append(list, chosenCall{p, q, parts[2]})
	}
	return list, ""
}
