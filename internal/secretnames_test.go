package internal_test

import (
	"go/ast"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mycelium/internal/policy/secretfile"
)

// listsNames are packages that name files of the table for another reason, with the reason.
var listsNames = map[string]string{
	"internal/policy/secretfile": "the table",
	"internal/code":              "what governs package managers",
	"internal/hook/install":      "the agents' own files of credentials, which installing leaves alone",
}

// TestFilesWithSecretsHaveOneTable: no file of the program but the table lists names of files with secrets. Two of them in one file are a list.
func TestFilesWithSecretsHaveOneTable(t *testing.T) {
	names := map[string]bool{}
	for _, f := range secretfile.Files {
		path := strings.TrimSuffix(f.Path, "/")
		if name := path[strings.LastIndexByte(path, '/')+1:]; strings.ContainsAny(name, "._") { // gh is a program too
			names[name] = true
		}
	}
	for dir, files := range packages(t) {
		if listsNames[dir] != "" {
			continue
		}
		for _, f := range files {
			var found []string
			ast.Inspect(f, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					return true
				}
				name := text[strings.LastIndexByte(text, '/')+1:]
				if (names[name] || names["."+name] && strings.HasPrefix(text, "*.")) && !slices.Contains(found, name) {
					found = append(found, name)
				}
				return true
			})
			if len(found) > 1 {
				t.Errorf("%s, package %s: %q are files with secrets; the table of package secretfile has them", dir, f.Name.Name, found)
			}
		}
	}
	// The first rules of a project take the table too.
	rules, err := os.ReadFile("config/scaffold/initial/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(rules); !strings.Contains(text, "secret: [") || strings.Contains(text, "id_ed25519") || strings.Contains(text, ".pgpass") {
		t.Error("the first rules of a project have a list of their own")
	}
}
