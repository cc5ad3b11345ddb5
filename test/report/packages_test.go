package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDivide: a package has the race detector if its own code begins a goroutine, and the longest packages begin first.
func TestDivide(t *testing.T) {
	const one = "package p\n\nfunc f(x interface{ Now() }) { x.Now() }\n"
	sources := map[string]string{"one.go": one, "one_test.go": one,
		"go.go":       "package p\n\nfunc f() { go f() }\n",
		"par_test.go": "package p\n\nfunc TestX(t *testing.T) { t.Parallel() }\n",
	}
	dir := t.TempDir()
	for name, text := range sources {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tested := []string{"one_test.go"}
	raced, plain, err := divide([]pkg{
		{Dir: dir, ImportPath: "m/starts", GoFiles: []string{"one.go", "go.go"}, TestGoFiles: tested},
		{Dir: dir, ImportPath: "m/untested", GoFiles: []string{"go.go"}},
		{Dir: dir, ImportPath: "m/still", GoFiles: []string{"one.go"}, TestGoFiles: tested},
		{Dir: dir, ImportPath: "m/parallel", GoFiles: []string{"one.go"}, XTestGoFiles: []string{"par_test.go"}},
		{Dir: dir, ImportPath: "m/internal/gate", GoFiles: []string{"go.go"}, TestGoFiles: tested},
		{Dir: dir, ImportPath: "m/test/chains", TestGoFiles: []string{"par_test.go"}},
		{Dir: dir, ImportPath: "m/cmd/myc", GoFiles: []string{"go.go"}, TestGoFiles: tested},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(raced, " "); got != "m/internal/gate m/starts" {
		t.Errorf("with the detector: %s", got)
	}
	if got := strings.Join(plain, " "); got != "m/cmd/myc m/test/chains m/still m/parallel" {
		t.Errorf("without: %s", got)
	}
	if _, _, err := divide([]pkg{{Dir: dir, ImportPath: "m/gone", GoFiles: []string{"gone.go"}, TestGoFiles: tested}}); err == nil {
		t.Error("a file that cannot be read is passed over")
	}
}

// TestList: every package of this module with tests runs once, and every name in the lists above is one.
func TestList(t *testing.T) {
	t.Chdir("../..")
	all, err := list()
	if err != nil {
		t.Fatal(err)
	}
	raced, plain, err := divide(all)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, p := range all {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			want[p.ImportPath] = true
		}
	}
	if got := slices.Sorted(slices.Values(slices.Concat(raced, plain))); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("%d packages run, of %d", len(got), len(want))
	}
	for _, name := range slices.Concat(asShipped, longest) {
		if !want["mycelium/"+name] {
			t.Errorf("there is no package %s with tests", name)
		}
	}
	for _, name := range []string{"gate", "backend", "daemon", "rpc", "sandbox", "secret", "model"} {
		if !slices.Contains(raced, "mycelium/internal/"+name) {
			t.Errorf("internal/%s runs without the race detector", name)
		}
	}
	t.Logf("with the race detector: %d, without: %s", len(raced), strings.Join(plain, " "))
}
