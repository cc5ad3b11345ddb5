package planning

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/agent/structured"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/material"
	"mycelium/internal/swarm/plan"
)

// TestDivide: what a model divides keeps the laws of a plan, or there is no plan. It is told once what is wrong.
func TestDivide(t *testing.T) {
	form, err := structured.Parse([]byte(divideSchema))
	if err != nil {
		t.Fatal(err)
	}
	const good = `{"features": [{"id": "a", "description": "Add a", "files": ["a.go"], "estimate": 20},
 {"id": "b", "description": "Add b", "dependsOn": ["a"]}]}`
	const circle = `{"features": [{"id": "a", "description": "Add a", "dependsOn": ["b"]},
 {"id": "b", "description": "Add b", "dependsOn": ["a"]}]}`
	for _, c := range []struct {
		answers []string
		want    string // of the error; empty: there is a plan
	}{
		{[]string{good}, ""},
		{[]string{circle, good}, ""},
		{[]string{circle, circle}, "its dependencies go in a circle"},
		{[]string{`{"features": [{"id": "a", "description": "Add a", "files": ["/etc/passwd"]}]}`, circle}, "circle"},
	} {
		var said []string
		p, usd, err := Divide(t.Context(), func(_ context.Context, _, s string) (jsontext.Value, float64, error) {
			said = append(said, s)
			v, err := form.Check(c.answers[len(said)-1])
			return v, 0.25, err
		}, "Add a and b", "MATERIAL")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.answers, err)
		}
		if err == nil && (len(p.Features) != 2 || p.Features[0].Estimate != 20) || err != nil && len(p.Features) > 0 {
			t.Errorf("%q: %+v", c.answers, p)
		}
		if len(said) != len(c.answers) || usd != 0.25*float64(len(said)) || !strings.Contains(said[0], "MATERIAL") {
			t.Errorf("%q: asked %d times for $%g", c.answers, len(said), usd)
		}
		if len(said) > 1 && !strings.Contains(said[1], "It was refused") {
			t.Errorf("it is told\n%s", said[1])
		}
	}
}

// rights are those of a policy in which the role dev has the skill code, and may have the skill test.
type rights struct{}

func (rights) Skills(string) (start, open []string) {
	return []string{"code"}, []string{"code", "test"}
}
func (rights) Refuses(_ string, _ []string, path string) string {
	if strings.Contains(path, "hidden") {
		return "nobody reads it"
	}
	return ""
}

func (rights) Commands(_ string, skills []string) bool { return slices.Contains(skills, "test") }

// TestRoutes: skills that a route requires are active at the start; what would not be obeyed is refused.
func TestRoutes(t *testing.T) {
	for _, c := range []struct {
		skills []string
		route  plan.Route
		got    string
		err    string
	}{
		{nil, plan.Route{}, "", ""},
		{nil, plan.Route{Require: []string{"test"}}, "code test", ""},
		{[]string{"test"}, plan.Route{Require: []string{"test"}, Exclude: []string{"admin"}}, "test", ""},
		{nil, plan.Route{Require: []string{"admin"}}, "", "which the role dev may not have"},
		{nil, plan.Route{Exclude: []string{"test"}}, "", "which the role dev may have"},
		{nil, plan.Route{Worker: "codex9"}, "", `there is no runner "codex9"`},
		{nil, plan.Route{Worker: "api"}, "", "it could not commit"},
		{nil, plan.Route{Worker: "api", Require: []string{"test"}}, "code test", ""},
		{nil, plan.Route{Worker: "command"}, "", "its runner is command, and the session has none"},
	} {
		f := plan.Feature{ID: "f", Skills: c.skills, Route: c.route}
		err := CheckRoute(f, book.Settings{Role: "dev"}, rights{})
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: %v, want %s", c.route, err, c.err)
		}
		if err == nil {
			if got, err := SkillsOf(f, "dev", rights{}); err != nil || strings.Join(got, " ") != c.got {
				t.Errorf("%+v: %v %v, want %s", c.route, got, err, c.got)
			}
		}
	}
	if _, err := SkillsOf(plan.Feature{Route: plan.Route{Require: []string{"x"}}}, "dev", nil); err == nil {
		t.Error("skills are given without a policy")
	}
}

// TestGraph: the graph of a session has what is known of each feature, with context only if that is asked for.
func TestGraph(t *testing.T) {
	a := &book.Feature{Feature: plan.Feature{ID: "a", Description: "Add a"}, State: book.Pending}
	b := &book.Feature{Feature: plan.Feature{ID: "b", Description: "Add b", DependsOn: []string{"a"}}, State: book.Pending}
	a.Files, b.Files = []string{"x.go"}, []string{"x.go"}
	a.Context.Prepared = []material.Prepared{{Key: "k", Content: "c", Priority: material.Required}}
	s := &book.Session{Features: []*book.Feature{a, b}}
	nodes := GraphOf(s, true)
	if n := nodes[0]; !n.Ready || strings.Join(n.Blocks, "") != "b" || strings.Join(n.Apart, "") != "b" || n.Context == nil {
		t.Errorf("%+v", n)
	}
	if n := nodes[1]; n.Ready || strings.Join(n.DependsOn, "") != "a" || n.Context != nil || GraphOf(s, false)[0].Context != nil {
		t.Errorf("%+v", n)
	}
	if got := Compact(nodes); got != "a [pending]\nb [pending] <- a\n" {
		t.Errorf("%q", got)
	}
}
