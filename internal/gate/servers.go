package gate

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// Server is what a server said of itself.
type Server struct {
	Capabilities []byte // raw JSON object; nil: none
	Instructions string
}

// known reports whether a name is one of a server, ours included.
func (w *world) known(server string) bool {
	_, ok := w.servers[server]
	return ok || ownServer(server) || server == policy.AgentServer
}

// serverNames are the names of all servers that a world speaks of.
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

// Resolve reads the name or URI that clients use. A name with the prefix of a known server is that server's; any other is the bare
// server's, where there is one. What cannot be a name is an item of no server: the gate finds it unknown, and records the attempt.
func (g *Gate) Resolve(k policy.Kind, asked string) policy.Item {
	w := g.world.Load()
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

// prefixed reads a name that begins with a server's.
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

// ClientName is an item's name or URI in the form that clients use.
func (g *Gate) ClientName(it policy.Item) string {
	if w := g.world.Load(); it.Server == w.Bare && it.Server != "" {
		return it.Name
	}
	if it.Kind == policy.Resource {
		return URI(it)
	}
	return it.String()
}

// Collisions are the names of the server that is to stand without prefix which would be read as another server's.
func Collisions(w World, bare string) (names []string) {
	n := &world{World: w, servers: serverNames(w)}
	for _, list := range [][]policy.Definition{w.Definitions, w.Templates} {
		for _, d := range list {
			if it, ok := prefixed(d.Item.Kind, d.Item.Name); d.Item.Server == bare && ok && n.known(it.Server) {
				names = append(names, d.Item.Name)
			}
		}
	}
	return names
}

// inView are the servers of which a session sees anything, sorted.
func (v *view) inView() []string {
	names := map[string]struct{}{}
	for _, list := range [][]Listed{v.lists[policy.Tool], v.lists[policy.Resource], v.lists[policy.Prompt], v.templates} {
		for _, l := range list {
			names[l.Item.Server] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Skills over MCP are ours to serve; a server's own are the operator's to approve, and no client learns of them from us.
const skillsExtension = "io.modelcontextprotocol/skills"

// Capabilities are what the servers that a session sees declared and we pass on: completions, resources.subscribe, tasks (of
// 2025-11-25, without the list, which no gateway of several servers can answer), extensions and experimental. It is a JSON object;
// where two servers say different things of one capability, both are in it, and the first by name wins a conflict.
func (g *Gate) Capabilities(s *Session) []byte {
	sc := s.now()
	v := sc.view()
	v.declared.once.Do(func() { v.declared.raw = sc.world.capabilities(v.inView()) })
	return v.declared.raw
}

func (w *world) capabilities(servers []string) []byte {
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
	raw, err := json.Marshal(all, encoding)
	if err != nil {
		return []byte("{}")
	}
	return raw
}

// union puts what b has and a lacks into a, at every depth.
func union(a, b jsontext.Value) jsontext.Value {
	if len(a) == 0 {
		return b
	}
	var x, y map[string]jsontext.Value
	if a.Kind() != jsontext.KindBeginObject || b.Kind() != jsontext.KindBeginObject || json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return a
	}
	for key, v := range y {
		x[key] = union(x[key], v)
	}
	raw, err := json.Marshal(x, encoding)
	if err != nil {
		return a
	}
	return raw
}

// omit is an object without one member; nothing, if it becomes empty by that.
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
	raw, err := json.Marshal(x, encoding)
	if err != nil {
		return nil
	}
	return raw
}

// maxServerText bounds the instructions of all servers together, in bytes.
const maxServerText = 8 << 10

// taughtByServers are the instructions of the servers of which a session sees a tool, hidden names masked, in at most limit bytes.
func (sc *scoped) taughtByServers(limit int) string {
	if limit = min(limit, maxServerText); limit <= 0 {
		return ""
	}
	v := sc.view()
	var b strings.Builder
	for _, name := range v.servers() {
		taught := strings.TrimSpace(sc.world.Servers[name].Instructions)
		if taught == "" {
			continue
		}
		taught, _ = sc.world.names.mask(taught, name, true, v.seen)
		part := "\n\n# Server: " + name + "\n\n" + taught
		b.WriteString(text.Truncate(part, limit-b.Len()))
	}
	return b.String()
}
