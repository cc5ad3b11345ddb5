package policy

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mycelium/internal/policy/address"
	"mycelium/internal/policy/arguments"
)

// Annotations are the boolean hints of a tool, as far as the operator trusts its server. A missing hint has the default of MCP.
type Annotations map[string]bool

// hintDefaults are the defaults of MCP's tool annotations (specification 2025-06-18, ToolAnnotations).
var hintDefaults = [...]struct {
	name  string
	value bool
}{{"readOnlyHint", false}, {"destructiveHint", true}, {"idempotentHint", false}, {"openWorldHint", true}}

// hint is the value of one hint. known is false for a name that MCP does not define.
func (a Annotations) hint(name string) (value, known bool) {
	for _, d := range hintDefaults {
		if d.name == name {
			if v, ok := a[name]; ok {
				return v, true
			}
			return d.value, true
		}
	}
	return false, false
}

// ArgFacts are the facts that the arguments of a call show. They are made from the text alone: the gate resolves links afterwards and
// fills in Resolved. Paths come from the arguments named path, paths, deletedPaths, file_path, notebook_path, source and destination, hosts
// from url and uri, at any depth. What is done to a path follows from the table of known tools. A tool that is not in the table reads its
// paths, and writes them too unless it has readOnlyHint. dir is the absolute folder from which relative paths start.
func ArgFacts(it Item, notes Annotations, args Args, dir string) Facts {
	m := factMaker{dir: dir, uses: usesOf(it, notes)}
	if it.Kind == Resource {
		m.url(it.Name)
	}
	m.object(args, 0)
	for _, e := range m.uses.effects {
		m.effect(e)
	}
	for _, p := range m.part.Paths {
		m.effect(string(p.Access))
	}
	return Facts{Dir: dir, Parts: []Part{m.part}}
}

// uses says what a tool does.
type uses struct {
	path        []Access // to each path other than source and destination
	source      []Access
	destination []Access
	effects     []string // whatever the arguments are
	dirDefault  bool     // without a path, it works on the working directory
	command     bool     // an argument is a command, which is not read here
}

// usesOf says what a tool does: a known tool by the table, any other tool by its hints.
func usesOf(it Item, notes Annotations) uses {
	read, write, del := []Access{Read}, []Access{Write}, []Access{Delete}
	switch knownTool(it) {
	case looks:
		return uses{path: read, source: read, destination: read, effects: []string{EffectRead}}
	case lists:
		return uses{path: read, source: read, destination: read, effects: []string{EffectRead}, dirDefault: true}
	case writes:
		return uses{path: write, source: write, destination: write, effects: []string{EffectWrite}}
	case deletes:
		return uses{path: del, source: del, destination: del, effects: []string{EffectDelete}}
	case moves:
		return uses{path: write, source: del, destination: write}
	case reaches:
		return uses{path: read, source: read, destination: read, effects: []string{EffectNetwork}}
	case commands:
		return uses{effects: []string{EffectExecute}, command: true}
	case inside:
		return uses{path: read, source: read, destination: read}
	case unknownTool:
	}
	if ro, _ := notes.hint("readOnlyHint"); ro || it.Kind != Tool {
		return uses{path: read, source: read, destination: read}
	}
	both := []Access{Read, Write}
	return uses{path: both, source: []Access{Read, Write, Delete}, destination: both}
}

type factMaker struct {
	dir  string
	uses uses
	part Part
}

func (m *factMaker) object(args map[string]any, depth int) {
	if m.uses.command {
		m.part.Unclear = append(m.part.Unclear, "the command was not read")
		m.effect("unclear")
		return
	}
	m.walk(args, depth)
	if m.uses.dirDefault && len(m.part.Paths) == 0 && len(m.part.Unclear) == 0 {
		m.path(".", m.uses.path)
	}
}

// walk looks for the named arguments at every level. Names are compared without regard to case and underscores, because a server may do so
// too: it is better to judge a path too many than to miss one.
func (m *factMaker) walk(v any, depth int) {
	if depth > arguments.MaxDepth {
		m.unclear("arguments nested too deep")
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			m.named(key, v[key], depth)
		}
	case []any:
		for _, e := range v {
			m.walk(e, depth+1)
		}
	}
}

func (m *factMaker) named(key string, v any, depth int) {
	switch strings.ReplaceAll(strings.ToLower(key), "_", "") {
	case "path", "paths", "filepath", "filepaths", "notebookpath":
		m.each(key, v, depth, func(s string) { m.path(s, m.uses.path) })
	case "deletedpaths": // of a patch
		m.each(key, v, depth, func(s string) { m.path(s, []Access{Delete}) })
	case "source":
		m.each(key, v, depth, func(s string) { m.path(s, m.uses.source) })
	case "destination":
		m.each(key, v, depth, func(s string) { m.path(s, m.uses.destination) })
	case "url", "urls", "uri":
		m.each(key, v, depth, m.url)
	default:
		m.walk(v, depth+1)
	}
}

// each calls f for every string of a named argument. Other values in its place are not understood.
func (m *factMaker) each(key string, v any, depth int, f func(string)) {
	switch v := v.(type) {
	case nil:
	case string:
		f(v)
	case []any:
		for _, e := range v {
			if depth > arguments.MaxDepth {
				m.unclear("arguments nested too deep")
				return
			}
			m.each(key, e, depth+1, f)
		}
	case map[string]any:
		m.walk(v, depth+1)
	default:
		m.unclear("argument " + key + " is not a text")
	}
}

func (m *factMaker) path(raw string, how []Access) {
	if rest, ok := cutFold(raw, "file://"); ok {
		m.fileURL(rest, how)
		return
	}
	for _, a := range how {
		m.part.Paths = append(m.part.Paths, Path{Access: a, Raw: raw, Clean: cleanPath(m.dir, raw)})
	}
}

// fileURL takes the path of a file URL. An escaped URL is not understood: servers differ in what they make of an escape.
func (m *factMaker) fileURL(rest string, how []Access) {
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		rest = rest[i:]
	}
	if strings.ContainsAny(rest, "%?#") {
		m.unclear("an escaped file URL")
		rest = unescape(rest)
	}
	for _, a := range how {
		m.part.Paths = append(m.part.Paths, Path{Access: a, Raw: rest, Clean: cleanPath(m.dir, rest)})
	}
}

func (m *factMaker) url(s string) {
	if rest, ok := cutFold(s, "file://"); ok {
		how := m.uses.path
		if how == nil {
			how = []Access{Read}
		}
		m.fileURL(rest, how)
		return
	}
	a := address.Read(s)
	if a.Scheme == "" && !namesHost(a) {
		m.unclear("an address without a scheme")
		return
	}
	if a.Host == "" || !a.Clear {
		m.unclear("an address without a clear host")
	}
	if a.Host != "" {
		m.part.Hosts = append(m.part.Hosts, a.Host)
	}
	switch a.Scheme {
	case "", "http", "https", "ws", "wss", "ftp":
		m.effect("network")
	}
}

// namesHost reports whether an address without a scheme is the name of a host: www.x.com, localhost:3000.
func namesHost(a address.Address) bool {
	if a.Port != "" {
		return strings.Trim(a.Port, "0123456789") == ""
	}
	return a.Host == "localhost" || strings.IndexAny(a.Host, ".:") > 0
}

func (m *factMaker) effect(e string) {
	for _, have := range m.part.Effects {
		if have == e {
			return
		}
	}
	m.part.Effects = append(m.part.Effects, e)
}

func (m *factMaker) unclear(why string) {
	m.part.Unclear = append(m.part.Unclear, why)
	m.effect("unclear")
}

// cleanPath is the absolute, lexically cleaned form of a path, or empty if dir is not known.
func cleanPath(dir, raw string) string {
	if strings.HasPrefix(raw, "/") {
		return path.Clean(raw)
	}
	if dir == "" {
		return ""
	}
	return path.Join(dir, raw)
}

func cutFold(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}

// unescape is the path of a URL in plain text, without query and fragment.
func unescape(s string) string {
	if i := strings.IndexAny(s, "?#"); i >= 0 {
		s = s[:i]
	}
	return percentDecode(s)
}

// percentDecode resolves percent escapes once. A bad escape stays as it is.
func percentDecode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, lo := unhex(s[i+1]), unhex(s[i+2])
			if hi >= 0 && lo >= 0 {
				b.WriteByte(byte(hi<<4 | lo))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
