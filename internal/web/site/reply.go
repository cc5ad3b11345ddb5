package site

import (
	"errors"
	"net/http"
	"reflect"

	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/state"
	"mycelium/internal/web/openapi"
)

// codeOf is the code of an error in a [openapi.Problem] (D17).
func codeOf(err error) string {
	switch failure.Of(err).Kind {
	case failure.NotFound:
		return "NOT_FOUND"
	case failure.Usage, failure.Invalid, failure.Config, failure.NoRole:
		return "BAD_REQUEST"
	case failure.Conflict:
		return "CONFLICT"
	case failure.Denied:
		return "FORBIDDEN"
	case failure.Unavailable, failure.Ending:
		return "UNAVAILABLE"
	case failure.Other:
	}
	return "INTERNAL"
}

// Reply sends what f returns as JSON, or its error as [Problem] does.
func Reply[R any](w http.ResponseWriter, f func() (R, error)) {
	v, err := f()
	if err == nil {
		JSON(w, v)
		return
	}
	status := failure.Of(err).Kind.HTTP()
	if failure.Of(err).Kind == failure.Config { // of the request's content, not of the server
		status = http.StatusBadRequest
	}
	Problem(w, status, err)
}

// Described is a route of the API that reads its request itself. reply is a value of the type that it answers with, and params one of a
// struct that has its parameters, as [openapi.Operation] says; nil: it has none.
func Described(o openapi.Operation, serve Handler, params, reply any) Route {
	o.Params, o.Reply = reflect.TypeFor[api.None](), reflect.TypeOf(reply)
	if params != nil {
		o.Params = reflect.TypeOf(params)
	}
	return Route{Pattern: o.Pattern(), API: &o, Serve: serve}
}

// OfProject is the parameter of an operation that is about one project.
type OfProject struct {
	Project string `query:"project" about:"key of the project, as /api/status has it; it may be left out where there is only one"`
}

// Named returns the project that the parameter "project" names. Where the user has one project, it may be left out.
func (s *Site) Named(r *http.Request) (state.Paths, error) {
	key := r.URL.Query().Get("project")
	list, problem := s.Projects()
	switch {
	case key != "":
		if p, ok := s.Project(key); ok {
			return p, nil
		}
		return state.Paths{}, failure.New(failure.NotFound, errors.New("there is no such project"), "GET /api/status lists their keys")
	case len(list) == 1:
		return list[0], nil
	case problem != "":
		return state.Paths{}, errors.New(problem)
	case len(list) == 0:
		return state.Paths{}, failure.New(failure.NotFound, errors.New("there is no project"), "myc init in a folder makes one")
	}
	return state.Paths{}, failure.New(failure.Usage, errors.New("which project? There are several"),
		"add ?project=KEY; GET /api/status lists the keys")
}
