package view

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
)

// Server is what a server said about itself.
type Server struct {
	Capabilities []byte // raw JSON object; nil: none
	Instructions string
}

// known reports whether a server has this name.
func (w *Catalog) known(server string) bool {
	_, ok := w.servers[server]
	return ok || IsOwn(server) || server == policy.AgentServer
}

// serverNames returns the names of all servers in a world.
func serverNames(w World) map[string]struct{} {
	names := map[string]struct{}{}
	for name := range w.Servers {
		names[name] = struct{}{}
	}
	for _, list := range [][]policy.Definition{w.Definitions, w.Templates} {
		for _, d := range list {
			names[d.Item.Server] = struct{}{}
		}
	}
	return names
}

// Resolve reads the name or URI that a client uses. A name with the prefix of a known server is that server's. Any other name is the
// bare server's, if there is one. The result for text that cannot be a name has no server; the gate finds it unknown, and records the
// attempt.
func (w *Catalog) Resolve(k policy.Kind, asked string) policy.Item {
	it, ok := prefixed(k, asked)
	if ok && (w.Bare == "" || w.known(it.Server)) {
		if it.Server == policy.AgentServer {
			return policy.Item{Kind: k} // an agent's own tools are not behind us
		}
		return it
	}
	if w.Bare != "" && asked != "" {
		return policy.Item{Kind: k, Server: w.Bare, Name: asked}
	}
	return policy.Item{Kind: k}
}

// HasPrefix reports whether a URI begins with the name of a known server, as clients write the URIs of resources.
func (w *Catalog) HasPrefix(uri string) bool {
	it, ok := prefixed(policy.Resource, uri)
	return ok && w.known(it.Server)
}

// prefixed reads a name that begins with a server's name.
func prefixed(k policy.Kind, asked string) (policy.Item, bool) {
	if k != policy.Resource {
		it, err := policy.ParseTool(asked)
		it.Kind = k
		return it, err == nil
	}
	server, uri, found := strings.Cut(asked, "+")
	if _, err := policy.ParseTool(server + "__x"); !found || err != nil || uri == "" {
		return policy.Item{}, false
	}
	return policy.Item{Kind: k, Server: server, Name: uri}, true
}

// ClientName returns the name or URI of an item in the form that clients use.
func (w *Catalog) ClientName(it policy.Item) string {
	if it.Server == w.Bare && it.Server != "" {
		return it.Name
	}
	if it.Kind == policy.Resource {
		return URI(it)
	}
	return it.String()
}

// Collisions returns the names of the server bare that would be read as another server's if it had no prefix.
func Collisions(w World, bare string) (names []string) {
	n := &Catalog{World: w, servers: serverNames(w)}
	for _, list := range [][]policy.Definition{w.Definitions, w.Templates} {
		for _, d := range list {
			if it, ok := prefixed(d.Item.Kind, d.Item.Name); d.Item.Server == bare && ok && n.known(it.Server) {
				names = append(names, d.Item.Name)
			}
		}
	}
	return names
}

// inView returns the servers of which any item is in view, sorted.
func (v *Lists) inView() []string {
	names := map[string]struct{}{}
	for _, list := range [][]Listed{v.Items[policy.Tool], v.Items[policy.Resource], v.Items[policy.Prompt], v.Templates} {
		for _, l := range list {
			names[l.Item.Server] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// skillsExtension is left out of what servers declare: we serve skills over MCP ourselves, and a server's own are not passed on.
const skillsExtension = "io.modelcontextprotocol/skills"

// Capabilities returns what the servers in view declared and we pass on, as a JSON object: completions, resources.subscribe, tasks (of
// 2025-11-25, without the list, which a gateway of several servers cannot answer), extensions and experimental. It has what any of the
// servers declared; if two differ about one member, the first server by name wins.
func (w *Catalog) Capabilities(v *Lists) []byte {
	v.declared.once.Do(func() { v.declared.raw = w.declared(v.inView()) })
	return v.declared.raw
}

func (w *Catalog) declared(servers []string) []byte {
	all := map[string]jsontext.Value{}
	for _, name := range servers {
		var c map[string]jsontext.Value
		if json.Unmarshal(w.Servers[name].Capabilities, &c) != nil {
			continue
		}
		for _, key := range []string{"completions", "tasks", "extensions", "experimental"} {
			if v := c[key]; v.Kind() == jsontext.KindBeginObject {
				all[key] = union(all[key], v)
			}
		}
		var r struct {
			Subscribe bool `json:"subscribe"`
		}
		if json.Unmarshal(c["resources"], &r) == nil && r.Subscribe {
			all["subscribe"] = jsontext.Value("true")
		}
	}
	all["extensions"] = omit(all["extensions"], skillsExtension)
	all["tasks"] = omit(all["tasks"], "list")
	maps.DeleteFunc(all, func(_ string, v jsontext.Value) bool { return len(v) == 0 })
	raw, err := json.Marshal(all, Encoding)
	if err != nil {
		return []byte("{}")
	}
	return raw
}

// union adds to a what only b has, at every depth.
func union(a, b jsontext.Value) jsontext.Value {
	if len(a) == 0 {
		return b
	}
	var x, y map[string]jsontext.Value
	if isObject := json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && x != nil && y != nil; !isObject {
		return a
	}
	for key, v := range y {
		x[key] = union(x[key], v)
	}
	raw, err := json.Marshal(x, Encoding)
	if err != nil {
		return a
	}
	return raw
}

// omit returns an object without one member, or nil if the object is then empty.
func omit(a jsontext.Value, key string) jsontext.Value {
	var x map[string]jsontext.Value
	if len(a) == 0 || json.Unmarshal(a, &x) != nil {
		return a
	}
	if _, has := x[key]; !has {
		return a
	}
	delete(x, key)
	if len(x) == 0 {
		return nil
	}
	raw, err := json.Marshal(x, Encoding)
	if err != nil {
		return nil
	}
	return raw
}
