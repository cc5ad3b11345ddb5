package swarm

import (
	"errors"
	"net/http"
	"strings"

	"mycelium/internal/node/swarmed"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// acting does an act of a person, and leads to the page after it. A script is answered with 204. What was not done is said on the page
// that show makes.
func (s *room) acting(w http.ResponseWriter, r *http.Request, d device.Device,
	show func(http.ResponseWriter, *http.Request, int, device.Device, string), act func(o *opened, of *book.Session) (to string, err error)) {
	s.with(w, r, d.ID, func(o *opened, of *book.Session) {
		to, err := act(o, of)
		script := r.Header.Get("X-Script") != ""
		switch {
		case err != nil && script:
			http.Error(w, text.Visible(text.Describe(err)), failure.Of(err).Kind.HTTP())
		case err != nil:
			show(w, r, failure.Of(err).Kind.HTTP(), d, text.Visible(text.Describe(err)))
		case script:
			w.WriteHeader(http.StatusNoContent)
		default:
			site.SeeOther(w, r, to)
		}
	})
}

// act pauses a session, or resumes it.
func (s *room) act(w http.ResponseWriter, r *http.Request, d device.Device) {
	r.Body = http.MaxBytesReader(w, r.Body, site.MaxForm)
	which := r.PostFormValue("act")
	s.acting(w, r, d, s.showSession, func(o *opened, of *book.Session) (string, error) {
		do := map[string]func() error{
			"pause": func() error {
				if err := o.Pause(r.Context(), of.ID); err != nil {
					return err
				}
				return swarmed.Halt(r.Context(), o.Ops, o.paths, s.Runtime, s.Environ, of)
			},
			"resume": func() error { return o.Resume(r.Context(), of.ID) },
		}[which]
		if do == nil {
			return "", failure.Usagef("the form says neither to pause nor to resume")
		}
		return addressOf(o.paths), s.record(r, o, d, "swarm "+which, of.ID, do)
	})
}

// message tells a worker something.
func (s *room) message(w http.ResponseWriter, r *http.Request, d device.Device) {
	r.Body = http.MaxBytesReader(w, r.Body, site.MaxForm)
	said, name := strings.TrimSpace(r.PostFormValue("message")), r.PathValue("worker")
	s.acting(w, r, d, s.showTerminal, func(o *opened, of *book.Session) (string, error) {
		if said == "" {
			return "", failure.New(failure.Usage, errors.New("there is nothing to tell"), "write the message")
		}
		return addressOf(o.paths, "workers", name), s.record(r, o, d, "swarm message", of.ID+" "+name, func() error {
			return o.Tell(r.Context(), of, name, said)
		})
	})
}
