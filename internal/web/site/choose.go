package site

import (
	"net/http"

	"mycelium/internal/state"
	"mycelium/internal/text"
)

// Choose returns the project that the parameter "project" of a request names, else the first one, and all of them as options of a list. It
// is nil if there is none. The sentence is about projects that cannot be asked.
func (s *Site) Choose(r *http.Request) (at *state.Paths, all []Choice, problem string) {
	list, problem := s.Projects()
	key := r.FormValue("project")
	for i, p := range list {
		if at == nil || Key(p) == key {
			at = &list[i]
		}
	}
	for _, p := range list {
		all = append(all, Choice{Value: Key(p), Text: Name(p) + " · " + text.OneLine(p.Project), Chosen: Key(p) == Key(*at)})
	}
	return at, all, problem
}
