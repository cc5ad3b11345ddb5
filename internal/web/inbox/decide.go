package inbox

import (
	"net/http"
	"net/url"
	"strings"

	"mycelium/internal/backend"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// escape writes a text into an address.
func escape(s string) string { return url.QueryEscape(s) }

// skill shows a skill of a server with its text, to be approved.
func (s room) skill(w http.ResponseWriter, r *http.Request, d device.Device) {
	p, known := s.Project(r.PathValue("project"))
	if !known {
		s.refuseAnswer(w, r, http.StatusNotFound, d, "There is no such project.")
		return
	}
	k, err := site.Ask(r.Context(), s.Site, p, api.ServedSkill, api.ServedSkillParams{Name: r.URL.Query().Get("name")})
	if err != nil {
		s.refuseAnswer(w, r, failure.Of(err).Kind.HTTP(), d, text.Visible(text.Describe(err)))
		return
	}
	s.showOne(w, r, http.StatusOK, d, single{Card: servedCard(p, k)})
}

// decision is what a form says about something that is no request.
type decision struct {
	done string // what was done, in words
	ask  func(r *http.Request) error
}

// decide takes a decision about something that is no request, by the call of the node that a command makes.
func (s room) decide(kind string) site.Handler {
	return func(w http.ResponseWriter, r *http.Request, d device.Device) {
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
		said := s.said(kind, p, r.PostForm, d)
		switch {
		case r.PostForm.Get("digest") == "" || said.ask == nil:
			s.refuseAnswer(w, r, http.StatusBadRequest, d, "The form does not say what it decides.")
		default:
			if err := said.ask(r); err != nil {
				s.refuseAnswer(w, r, failure.Of(err).Kind.HTTP(), d, text.Visible(text.Describe(err)))
				return
			}
			s.Tell("decided by " + d.ID + ": " + said.done + " of " + site.Name(p))
			s.answered(w, r, d, "", said.done+" in "+site.Name(p))
		}
	}
}

// said is the decision that a form has; without a call if it has none.
func (s room) said(kind string, p state.Paths, form url.Values, d device.Device) (out decision) {
	name, digest, one := form.Get("name"), form.Get("digest"), text.OneLine
	switch kind + " " + form.Get("answer") {
	case kindHeld + " accept":
		return decision{"accepted the definition of " + one(name), func(r *http.Request) error {
			_, err := site.Ask(r.Context(), s.Site, p, api.Accept,
				api.AcceptParams{Items: []backend.Acceptance{{Name: name, Digest: digest}}, Device: d.ID, Sure: sureIn(form)})
			return err
		}}
	case kindHeld + " " + keepOut:
		return decision{"kept out the definition of " + one(name), func(r *http.Request) error {
			_, err := site.Ask(r.Context(), s.Site, p, api.KeepOut,
				api.AcceptParams{Items: []backend.Acceptance{{Name: name, Digest: digest}}, Device: d.ID})
			return err
		}}
	case kindKeep + " keep":
		return decision{"will not be asked about " + one(form.Get("title")) + " again", func(r *http.Request) error {
			_, err := site.Ask(r.Context(), s.Site, p, api.ApprovalsKeep, api.KeepParams{ID: name, Digest: digest, Device: d.ID, Sure: sureIn(form)})
			return err
		}}
	case kindSkill + " approve":
		return decision{"approved the skill " + one(name), func(r *http.Request) error {
			_, err := site.Ask(r.Context(), s.Site, p, api.ApproveSkill, api.ServedSkillParams{Name: name, Digest: digest, Device: d.ID,
				Sure: sureIn(form)})
			return err
		}}
	case kindFiles + " accept":
		return decision{"accepted the files of the policy", func(r *http.Request) error {
			_, err := site.Ask(r.Context(), s.Site, p, api.AcceptFiles, api.AcceptFilesParams{Digest: digest, Device: d.ID, Sure: sureIn(form)})
			return err
		}}
	}
	if word := api.WorkWord(form.Get("answer")); kind == kindWork && word != "" {
		done := map[api.WorkWord]string{api.LetLand: "let it land", api.TryAgain: "had it done anew", api.TakeOver: "took the work over",
			api.WithoutIt: "went on without a plan", api.LeaveOut: "kept the work out"}[word]
		return decision{strings.TrimSpace(done + " " + one(form.Get("feature"))), func(r *http.Request) error {
			_, err := site.Ask(r.Context(), s.Site, p, api.SwarmDecide, api.SwarmParams{Session: form.Get("session"),
				Feature: form.Get("feature"), Word: word, Mark: digest, Reason: form.Get("reason"), Device: d.ID, Sure: sureIn(form)})
			return err
		}}
	}
	return decision{}
}
