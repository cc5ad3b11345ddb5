package facts

import (
	"os"
	"path/filepath"
	"testing"

	"mycelium/internal/policy"
)

// TestHardLinks: a file is protected under each of its names.
func TestHardLinks(t *testing.T) {
	dir := projectWith(t, "src/a.go", "sub/.env", "mycelium.yaml", "certs/server.key", "docs/a.md")
	for name, of := range map[string]string{"src/e.txt": "sub/.env", "src/m.txt": "mycelium.yaml", "docs/b.md": "docs/a.md"} {
		if err := os.Link(filepath.Join(dir, of), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("e.txt", filepath.Join(dir, "src/l.txt")); err != nil {
		t.Fatal(err)
	}
	wants(t, dir, policy.Deny, "cat src/e.txt", "cat src/l.txt", "cat src/*.txt", "cat src/e*", "cp src/e.txt x",
		"cat src/m.txt", "cat src/m*", "echo x > src/m.txt", "for f in src/*; do cat \"$f\"; done")
	wants(t, dir, policy.Ask, "grep -r TOKEN src", "find src -type f -exec cat {} +")
	wants(t, dir, policy.Allow, "cat docs/b.md", "echo x > docs/b.md", "grep -r TOKEN docs", "rm src/e.txt", "cat src/*.go")
	p := shipped(t, dir)
	f, err := Of(readTool, nil, policy.Args{"path": "src/e.txt"}, At(p, dir, "/home/u", nil))
	who := policy.Scope{Principal: policy.Principal{ID: "x", Role: "developer"}, Skills: []string{"coding-agent"}}
	if d := p.Decide(policy.Call{Scope: who, Item: readTool, Facts: f}); err != nil || d.Effect != policy.Deny {
		t.Errorf("%v, %v", d, err)
	}
}

// TestHardLinksToHome: the secrets of the home folder have other names too.
func TestHardLinksToHome(t *testing.T) {
	dir, home := projectWith(t, "a.go"), projectWith(t, ".ssh/id", ".netrc", "notes.txt")
	for name, of := range map[string]string{"a": ".ssh/id", "b": ".netrc", "c": "notes.txt"} {
		if err := os.Link(filepath.Join(home, of), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	protects := func(p policy.Path) bool {
		return holds(filepath.Join(home, ".ssh"), p.Clean) || p.Clean == filepath.Join(home, ".netrc")
	}
	for name, want := range map[string]string{"a": ".ssh/id", "b": ".netrc", "c": "", "a.go": ""} {
		f, err := Of(readTool, nil, policy.Args{"path": name}, Place{Dir: dir, Home: home, Protects: protects})
		if err != nil {
			t.Fatal(err)
		}
		paths := f.Parts[0].Paths
		if got := paths[len(paths)-1].Clean; want != "" && got != filepath.Join(home, want) || want == "" && len(paths) != 1 {
			t.Errorf("%s: %v", name, paths)
		}
	}
}
