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

// imports is the import graph of DESIGN.md: what a line does not list is forbidden, direct imports of code that is not a test
// count. It is a statement of policy: a build is not fixed by relaxing it. Rooms that are not built yet stand here too.
const imports = `
text policy atomicfile rpc telemetry store setup swarm/tmux swarm/worktree :
harness model        : text
model/modeltest      : model text
secret               : atomicfile
daemon               : rpc atomicfile
yamlfile             : policy text
scan files           : policy text
shell sandbox        : policy
skill                : policy text atomicfile yamlfile
audit                : policy text store atomicfile
approval             : policy text store model
approval/telegramtest :
memory transcript    : policy atomicfile store
protocol             : policy audit store atomicfile
workflow             : policy store atomicfile
backend              : policy scan rpc text store atomicfile secret telemetry
gate                 : policy shell skill audit approval text store telemetry
gateway              : policy skill approval gate rpc text telemetry
hook                 : policy approval gate daemon text atomicfile harness model/modeltest
agent                : policy skill approval gate model harness hook transcript
swarm                : policy skill gate hook agent model harness sandbox protocol workflow store setup swarm/tmux swarm/worktree
config               : policy shell skill audit approval backend sandbox protocol workflow secret text atomicfile yamlfile
web                  : policy skill audit approval backend gate hook swarm protocol workflow config transcript memory setup telemetry
`

// impure are the packages that the pure rooms may not import: the world, and whatever guards state that changes.
var impure = []string{"context", "os", "net", "io/fs", "log", "sync", "runtime", "unsafe", "syscall", "math/rand", "crypto/rand", "path/filepath", "os/exec", "io/ioutil"}

// confined names outside packages that only some rooms may use directly.
var confined = map[string][]string{
	"github.com/modelcontextprotocol/go-sdk": {"cmd/myc", "internal/backend"}, // myc demo: a client that is not ours; backend's OAuth
	"github.com/goccy/go-yaml":               {"internal/yamlfile", "internal/config", "internal/skill"},
	"modernc.org/sqlite":                     {"internal/store"},
	"cel.dev/cel-go":                         {"internal/policy"},
	"github.com/anthropics/anthropic-sdk-go": {"internal/model"},
	"github.com/clipperhouse/displaywidth":   {"internal/text"},
	"github.com/rogpeppe/go-internal/diff":   {"internal/text"},
}

func TestImportGraph(t *testing.T) {
	allowed := graph(t)
	for dir, files := range packages(t) {
		room, inside := strings.CutPrefix(dir, "internal/")
		for _, imp := range importsOf(files) {
			for prefix, where := range confined {
				if under(imp, prefix) && !slices.Contains(where, dir) {
					t.Errorf("%s imports %s, which is for %v only", dir, imp, where)
				}
			}
			if !inside {
				continue
			}
			if ours, ok := strings.CutPrefix(imp, "mycelium/internal/"); ok {
				to, known := allowed[room]
				if !known {
					t.Errorf("room %s is not in the import graph", room)
				} else if !slices.Contains(to, ours) {
					t.Errorf("%s imports %s: the import graph does not allow it", room, ours)
				}
			}
			if (room == "policy" || room == "shell" || room == "scan" || room == "text") && slices.ContainsFunc(impure, func(p string) bool { return under(imp, p) }) {
				t.Errorf("%s imports %s: it is pure", room, imp)
			}
		}
	}
}

func TestPureRoomsNeverReadTheClock(t *testing.T) {
	for dir, files := range packages(t) {
		if dir != "internal/policy" && dir != "internal/shell" {
			continue
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc", "LoadLocation"}, sel.Sel.Name) {
					t.Errorf("%s uses time.%s: the time is a field of the call", dir, sel.Sel.Name)
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

// graph reads the text above: room → what it may import.
func graph(t *testing.T) map[string][]string {
	t.Helper()
	g := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(imports)) {
		rooms, to, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("import graph: no colon in %q", line)
		}
		for _, r := range strings.Fields(rooms) {
			g[r] = strings.Fields(to)
		}
	}
	for room, to := range g {
		for _, r := range to {
			if _, ok := g[r]; !ok {
				t.Fatalf("import graph: %s may import %s, which is no room", room, r)
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
