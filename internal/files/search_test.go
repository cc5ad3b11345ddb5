package files

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/policy"
)

func TestSearch(t *testing.T) {
	s, dir := serve(t, map[string]string{
		"main.go": "package main\n// 検索する\nfunc main() {}\n", "pkg/a.go": "package pkg\nfunc A() {}\n",
		"pkg/deep/b.txt": "FUNC main\r\nfunc\r\n",
		".git/config":    "func main", ".mycelium/key": "func main", ".env": "func main", "pkg/.hidden/x.go": "func main",
		".github/ci.yml": "func main",
		"bin":            "func main\x00", "server.pem": "func main", "Client_Secret.json": "func main",
		"long": strings.Repeat("あ", 1000) + "func main" + strings.Repeat("い", 1000),
	})
	if err := os.Symlink("main.go", filepath.Join(dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args object
		want string
	}{
		{object{"pattern": "*.go"}, "link.go\nmain.go\npkg/a.go"},
		{object{"pattern": "pkg/**"}, "pkg/\npkg/a.go\npkg/deep/\npkg/deep/b.txt"},
		{object{"pattern": "**/*.{go,txt}", "path": "pkg"}, "pkg/a.go\npkg/deep/b.txt"},
		{object{"pattern": "./main.go", "path": "."}, "main.go"},
		{object{"text": "func main"}, "long:1: " + strings.Repeat("あ", 25) + "func main" + strings.Repeat("い", 72) +
			"\nmain.go:3: func main() {}"},
		{object{"text": "func MAIN", "ignoreCase": true, "pattern": "*.txt"}, "pkg/deep/b.txt:1: FUNC main"},
		{object{"text": `^func\s\w+\(\)`, "regex": true}, "main.go:3: func main() {}\npkg/a.go:2: func A() {}"},
		{object{"text": "検索"}, "main.go:2: // 検索する"},
		{object{"text": "func main", "path": ".env"}, "[nothing found]"},
		{object{"text": "func main", "path": ".github"}, ".github/ci.yml:1: func main"},
		{object{"text": "func$", "regex": true}, "pkg/deep/b.txt:2: func"},
		{object{"text": "func.main("}, "[nothing found]"},
		{object{"pattern": ".env*"}, ".env"},
		{object{"pattern": ".env*", "text": "func"}, "[nothing found]"},
		{object{"pattern": "key"}, "[nothing found]"},
		{object{"text": "package", "path": "main.go"}, "main.go:1: package main"},
		{object{"pattern": "*.go", "path": "main.go"}, "main.go"},
	} {
		got := good(t, s, "search_files", c.args)
		if !strings.HasPrefix(c.want, "long") && got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.args, got, c.want)
		} else if strings.HasPrefix(c.want, "long") && (!strings.Contains(got, "あfunc mainい") || !strings.Contains(got, "main.go:3") ||
			strings.Count(got, "\n") != 1 || len(got) > 400) {
			t.Errorf("%v:\n%s\nwant about\n%s", c.args, got, c.want)
		}
	}
	bad(t, s, "search_files", object{"pattern": "*", "path": "nowhere"}, "no such file")

	s.readable = func(scope policy.Scope, path string) bool {
		return scope.Principal.Role == "admin" && path == filepath.Join(s.real, "server.pem")
	}
	params := []byte(`{"name":"search_files","arguments":{"text":"func main"}}`)
	for role, want := range map[string]string{"admin": "server.pem:1: func main", "guest": "[nothing found]"} {
		got, _, _ := s.Do(t.Context(), policy.Scope{Principal: policy.Principal{Role: role}}, "tools/call", params, nil)
		var r reply
		if err := json.Unmarshal(got, &r); err != nil || r.text() != want {
			t.Errorf("%s found %s", role, r.text())
		}
	}
}

func TestSearchIsBounded(t *testing.T) {
	content := map[string]string{"x": strings.Repeat("hit\n", 600)}
	for i := range 520 {
		content[fmt.Sprintf("d/%03d.q", i)] = ""
	}
	s, _ := serve(t, content)
	for _, args := range []object{{"text": "hit"}, {"pattern": "*.q"}} {
		r := call(t, s, "search_files", args)
		var f found
		if err := json.Unmarshal(r.Structured, &f); err != nil {
			t.Fatal(err)
		}
		if len(f.Matches) != MaxMatches || !f.Truncated || !strings.Contains(r.text(), "the first 500 matches") {
			t.Errorf("%v: %d matches, %v", args, len(f.Matches), f.Truncated)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, _, _ := s.Do(ctx, policy.Scope{}, "tools/call", []byte(`{"name":"search_files","arguments":{"text":"hit"}}`), nil)
	if !strings.Contains(string(got), "cancelled") {
		t.Errorf("a cancelled search: %s", got)
	}
}
