package internal_test

import (
	"go/ast"
	"os/exec"
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
