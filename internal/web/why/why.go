// Package why is the room where a person asks how a call would be decided, and why.
package why

import (
	"cmp"
	"embed"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/rest"
	"mycelium/internal/policy"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

//go:embed pages/*.html
var pages embed.FS

// Room is the question why.
func Room() site.Room {
	return site.Room{Pages: pages, Nav: []site.Link{{Href: "/why", Text: "Why?"}}, Routes: func(s *site.Site) []site.Route {
		r := room{s}
		return []site.Route{{Pattern: "GET /why", Serve: r.ask}, site.Operation(rest.Get("/api/why", "why", "policy", "Why a call is decided as it is"), r.api)}
	}}
}

// room is the question why on a site.
type room struct{ *site.Site }

// asked is the page: the question, and the answer if one was asked.
type asked struct {
	Projects            []site.Choice
	Key                 string
	Roles, Skills       []site.Choice
	Tools               []string
	Tool, Args, Command string
	Start               bool
	Problem             string
	Answer              *answer
}

// answer is a decision with where it comes from.
type answer struct {
	Effect, Rule, Reason, Place, Sandbox string
	Call, Role, Skills                   string
	Parts                                []part
	Steps                                []step
	Otherwise                            []otherwise
}

// part is what the call would do.
type part struct {
	Command                        string
	Effects, Paths, Hosts, Unclear []string
}

// step is one step of the decision.
type step struct {
	Step, Rule, Why string
	Match           bool
}

// otherwise is a difference by which the call would be decided in another way.
type otherwise struct{ If, Effect, Rule, Reason string }

// question reads what a request asks. It asks nothing if it names neither a tool nor a command.
func question(r *http.Request) api.Question {
	form := r.URL.Query()
	q := api.Question{Tool: strings.TrimSpace(form.Get("tool")), Args: strings.TrimSpace(form.Get("args")), Role: form.Get("role"),
		Skills: form["skill"], Start: form.Get("skills") != "these"}
	if command := strings.TrimSpace(form.Get("command")); command != "" {
		args, _ := json.Marshal(map[string]string{"command": command}) // a text cannot fail
		q.Tool, q.Args = policy.Bash.String(), string(args)
	}
	return q
}

func (s room) ask(w http.ResponseWriter, r *http.Request, d device.Device) {
	at, projects, problem := s.Choose(r)
	q, form := question(r), r.URL.Query()
	shown := asked{Projects: projects, Problem: problem, Command: text.Visible(form.Get("command")), Start: q.Start,
		Tool: text.OneLine(form.Get("tool")), Args: text.Visible(form.Get("args"))}
	status := http.StatusOK
	if at != nil {
		shown.Key = site.Key(*at)
		s.choices(r, *at, &shown, q)
		if q.Tool != "" {
			x, err := site.Ask(r.Context(), s.Site, *at, api.Why, q)
			if err != nil {
				status, shown.Problem = http.StatusBadRequest, text.Visible(text.Describe(err))
			} else {
				a := answerOf(x, cmp.Or(form.Get("command"), q.Tool+" "+q.Args))
				shown.Answer = &a
			}
		}
	}
	s.Show(w, r, status, "why", d, site.Page{Title: "Why?", Here: "/why", Files: []string{"policy.css"}, Body: shown})
}

// choices fills in what there is to choose from.
func (s room) choices(r *http.Request, p state.Paths, shown *asked, q api.Question) {
	list, err := site.Ask(r.Context(), s.Site, p, api.RolesList, op.None{})
	if err != nil {
		shown.Problem = cmp.Or(shown.Problem, text.Visible(text.Describe(err)))
		return
	}
	shown.Roles = []site.Choice{{Text: "the default role", Chosen: q.Role == ""}}
	var skills []string
	for _, role := range list {
		shown.Roles = append(shown.Roles, site.Choice{Value: role.ID, Text: text.OneLine(role.ID), Chosen: role.ID == q.Role})
		skills = append(skills, role.Skills...)
	}
	slices.Sort(skills)
	for _, k := range slices.Compact(skills) {
		shown.Skills = append(shown.Skills, site.Choice{Value: k, Text: text.OneLine(k), Chosen: slices.Contains(q.Skills, k)})
	}
	known, err := site.Ask(r.Context(), s.Site, p, api.ToolsKnown, op.None{})
	if err != nil {
		shown.Problem = cmp.Or(shown.Problem, text.Visible(text.Describe(err)))
	}
	for _, t := range known.Tools {
		shown.Tools = append(shown.Tools, text.OneLine(t.Name))
	}
}

// answerOf returns what a page shows of a decision about a call.
func answerOf(x api.Explained, call string) answer {
	one := text.OneLine
	a := answer{Effect: one(x.Effect), Rule: one(x.Rule), Reason: text.Visible(x.Reason), Call: text.Visible(call), Role: one(x.Role)}
	if x.File != "" {
		a.Place = one(fmt.Sprintf("%s:%d", x.File, x.Line))
	}
	if !x.Sandbox.None() {
		a.Sandbox = text.Visible(x.Sandbox.String())
	}
	var skills []string
	for _, k := range x.Skills {
		skills = append(skills, one(k))
	}
	a.Skills = strings.Join(skills, ", ")
	for _, p := range x.Facts.Parts {
		a.Parts = append(a.Parts, partOf(p))
	}
	for _, t := range x.Trace {
		a.Steps = append(a.Steps, step{one(t.Step), one(t.Rule), text.Visible(t.Why), t.Match})
	}
	for _, o := range x.Otherwise {
		a.Otherwise = append(a.Otherwise, otherwise{one(o.If), one(o.Effect), one(o.Rule), text.Visible(o.Reason)})
	}
	return a
}

// partOf returns what a page shows of a part of a call.
func partOf(p policy.Part) part {
	all := func(list []string) (out []string) {
		for _, s := range list {
			out = append(out, text.OneLine(s))
		}
		return out
	}
	out := part{Command: text.OneLine(cmp.Or(strings.Join(p.Argv, " "), p.Program)), Effects: all(p.Effects), Hosts: all(p.Hosts),
		Unclear: all(p.Unclear)}
	for _, f := range p.Paths {
		out.Paths = append(out.Paths, text.OneLine(string(f.Access)+" "+cmp.Or(f.Clean, f.Raw)))
	}
	return out
}

// api explains a call, for programs. Its parameters are those of the page.
// asking are the parameters of the API.
type asking struct {
	site.OfProject
	Tool    string   `query:"tool" about:"as agents see it"`
	Args    string   `query:"args" about:"of the call, as JSON"`
	Command string   `query:"command" about:"a command for a shell, in the place of a tool"`
	Role    string   `query:"role"`
	Skills  string   `query:"skills" of:"these,start" about:"these: the skills of the parameter skill are active; else those of the start"`
	Skill   []string `query:"skill"`
}

func (s room) api(r *http.Request, _ device.Device, p asking) (api.Explained, error) {
	at, err := s.Named(p.Project)
	if err != nil {
		return api.Explained{}, err
	}
	return site.Ask(r.Context(), s.Site, at, api.Why, question(r))
}
