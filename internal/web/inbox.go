package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/policy"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
)

// maxForm bounds a form, in bytes.
const maxForm = 64 << 10

// waitingList is what the inbox shows.
type waitingList struct {
	Cards    []card
	Running  int      // nodes that answered
	Problems []string // nodes that did not
	Problem  string   // why an answer was not taken
	Done     *card    // the request that was answered last
}

// waiting returns what waits for a person in all projects.
func (s *Server) waiting(r *http.Request) waitingList {
	lists, problem := askAll(r.Context(), s, api.ApprovalsList, api.None{})
	var in waitingList
	if problem != "" {
		in.Problems = append(in.Problems, problem)
	}
	for _, l := range lists {
		switch {
		case errors.Is(l.Err, errNoNode):
		case l.Err != nil:
			in.Problems = append(in.Problems, nameOf(l.Paths)+": "+text.Visible(text.Describe(l.Err)))
		default:
			in.Running++
			for _, q := range l.Reply {
				in.Cards = append(in.Cards, cardOf(l.Paths, q))
			}
		}
	}
	slices.SortFunc(in.Cards, urgent)
	return in
}

func (s *Server) inbox(w http.ResponseWriter, r *http.Request, d device.Device) {
	in := s.waiting(r)
	if key, id, ok := strings.Cut(r.URL.Query().Get("done"), "/"); ok {
		if p, known := s.project(key); known {
			if q, err := ask(r.Context(), s, p, api.ApprovalsShow, api.ApprovalParams{ID: id}); err == nil && q.State != approval.Pending {
				c := cardOf(p, q)
				in.Done = &c
			}
		}
	}
	s.showInbox(w, r, http.StatusOK, d, in)
}

func (s *Server) showInbox(w http.ResponseWriter, r *http.Request, status int, d device.Device, in waitingList) {
	s.show(w, r, status, "inbox", d, page{Title: "Inbox", Here: "/inbox", Live: "sse:inbox, sse:node, sse:resync", Body: in})
}

// answer answers a request, with the call by which a command does. The answer is bound to what the page showed.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, d device.Device) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		s.refuseAnswer(w, r, http.StatusBadRequest, d, "The form cannot be read: "+err.Error())
		return
	}
	p, known := s.project(r.PathValue("project"))
	if !known {
		s.refuseAnswer(w, r, http.StatusNotFound, d, "There is no such project.")
		return
	}
	q, err := ask(r.Context(), s, p, api.ApprovalsShow, api.ApprovalParams{ID: r.PathValue("id")})
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
	if _, err := ask(r.Context(), s, p, api.ApprovalsAnswer, said); err != nil {
		s.refuseAnswer(w, r, failure.Of(err).Kind.HTTP(), d, text.Visible(text.Describe(err)))
		return
	}
	s.o.Tell("answered by " + d.ID + ": " + text.OneLine(said.ID) + " of " + nameOf(p))
	http.Redirect(w, r, "/inbox?done="+url.QueryEscape(keyOf(p)+"/"+said.ID), http.StatusSeeOther)
}

// refuseAnswer shows the inbox with why the answer was not taken.
func (s *Server) refuseAnswer(w http.ResponseWriter, r *http.Request, status int, d device.Device, problem string) {
	in := s.waiting(r)
	in.Problem = problem
	s.showInbox(w, r, status, d, in)
}

// answerOfForm reads the answer to a request from a form. problem says why it is none.
func answerOfForm(form url.Values, q approval.Request) (a api.Answer, problem string) {
	allow := false
	a.Allow, a.Digest, a.Reason = &allow, form.Get("digest"), strings.TrimSpace(form.Get("reason"))
	switch form.Get("answer") {
	case "once":
		allow, a.For = true, approval.Once
	case "session":
		allow, a.For = true, approval.Session
	case "deny":
		a.For = approval.Once
	case "never":
		a.For = approval.Never
	case "go-on": // of an agent that wants to stop: the words are its next instruction
		allow, a.For, a.Text, a.Reason = true, approval.Once, a.Reason, ""
	case "say": // the answers to its questions
		allow, a.For, a.Text, a.Reason = true, approval.Once, spoken(form, q.Questions), ""
		if a.Text == "" {
			return a, "Choose an option, or write an answer, for every question."
		}
	default:
		return a, "The form says neither to allow nor to deny."
	}
	if allow && q.Risk == policy.Critical && q.Kind == approval.Call && form.Get("sure") != "yes" {
		return a, "This call is critical: mark that you have read what it would do, and allow it then."
	}
	if a.Digest == "" {
		return a, "The form does not say which request it answers."
	}
	return a, ""
}

// spoken returns the answers to questions as the agent reads them; "" if one is missing.
func spoken(form url.Values, questions []approval.Asked) string {
	var texts []string
	for i, q := range questions {
		n := strconv.Itoa(i)
		said := strings.Join(chosen(form["option"+n], q.Options), ", ")
		if own := strings.TrimSpace(form.Get("own" + n)); own != "" {
			said = own
		}
		if said == "" {
			return ""
		}
		texts = append(texts, q.Text+"\n→ "+said)
	}
	return strings.Join(texts, "\n")
}

// chosen returns the options whose numbers a form has. What is no number of an option is none.
func chosen(numbers, options []string) (out []string) {
	for _, n := range numbers {
		if i, err := strconv.Atoi(n); err == nil && i >= 0 && i < len(options) {
			out = append(out, options[i])
		}
	}
	return out
}
