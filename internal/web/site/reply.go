package site

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/rest"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
)

// Operation returns the route of an operation of the API. do answers it. What a request says wrongly is refused before.
func Operation[P, R any](o rest.Operation, do func(r *http.Request, d device.Device, p P) (R, error)) Route {
	o.Params, o.Reply = []reflect.Type{reflect.TypeFor[P]()}, reflect.TypeFor[R]()
	return Route{Pattern: o.Pattern, API: &o, Serve: func(w http.ResponseWriter, r *http.Request, d device.Device) {
		var p P
		var result R
		err := o.Read(w, r, &p)
		if err == nil {
			result, err = do(r, d, p)
		}
		rest.Answer(w, r, result, err)
	}}
}

// Row returns the route of an operation that the node of a project does. done is called when it is done; nil: nothing is.
func Row[P, R any](s *Site, row op.Op[P, R], done func(d device.Device, p state.Paths, result R)) Route {
	o := rest.Operation{Route: row.Route, Summary: row.About, About: row.Note,
		Params: []reflect.Type{reflect.TypeFor[OfProject](), reflect.TypeFor[P]()}, Reply: reflect.TypeFor[R]()}
	return Route{Pattern: o.Pattern, API: &o, Serve: func(w http.ResponseWriter, r *http.Request, d device.Device) {
		var of OfProject
		var p P
		var result R
		err := o.Read(w, r, &of, &p)
		var at state.Paths
		if err == nil {
			at, err = s.Named(of.Project)
		}
		if err == nil {
			op.SetBy(&p, d.ID)
			result, err = AskWithin(r.Context(), s, at, rowWithin, row, p)
		}
		if err == nil && done != nil {
			done(d, at, result)
		}
		rest.Answer(w, r, result, err)
	}}
}

// rowWithin is how long an operation of the API may take: it is for programs, which wait.
const rowWithin = time.Minute

// Streaming is a route of the API that reads its request itself, because its answer is a stream. params is a value of the struct of its
// parameters.
func Streaming(o rest.Operation, serve Handler, params any) Route {
	o.Media, o.Params, o.Reply = "text/event-stream", []reflect.Type{reflect.TypeOf(params)}, reflect.TypeFor[string]()
	return Route{Pattern: o.Pattern, API: &o, Serve: serve}
}

// OfProject is the parameter of an operation that is about one project.
type OfProject struct {
	Project string `query:"project" about:"key of the project, as /api/status has it; it may be left out where there is only one"`
}

// Named returns the project with a key. Where the user has one project, the key may be empty.
func (s *Site) Named(key string) (state.Paths, error) {
	list, problem := s.Projects()
	switch {
	case key != "":
		if p, ok := s.Project(key); ok {
			return p, nil
		}
		return state.Paths{}, failure.New(failure.NotFound, fmt.Errorf("there is no project %q", text.OneLine(key)),
			"/api/status has the keys of all")
	case len(list) == 1:
		return list[0], nil
	case problem != "":
		return state.Paths{}, errors.New(problem)
	case len(list) == 0:
		return state.Paths{}, failure.New(failure.NotFound, errors.New("there is no project"), "myc init in a folder makes one")
	}
	return state.Paths{}, failure.New(failure.Usage, fmt.Errorf("there are %d projects: say which one", len(list)),
		"project=KEY, with a key that /api/status has")
}
