package facts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/policy"
)

// tree makes a folder with links in it and returns its real path.
func tree(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"p/sub", "out/deep"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"p/file", "out/secret"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"p/out":     "../out",
		"p/abs":     filepath.Join(dir, "out"),
		"p/secret":  "out/secret",
		"p/nowhere": "sub/.env",        // leads to what does not exist yet
		"p/gone":    "../nothing/here", // its folder does not exist either
		"p/twice":   "nowhere",         // a link to the link has no target
		"p/loop":    "loop",            //
		"p/ping":    "pong",            //
		"p/pong":    "ping",            //
		"p/tricky":  "out/../p/sub/no", // its text alone does not tell where it leads
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestResolve(t *testing.T) {
	dir := tree(t)
	for path, want := range map[string]string{
		"p/file":             "p/file",
		"p/new":              "p/new",
		"p/new/a/b":          "p/new/a/b",
		"p/secret":           "out/secret",
		"p/out/secret":       "out/secret",
		"p/abs/secret":       "out/secret",
		"p/out/new/file":     "out/new/file",
		"p/nowhere":          "p/sub/.env",
		"p/twice":            "p/sub/.env",
		"p/gone":             "nothing/here",
		"p/loop":             "",
		"p/loop/x":           "",
		"p/ping":             "",
		"p/tricky":           "p/sub/no",
		"p/tricky/../x":      "p/sub/x",
		"p/file/below":       "",
		"p/out/../out/x":     "out/x",
		"p/nowhere/and/more": "p/sub/.env/and/more",
	} {
		got := resolver{}.resolve(dir + "/" + path)
		if inside := (resolver{dir: dir}).resolve(dir + "/" + path); inside != got {
			t.Errorf("%s: from the project folder %q, from the root %q", path, inside, got)
		}
		if want != "" {
			want = filepath.Join(dir, want)
		}
		if got != want {
			t.Errorf("%s: resolved to %q, want %q", path, got, want)
		}
	}
}

func TestResolvePathsListsEveryReading(t *testing.T) {
	dir := tree(t)
	p := filepath.Join(dir, "p")
	args := policy.Args{"paths": []any{"file", "out/../file", "~/secret", "sub/../file", "loop"}}
	facts, err := Of(policy.Item{Server: "files", Name: "read_file"}, nil, args, Place{Dir: p, Home: filepath.Join(dir, "out")})
	if err != nil {
		t.Fatal(err)
	}
	want := []policy.Path{
		{Access: policy.Read, Raw: "file", Clean: p + "/file", Resolved: p + "/file"},
		{Access: policy.Read, Raw: "out/../file", Clean: p + "/file", Resolved: p + "/file"},
		{Access: policy.Read, Raw: "~/secret", Clean: p + "/~/secret", Resolved: p + "/~/secret"},
		{Access: policy.Read, Raw: "sub/../file", Clean: p + "/file", Resolved: p + "/file"},
		{Access: policy.Read, Raw: "loop", Clean: p + "/loop"},
		// The kernel leaves the folder that the link led to: this is another file.
		{Access: policy.Read, Raw: "out/../file", Clean: p + "/file", Resolved: dir + "/file"},
		// Servers that know of home folders.
		{Access: policy.Read, Raw: "~/secret", Clean: dir + "/out/secret", Resolved: dir + "/out/secret"},
	}
	if len(facts.Parts) != 1 || facts.Dir != p {
		t.Fatalf("facts: %+v", facts)
	}
	if diff := cmp.Diff(want, facts.Parts[0].Paths); diff != "" {
		t.Error(diff)
	}
}

func TestResolveWhatTheSystemRefuses(t *testing.T) {
	dir := tree(t)
	r := resolver{dir: dir}
	if got := r.resolve(filepath.Join(dir, strings.Repeat("n", 300), "x")); got != "" {
		t.Errorf("a name that is too long resolved to %q", got)
	}
	if got := r.resolve(dir + strings.Repeat("/n", maxPath/2)); got != "" {
		t.Errorf("a path that is too deep resolved to %q", got)
	}
	if got := r.resolve(dir + "/a\x00b"); got != "" {
		t.Errorf("a NUL resolved to %q", got)
	}
}

// FuzzResolve: the answer is absolute and clean, or empty, and a second time gives the same.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"file", "out/secret", "a/../b", "..", "out/../../x", "nowhere/x", "~", "a\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		dir := tree(t)
		r := resolver{dir: filepath.Join(dir, "p")}
		clean := filepath.Join(dir, "p", raw)
		got := r.resolve(clean)
		if got == "" {
			return
		}
		if !filepath.IsAbs(got) || filepath.Clean(got) != got {
			t.Fatalf("%q resolved to %q", clean, got)
		}
		if again := r.resolve(got); again != got {
			t.Fatalf("%q resolved to %q, and that to %q", clean, got, again)
		}
		if end, err := filepath.EvalSymlinks(clean); err == nil && end != got {
			t.Fatalf("%q resolved to %q, the library says %q", clean, got, end)
		}
	})
}

// TestLinksThatTheCallMoves: a relative link leads elsewhere from another place, and what the call moves, copies or unpacks is not there
// yet when the call is decided. Only the rules.yaml at the top is protected.
func TestLinksThatTheCallMoves(t *testing.T) {
	dir := projectWith(t, "a.go", "rules.yaml", "d/rules.yaml", "d/e/f.go")
	for link, to := range map[string]string{"d/n": "rules.yaml", "d/e/n": "../rules.yaml", "d/e/up": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	packed(t, filepath.Join(dir, "up.tar"), `mkdir s; ln -s .. s/up; tar cf "$OUT" s`)
	packed(t, filepath.Join(dir, "inside.tar"), `ln -s a.go n; tar cf "$OUT" n`)
	wants(t, dir, policy.Deny, "mv d/n . && cat n", "mv d/n m; cat m", "cp -a d/n . && cat n", "cp -r d/e . && cat e/n", "mv d/e . && cat e/n",
		"mv -t . d/n && cat n", "rsync -a d/n . && cat n", "git mv d/n n && cat n", "ln d/n n && cat n", "mv d/* . && cat n",
		"cp -a d/. . && cat n", "cp -a d/e c && cat c/n", "cp -a d/e d/c && mv d/c . && cat c/n", "mv d/n . && echo y > n",
		"for f in d/*; do mv \"$f\" .; done; cat n", "(cd d && mv n ..); cat n", "mv d/e . && cat e/up/rules.yaml",
		"mv d/e . && cd e/up && cat rules.yaml", "mv d/e . && cat e/up/./rules.yaml", "tar xf up.tar && cat s/up/rules.yaml",
		"tar xf up.tar; cd s && tee up/rules.yaml < f")
	wants(t, dir, policy.Allow, "cat d/n", "mv d/n d/m && cat d/m", "mv d c && cat c/n", "mv a.go b.go && cat b.go", "cp d/n n && cat n",
		"tar xf inside.tar && cat n", "cp -a d /tmp/d && cat /tmp/d/n", "mv d/e d/g && cat d/g/n", "tar xf up.tar && cat s/up/a.go")
}

// TestLinksThatGitMakes: the working tree does not have them yet when the call is decided.
func TestLinksThatGitMakes(t *testing.T) {
	dir := projectWith(t, "a.go", "rules.yaml", "s/b.go")
	link := func(at, to string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, at)); err != nil {
			t.Fatal(err)
		}
	}
	runGit(t, dir, "init", "-q")
	link("s/up", "..")
	link("n", "s/up/rules.yaml")
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-qm", "first")
	runGit(t, dir, "checkout", "-qb", "other")
	link("s/o", "../rules.yaml")
	link("ok", "a.go")
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-qm", "other")
	runGit(t, dir, "checkout", "-q", "main")
	link("s/stashed", "../rules.yaml")
	runGit(t, dir, "add", "s/stashed")
	runGit(t, dir, "stash")
	for _, name := range []string{"s/up", "n"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	wants(t, dir, policy.Deny, "git checkout -- n s/up && cat n", "git restore n s/up; cat n", "git checkout other && cat s/o",
		"git switch other; tee s/o < a.go", "git merge other && cat s/o", "git cherry-pick other && cat s/o", "git stash pop && cat s/stashed",
		"git restore -s other s/o && cat s/o", "git reset --hard && cat s/up/rules.yaml", "git checkout other -- s && cd s && cat o")
	wants(t, dir, policy.Allow, "git checkout other && cat ok", "git checkout other && cat a.go s/b.go",
		"git add a.go && git commit -m x", "git stash && cat a.go")
}
