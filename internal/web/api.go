package web

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"mycelium/internal/node/failure"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/openapi"
	"mycelium/internal/web/site"
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
	return append(out, site.Described(openapi.Operation{Method: http.MethodGet, Path: "/api/events", ID: "events", Tag: "server",
		Summary: "What changes, as it happens", Media: "text/event-stream"}, s.events, nil, ""))
}

// document are the routes of the document that describes the operations among the routes and its own, as JSON and as YAML. It is written
// when it is read for the first time.
func (s *Server) document(routes []site.Route) []site.Route {
	of := func(ending, media string, reply reflect.Type) *openapi.Operation {
		return &openapi.Operation{Method: http.MethodGet, Path: "/api/openapi." + ending, ID: "openapi" + strings.ToUpper(ending), Tag: "server",
			Summary: "This document, as " + strings.ToUpper(ending), Media: media, Reply: reply}
	}
	inJSON, inYAML := of("json", "", reflect.TypeFor[map[string]any]()), of("yaml", "application/yaml", reflect.TypeFor[any]())
	operations := []openapi.Operation{*inJSON, *inYAML}
	for _, r := range routes {
		if r.API != nil {
			operations = append(operations, *r.API)
		}
	}
	asJSON := sync.OnceValues(func() ([]byte, error) {
		return openapi.JSON(openapi.About{Version: s.site.Version}, operations)
	})
	asYAML := sync.OnceValues(func() ([]byte, error) {
		b, err := asJSON()
		if err != nil {
			return nil, err
		}
		return openapi.YAML(b)
	})
	send := func(o *openapi.Operation, written func() ([]byte, error)) site.Route {
		return site.Route{Pattern: o.Pattern(), API: o, Serve: func(w http.ResponseWriter, _ *http.Request, _ device.Device) {
			b, err := written()
			if err != nil {
				site.Problem(w, http.StatusInternalServerError, err)
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
			site.Problem(w, http.StatusNotFound, text.Hinted(fmt.Errorf("there is no operation at %s", text.OneLine(r.URL.Path)),
				"/api/openapi.yaml lists them"))
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		site.Problem(w, http.StatusMethodNotAllowed,
			failure.Usagef("%s is asked with %s", text.OneLine(r.URL.Path), strings.Join(allowed, " or ")))
	}
}
