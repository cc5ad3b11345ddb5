package internal_test

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mycelium/internal/text"
)

// The sizes of the house (docs/design.md). A room that grows past them has two owners.
const (
	maxMethods      = 40   // on one type
	maxPackageLines = 3000 // tests aside
	maxPolicyLines  = 5500 // of the package policy, whose parts are one algorithm
	maxPackageFiles = 25   // tests aside
	maxFileLines    = 500  // tests aside
	maxCommandLines = 200  // of a file below cmd, tests aside
	maxFuncLines    = 60   // tests aside
	maxColumns      = 140  // tests too
)

// TestShape measures every package against the sizes above. testdata/shape.txt names what is larger: an exception says by how much,
// so that it cannot grow, and one that is not needed any more fails the test. Nothing is added there.
func TestShape(t *testing.T) {
	sizes := map[string]int{} // what is over its limit: "methods internal/gate.Gate" → 98
	for dir, files := range sources(t) {
		measurePackage(sizes, dir, files)
		for _, f := range files {
			measureFile(sizes, dir, f)
		}
	}
	excepted := shapeExceptions(t)
	for _, what := range slices.Sorted(maps.Keys(sizes)) {
		allowed, ok := excepted[what]
		switch {
		case !ok:
			t.Errorf("%s: %d", what, sizes[what])
		case sizes[what] > allowed:
			t.Errorf("%s: %d, and its exception ends at %d", what, sizes[what], allowed)
		}
	}
	for what := range excepted {
		if _, ok := sizes[what]; !ok {
			t.Errorf("%s keeps its size: remove it from testdata/shape.txt", what)
		}
	}
}

// source is one parsed file.
type source struct {
	name string
	text string
	file *ast.File
	fset *token.FileSet
}

func (s source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

func (s source) lines() int { return strings.Count(s.text, "\n") }

// sources reads every Go file of the program, tests included, by folder.
func sources(t *testing.T) map[string][]source {
	t.Helper()
	out := map[string][]source{}
	for _, top := range []string{"internal", "cmd", "bench", "test"} {
		err := filepath.WalkDir(filepath.Join("..", top), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") {
				return err
			}
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			s := source{name: d.Name(), text: string(b), fset: token.NewFileSet()}
			if s.file, err = parser.ParseFile(s.fset, p, b, parser.SkipObjectResolution); err != nil {
				return err
			}
			dir := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(p, ".."+string(filepath.Separator))))
			out[dir] = append(out[dir], s)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func measurePackage(sizes map[string]int, dir string, files []source) {
	lines, count, methods := 0, 0, map[string]int{}
	for _, s := range files {
		if s.isTest() {
			continue
		}
		lines += s.lines()
		count++
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[receiver(f)]++
			}
		}
	}
	limit := maxPackageLines
	if dir == "internal/policy" {
		limit = maxPolicyLines
	}
	over(sizes, "package lines "+dir, lines, limit)
	over(sizes, "package files "+dir, count, maxPackageFiles)
	for name, n := range methods {
		over(sizes, "methods "+dir+"."+name, n, maxMethods)
	}
}

func measureFile(sizes map[string]int, dir string, s source) {
	name, wide := path.Join(dir, s.name), 0
	for line := range strings.Lines(s.text) {
		if columns := text.Width(line) + strings.Count(line, "\t"); columns > maxColumns { // a tab is one, a Japanese letter two
			wide++
		}
	}
	over(sizes, "wide lines "+name, wide, 0)
	if s.isTest() {
		return
	}
	limit := maxFileLines
	if strings.HasPrefix(dir, "cmd/") {
		limit = maxCommandLines
	}
	over(sizes, "file lines "+name, s.lines(), limit)
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			length := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1
			over(sizes, fmt.Sprintf("function %s.%s%s", dir, receiver(f), f.Name.Name), length, maxFuncLines)
		}
	}
}

func over(sizes map[string]int, what string, n, limit int) {
	if n > limit {
		sizes[what] = n
	}
}

// receiver is the name of the type that a method belongs to; empty for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	typ := f.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// shapeExceptions reads testdata/shape.txt: what is over its limit, a colon, and how large it may be.
func shapeExceptions(t *testing.T) map[string]int {
	t.Helper()
	f, err := os.Open("testdata/shape.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		what, size, ok := strings.Cut(line, ": ")
		n, err := strconv.Atoi(size)
		if !ok || err != nil {
			t.Fatalf("shape.txt: %q", line)
		}
		out[what] = n
	}
	return out
}
