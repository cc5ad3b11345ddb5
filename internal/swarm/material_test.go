package swarm

import (
	"strings"
	"testing"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/material"
	"mycelium/internal/swarm/plan"
)

// rights are those of a policy in which the role dev has the skill code, and may have the skill test.
type rights struct{}

func (rights) Skills(string) (start, open []string) {
	return []string{"code"}, []string{"code", "test"}
}
func (rights) Commands(string, []string) bool { return true }

func (rights) Refuses(_ string, _ []string, path string) string {
	if strings.Contains(path, "hidden") {
		return "nobody reads it"
	}
	return ""
}

// A worker is told what it is given to read, as it is in the commit that it begins from, and its order has the skills and the runner of its
// route. A route that the policy does not allow any more starts no worker.
func TestWorkersAreGivenMaterial(t *testing.T) {
	x, y := feature("x"), feature("y")
	x.Route, x.Context = plan.Route{Require: []string{"test"}},
		material.Context{Documentation: []material.Document{{Type: material.Whole, Path: "shared"}}}
	y.Route = plan.Route{Require: []string{"admin"}}
	f := begin(t, &book.Session{Settings: book.Settings{Role: "dev"}, Features: []*book.Feature{x, y}})
	f.Rights = rights{}
	f.workers["x"] = func(h *hand) {
		if o, _, err := h.folder.Order(); err != nil || strings.Join(o.Skills, " ") != "code test" {
			t.Errorf("its order is %+v, %v", o, err)
		}
		adds("x", "1\n")(h)
	}
	s := f.drive()
	f.want(s, "x", book.Completed, 1, 1)
	if got := f.prompts["x"][0]; !strings.Contains(got, "# Material") || !strings.Contains(got, "one\n") {
		t.Errorf("it is told\n%s", got)
	}
	if y := f.want(s, "y", book.Failed, 1, 0); !strings.Contains(y.Reason, "which the role dev may not have") {
		t.Errorf("y is not worked on because %q", y.Reason)
	}
}
