package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// asShipped are the packages whose tests start the programs as they are shipped, or look at files. What happens at the same time happens in
// those programs, where the race detector of a test would see nothing. `make soak` puts it into the programs.
var asShipped = []string{"cmd/myc", "test/chains", "test/differ", "internal", "scripts/second-kernel"}

// longest are the packages that take longest, the longest first. `go test` begins packages in the order in which they are named, and a
// long one that begins late runs alone at the end.
var longest = []string{"cmd/myc", "test/chains", "internal/sandbox", "internal/gate", "internal/backend", "internal/config"}

// pkg is what `go list -json` says of a package.
type pkg struct {
	Dir, ImportPath                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// list returns the packages of the module.
func list() ([]pkg, error) {
	cmd := exec.Command("go", "list", "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	var all []pkg
	for d := json.NewDecoder(out); err == nil; {
		var p pkg
		if err = d.Decode(&p); err == nil {
			all = append(all, p)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return all, errors.Join(err, cmd.Wait())
}

// divide returns the packages with tests in the order in which they should begin: those that run with the race detector, and the others. A
// package needs it if its own code begins something that runs at the same time. `make soak` has it in every package: with it a program is
// compiled and linked a second time, which took longer than the tests that found nothing.
func divide(all []pkg) (raced, plain []string, err error) {
	for _, p := range all {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		begins, err := concurrent(p.Dir, p.GoFiles)
		if err != nil {
			return nil, nil, err
		}
		if begins && !slices.Contains(asShipped, inModule(p.ImportPath)) {
			raced = append(raced, p.ImportPath)
		} else {
			plain = append(plain, p.ImportPath)
		}
	}
	slices.SortStableFunc(raced, longestFirst)
	slices.SortStableFunc(plain, longestFirst)
	return raced, plain, nil
}

// inModule returns the path of a package below its module.
func inModule(path string) string {
	_, rest, _ := strings.Cut(path, "/")
	return rest
}

func longestFirst(a, b string) int {
	rank := func(path string) int {
		if i := slices.Index(longest, inModule(path)); i >= 0 {
			return i
		}
		return len(longest)
	}
	return cmp.Compare(rank(a), rank(b))
}

// concurrent reports whether some files of a folder begin something that runs at the same time.
func concurrent(dir string, files []string) (bool, error) {
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, fmt.Errorf("which packages need the race detector: %w", err)
		}
		found := false
		ast.Inspect(f, func(n ast.Node) bool {
			found = found || isConcurrent(n)
			return !found
		})
		if found {
			return true, nil
		}
	}
	return false, nil
}

// isConcurrent reports whether a piece of code is a go statement, or is called like what begins a goroutine: that of a group, of a timer, or
// of a server.
func isConcurrent(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.SelectorExpr:
		switch n.Sel.Name {
		case "Go", "AfterFunc", "Serve", "ServeTLS", "ListenAndServe", "NewServer", "NewTLSServer",
			"NewUnstartedServer":
			return true
		}
	}
	return false
}
