// Package internal_test checks the shape of the program: which room may import which, that every room says what it is for, and
// that starting the program costs next to nothing.
package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports is the import graph of docs/design.md: an import that no line lists is forbidden. Only direct imports of code that is not
// a test count. It is a statement of policy: a build is not fixed by relaxing it. The graph names rooms; a package below a room may
// import what its room may, and the packages of one room may import each other. Every room may import op, except those that op imports.
// Rooms that are not built yet stand here too.
const imports = `
rawjson text lazy state atomicfile store telemetry model harness setup tmux worktree keeper policy :
registry             : rawjson lazy
harness store model  : rawjson text
state worktree       : atomicfile
setup                : text yamlfile
credential           : text policy
rpc                  : rawjson text atomicfile
op                   : policy rawjson text rpc
daemon               : rpc rawjson text state atomicfile
secret yamlfile      : text atomicfile policy
shell scan           : policy text credential
builtin              : policy text
files sandbox        : builtin policy text lazy keeper atomicfile credential registry
find                 : text lazy
skill                : policy text atomicfile yamlfile
audit                : policy rawjson text lazy credential store atomicfile
approval             : policy store text credential model
memory transcript    : builtin policy text atomicfile store
protocol             : policy audit store atomicfile
workflow             : policy store atomicfile
backend              : policy scan rpc rawjson text credential store atomicfile secret keeper telemetry
code                 : policy shell approval lazy
gate                 : policy shell code find skill audit approval rawjson text lazy credential store atomicfile telemetry worktree
gateway              : policy skill approval gate rpc rawjson text telemetry
hook                 : harness daemon rpc rawjson text state atomicfile worktree
run                  : policy approval gate hook harness audit store atomicfile text credential tmux keeper
agent                : policy skill approval gate model harness run transcript rawjson text atomicfile credential
swarm                : policy skill gate run harness agent model sandbox protocol workflow store setup keeper text lazy tmux worktree
swarm                : builtin atomicfile yamlfile credential rawjson
config               : policy shell code skill audit approval backend sandbox protocol workflow secret state atomicfile yamlfile
config               : text lazy registry
node                 : rawjson text state atomicfile store telemetry model harness setup tmux worktree keeper policy credential rpc daemon
node                 : secret yamlfile shell scan builtin files sandbox skill audit approval memory transcript protocol workflow backend
node                 : registry find gate gateway hook run agent swarm config
web                  : node policy skill audit approval backend gate run swarm protocol workflow config transcript
web                  : memory setup telemetry text rawjson state atomicfile daemon yamlfile store tmux credential scan
`

// narrow are packages below a room that may import less than their room: only what their line names, packages of their own room included.
// They are pure too.
const narrow = `
swarm/plan           : policy text yamlfile swarm/verify
swarm/verify         : text lazy
swarm/schedule       : swarm/plan text
swarm/proposal       : swarm/plan text
swarm/confidence     : text
`

// leaving are imports that the graph forbids and that stand until the rooms are rebuilt. Nothing is added here: a line goes
// when the last import that it names goes, and the test fails for a line that is not needed.
const leaving = `
`

// impure are the packages that the pure rooms may not import: the world, and whatever guards state that changes. Of net, netip is a pure
// package: it reads addresses.
var impure = []string{"context", "os", "net", "io/fs", "log", "sync", "runtime", "unsafe", "syscall", "math/rand", "crypto/rand",
	"path/filepath", "os/exec", "io/ioutil"}

// confined names outside packages that only some rooms may use directly.
var confined = map[string][]string{
	"github.com/modelcontextprotocol/go-sdk": {"cmd/myc", "internal/backend"}, // myc demo: a client that is not ours; backend's OAuth
	"github.com/goccy/go-yaml":               {"internal/yamlfile"},
	"modernc.org/sqlite":                     {"internal/store"},
	"cel.dev/cel-go":                         {"internal/policy"},
	"github.com/anthropics/anthropic-sdk-go": {"internal/model"},
	"github.com/clipperhouse/displaywidth":   {"internal/text"},
	"github.com/rogpeppe/go-internal/diff":   {"internal/text"},
	"github.com/chromedp":                    {"internal/web/webtest/browser"},
}

func TestImportGraph(t *testing.T) {
	allowed, tolerated, used := graph(t, imports), graph(t, leaving), map[string]bool{}
	narrowed := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(narrow)) {
		pkg, to, _ := strings.Cut(line, ":")
		narrowed[strings.TrimSpace(pkg)] = strings.Fields(to)
	}
	for dir, files := range packages(t) {
		room, inside := strings.CutPrefix(dir, "internal/")
		for _, imp := range importsOf(files) {
			for prefix, where := range confined {
				if under(imp, prefix) && !slices.ContainsFunc(where, func(w string) bool { return under(dir, w) }) {
					t.Errorf("%s imports %s, which is for %v only", dir, imp, where)
				}
			}
			if !inside {
				continue
			}
			if ours, ok := strings.CutPrefix(imp, "mycelium/internal/"); ok {
				from, to := roomOf(room), roomOf(ours)
				if may, is := narrowed[room]; is && !slices.Contains(may, ours) {
					t.Errorf("%s imports %s: it is narrower than its room", room, ours)
				}
				switch may, known := allowed[from]; {
				case !known:
					t.Errorf("room %s is not in the import graph", room)
				case from == to || slices.Contains(may, to) || to == "op" && !slices.Contains(allowed["op"], from):
				case slices.Contains(tolerated[from], to):
					used[from+" "+to] = true
				default:
					t.Errorf("%s imports %s: the import graph does not allow it", room, ours)
				}
			}
			if under(imp, "mycelium/cmd") {
				t.Errorf("%s imports %s: commands are imported by nobody", room, imp)
			}
			_, pure := narrowed[room]
			if r := roomOf(room); inside && (pure || r == "policy" || r == "shell" || r == "scan" || r == "text") &&
				imp != "net/netip" && slices.ContainsFunc(impure, func(p string) bool { return under(imp, p) }) {
				t.Errorf("%s imports %s: it is pure", room, imp)
			}
		}
	}
	for from, all := range tolerated {
		for _, to := range all {
			if !used[from+" "+to] {
				t.Errorf("%s does not import %s any more: remove it from the imports that are leaving", from, to)
			}
		}
	}
}

// roomOf is the room of a package: the first element of its path below internal.
func roomOf(pkg string) string {
	room, _, _ := strings.Cut(pkg, "/")
	return room
}

func TestPureRoomsNeverReadTheClock(t *testing.T) {
	for dir, files := range packages(t) {
		if !under(dir, "internal/policy") && !under(dir, "internal/shell") && !strings.Contains(narrow, strings.TrimPrefix(dir,
			"internal/")+" ") {
			continue
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" &&
					slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc", "LoadLocation"},
						sel.Sel.Name) {
					t.Errorf("%s uses time.%s: the time is a field of the call", dir, sel.Sel.Name)
				}
				return true
			})
		}
	}
}

// TestOnePlaceTypes: what types into the terminal of an agent is in run/pane, which looks at the terminal first.
func TestOnePlaceTypes(t *testing.T) {
	for dir, files := range packages(t) {
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if n.Sel.Name == "Paste" && dir != "internal/run/pane" {
						t.Errorf("%s pastes into a terminal: package run/pane does that", dir)
					}
				case *ast.BasicLit:
					if slices.Contains([]string{`"send-keys"`, `"paste-buffer"`}, n.Value) && dir != "internal/tmux" {
						t.Errorf("%s types into a terminal: package run/pane does that", dir)
					}
				}
				return true
			})
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for dir, files := range packages(t) {
		if !slices.ContainsFunc(files, func(f *ast.File) bool { return f.Doc != nil && len(strings.TrimSpace(f.Doc.Text())) > 20 }) {
			t.Errorf("%s has no package comment", dir)
		}
	}
}

// graph reads one of the texts above: room → what it may import. Several lines about one room add up.
func graph(t *testing.T, text string) map[string][]string {
	t.Helper()
	g := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		rooms, to, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("import graph: no colon in %q", line)
		}
		for _, r := range strings.Fields(rooms) {
			g[r] = append(g[r], strings.Fields(to)...)
		}
	}
	known := g
	if text != imports {
		known = graph(t, imports)
	}
	for room, to := range g {
		for _, r := range append(to, room) {
			if _, ok := known[r]; !ok {
				t.Fatalf("import graph: the line of %s names %s, which is no room", room, r)
			}
		}
	}
	return g
}

// packages parses every Go file of the program that is not a test, by folder.
func packages(t *testing.T) map[string][]*ast.File {
	t.Helper()
	out := map[string][]*ast.File{}
	root := ".."
	for _, top := range []string{"internal", "cmd", "bench"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
				return nil
			}
			f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, filepath.Dir(p))
			if err != nil {
				return err
			}
			out[filepath.ToSlash(rel)] = append(out[filepath.ToSlash(rel)], f)
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if len(out) < 10 {
		t.Fatalf("found only %d packages: is the walk wrong?", len(out))
	}
	return out
}

func importsOf(files []*ast.File) []string {
	var out []string
	for _, f := range files {
		for _, s := range f.Imports {
			if p, err := strconv.Unquote(s.Path.Value); err == nil {
				out = append(out, p)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// under reports whether an import path is the given one or lies below it.
func under(imp, prefix string) bool {
	return imp == prefix || strings.HasPrefix(imp, path.Clean(prefix)+"/")
}
