package web

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"mycelium/internal/audit/index"
	"mycelium/internal/backend"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/rest"
	"mycelium/internal/op/schema"
	"mycelium/internal/policy/box"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
	"mycelium/internal/yamlfile"
)

// isAPI reports whether a request is for the API: it is answered for a program, not for a person.
func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// routes are the routes of all rooms.
func (s *Server) routes() (out []site.Route) {
	for _, room := range s.rooms {
		if room.Routes != nil {
			out = append(out, room.Routes(s.site)...)
		}
	}
	return append(out, site.Streaming(rest.Get("/api/events", "events", "server", "What changes, as it happens"), s.events, op.None{}))
}

// written are the types of answers that write themselves.
var written = map[reflect.Type]schema.Written{
	reflect.TypeFor[backend.Duration](): {Is: map[string]any{"type": "string"}},
	reflect.TypeFor[box.Box]():          {Or: map[string]any{"type": "string", "description": "the name of a profile"}},
	reflect.TypeFor[index.Entry](): {With: map[string]any{"args": map[string]any{
		"description": "the arguments of the call, with secrets redacted; null: none"}}},
}

// document are the routes of the document that describes the operations among the routes and its own, as JSON and as YAML. It is written
// when it is read for the first time.
func (s *Server) document(routes []site.Route) []site.Route {
	of := func(ending, media string, reply reflect.Type) *rest.Operation {
		o := rest.Get("/api/openapi."+ending, "openapi"+strings.ToUpper(ending), "server", "This document, as "+strings.ToUpper(ending))
		o.Media, o.Reply = media, reply
		return &o
	}
	inJSON, inYAML := of("json", "", reflect.TypeFor[map[string]any]()), of("yaml", "application/yaml", reflect.TypeFor[any]())
	operations := []rest.Operation{*inJSON, *inYAML}
	for _, r := range routes {
		if r.API != nil {
			operations = append(operations, *r.API)
		}
	}
	asJSON := sync.OnceValues(func() ([]byte, error) {
		return rest.Document(rest.About{Version: s.site.Version, Written: written}, operations)
	})
	asYAML := sync.OnceValues(func() ([]byte, error) {
		b, err := asJSON()
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = yamlfile.WriteJSON(&out, b, 0)
		return out.Bytes(), err
	})
	send := func(o *rest.Operation, written func() ([]byte, error)) site.Route {
		return site.Route{Pattern: o.Pattern, API: o, Serve: func(w http.ResponseWriter, _ *http.Request, _ device.Device) {
			b, err := written()
			if err != nil {
				rest.Fail(w, http.StatusInternalServerError, err)
				return
			}
			w.Header().Set("Content-Type", cmp.Or(o.Media, "application/json"))
			_, _ = w.Write(b) // a client that has gone reads nothing
		}}
	}
	return []site.Route{send(inJSON, asJSON), send(inYAML, asYAML)}
}

// noOperation refuses what no operation of the API answers, and says by which method an address can be asked.
func noOperation(m *http.ServeMux) site.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ device.Device) {
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := m.Handler(other); pattern != "/api/" && pattern != "/" {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) == 0 {
			rest.Fail(w, http.StatusNotFound, text.Hinted(fmt.Errorf("there is no operation at %s", text.OneLine(r.URL.Path)),
				"/api/openapi.yaml lists them"))
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		rest.Fail(w, http.StatusMethodNotAllowed,
			failure.Usagef("%s is asked with %s", text.OneLine(r.URL.Path), strings.Join(allowed, " or ")))
	}
}
