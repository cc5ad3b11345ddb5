package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryFuzzTargetIsRun: `make soak` runs what `scripts/fuzz list` prints, and that is every fuzz target of the program.
func TestEveryFuzzTargetIsRun(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "../scripts/fuzz", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Fields(string(out)) // package and target by turns
	var targets []string
	for _, files := range sources(t) {
		for _, f := range files {
			for _, d := range f.file.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && f.isTest() && strings.HasPrefix(fn.Name.Name, "Fuzz") {
					targets = append(targets, fn.Name.Name)
				}
			}
		}
	}
	if len(targets) == 0 || len(listed) != 2*len(targets) {
		t.Errorf("scripts/fuzz list prints %d targets, the sources have %d", len(listed)/2, len(targets))
	}
	for _, target := range targets {
		if !slices.Contains(listed, target) {
			t.Errorf("scripts/fuzz does not run %s", target)
		}
	}
}

// source is one parsed file.
type source struct {
	name string
	file *ast.File
}

func (s source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

// sources reads every Go file of the program, tests included, by folder.
func sources(t *testing.T) map[string][]source {
	t.Helper()
	out := map[string][]source{}
	for _, top := range []string{"internal", "cmd", "bench", "test"} {
		err := filepath.WalkDir(filepath.Join("..", top), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			dir := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(p, ".."+string(filepath.Separator))))
			out[dir] = append(out[dir], source{name: d.Name(), file: f})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
