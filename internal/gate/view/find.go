package view

import (
	"slices"
	"strings"
	"sync"

	"mycelium/internal/find"
	"mycelium/internal/policy"
	"mycelium/internal/policy/deferral"
	"mycelium/internal/rawjson"
	"mycelium/internal/skill/intent"
)

// FindTool is the control tool that finds the tools that a list leaves out.
func FindTool() policy.Item { return policy.Item{Server: policy.RouterServer, Name: "find_tool"} }

// Defers reports whether a list of tools leaves out those that were neither found nor used: the role of the scope decides, or else the
// World. searches says that the client has a search of its own, which sees no more than it is listed: then only "on" defers. Where
// [FindTool] is hidden, nothing is left out.
func (w *Catalog) Defers(scope policy.Scope, v *Lists, searches bool) bool {
	mode := w.ToolSearch
	if r, ok := w.Policy.Role(scope.Principal.Role); ok && r.ToolSearch != "" {
		mode = r.ToolSearch
	}
	above, auto, ok := deferral.Read(mode)
	if !ok || above < 0 || auto && searches || !w.Policy.Visible(scope, FindTool()) {
		return false
	}
	n := 0
	for _, l := range v.Items[policy.Tool] {
		if !IsOwn(l.Item.Server) {
			n++
		}
	}
	return n > above
}

// finder is an index that is made when it is first asked.
type finder struct {
	once  sync.Once
	index *find.Index
	tools []Listed
}

// Find returns the tools in view that fit a request, the best first. The gate's own tools are not among them: they are always listed.
// The definitions are searched as the session sees them, so that a hidden name finds nothing.
func (v *Lists) Find(request string, limit int, learnt *find.Learnt) []Listed {
	v.finder.once.Do(func() {
		var docs []find.Doc
		for _, l := range v.Items[policy.Tool] {
			if !IsOwn(l.Item.Server) {
				v.finder.tools = append(v.finder.tools, l)
				docs = append(docs, document(l))
			}
		}
		v.finder.index = find.New(docs)
	})
	hits := v.finder.index.Find(request, limit, learnt)
	out := make([]Listed, 0, len(hits))
	for _, h := range hits {
		out = append(out, v.finder.tools[h.Doc])
	}
	return out
}

// document returns what is searched of a tool.
func document(l Listed) find.Doc {
	d := find.Doc{Name: l.Item.Name, Server: l.Item.Server, Text: rawjson.TextAt(l.Raw, "title") + "\n" + rawjson.TextAt(l.Raw, "description")}
	for name, raw := range rawjson.Members(rawjson.Path(l.Raw, "inputSchema", "properties")) {
		d.Keys = append(d.Keys, name)
		d.Notes = append(d.Notes, rawjson.TextAt(raw, "description"))
	}
	return d
}

// skillIndexes are the indexes over skills, by the names of those that are searched.
type skillIndexes struct {
	mu   sync.Mutex
	made map[string]*find.Index
}

// least is which part of the words of a request a skill has that is suggested without one of its triggers. Two words of three mean the
// same; one of three is a coincidence.
const least = 0.5

// Suggest returns the named skills that fit a request: first those that it asks for, then those that say in other words what it asks for. A
// skill that the request speaks against is not among them.
func (w *Catalog) Suggest(request string, among []string) []intent.Suggestion {
	said := w.Skills.Intent(request, among)
	out := said.Wanted
	among = slices.Compact(slices.Sorted(slices.Values(among)))
	for _, h := range w.skillIndex(among).Find(request, len(among), nil) {
		name := among[h.Doc]
		if h.Share < least || slices.Contains(said.Refused, name) ||
			slices.ContainsFunc(out, func(s intent.Suggestion) bool { return s.Skill == name }) {
			continue
		}
		out = append(out, intent.Suggestion{Skill: name, Score: float64(int(h.Share*20)) / 100, Matched: []string{}})
	}
	return out
}

func (w *Catalog) skillIndex(names []string) *find.Index {
	key := strings.Join(names, "\x00")
	w.skills.mu.Lock()
	defer w.skills.mu.Unlock()
	if x := w.skills.made[key]; x != nil {
		return x
	}
	docs := make([]find.Doc, len(names))
	for i, name := range names {
		docs[i].Name = name
		if k, ok := w.Skills.Skill(name); ok {
			docs[i].Text, docs[i].Keys, docs[i].Notes = k.DisplayName+"\n"+k.Description, k.AllowedTools, k.Triggers
		}
	}
	x := find.New(docs)
	if w.skills.made == nil || len(w.skills.made) >= maxViews {
		w.skills.made = map[string]*find.Index{}
	}
	w.skills.made[key] = x
	return x
}
