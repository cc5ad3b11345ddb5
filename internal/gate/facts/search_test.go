package facts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"

	"mycelium/internal/config"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/yamlfile"
)

// shipped is the policy of a folder after `myc init --sandbox no`: the shipped skills and rules.
func shipped(t testing.TB, dir string) *policy.Policy {
	t.Helper()
	return initial(t, dir, policy.NoWall)
}

// initial is the policy of a folder after `myc init` with a wall.
func initial(t testing.TB, dir, wall string) *policy.Policy {
	t.Helper()
	const file = "../../config/scaffold/initial/rules.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Version int           `yaml:"version"`
		Rules   []policy.Rule `yaml:"rules"`
	}
	problems := yamlfile.Decode(file, text, &doc)
	skills, more := skill.Load(skill.Shipped(), "shipped", "shipped")
	src := policy.Source{Rules: doc.Rules, Shipped: config.ShippedRules(), Dir: dir, Home: "/home/u", Wall: wall}
	for _, s := range skills {
		if s.Name == "coding-agent" {
			src.Grants = append(src.Grants, s.Grant)
		}
	}
	p, last := policy.New(src)
	if len(problems)+len(more)+len(last) > 0 {
		t.Fatal(problems, more, last)
	}
	return p
}

// decideHere is what becomes of a command in a folder under the shipped policy.
func decideHere(t testing.TB, dir, command string) policy.Decision {
	t.Helper()
	return decideBy(t, shipped(t, dir), dir, command)
}

// decideBy is what becomes of a command in a folder under a policy.
func decideBy(t testing.TB, p *policy.Policy, dir, command string) policy.Decision {
	t.Helper()
	f, err := Of(bashTool, nil, policy.Args{"command": command}, At(p, dir, "/home/u", nil))
	if err != nil {
		t.Fatal(err)
	}
	who := policy.Scope{Principal: policy.Principal{ID: "x", Role: "developer"}, Skills: []string{"coding-agent"}}
	return p.Decide(policy.Call{Scope: who, Item: bashTool, Args: policy.Args{"command": command}, Facts: f})
}

// wants decides commands in a folder.
func wants(t *testing.T, dir string, want policy.Effect, commands ...string) {
	t.Helper()
	for _, c := range commands {
		if d := decideHere(t, dir, c); d.Effect != want {
			t.Errorf("%s: %v, want %v (%s: %s)", c, d.Effect, want, d.Rule, d.Reason)
		}
	}
}

// project makes a folder with what a project has: the files are empty.
func projectWith(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		writeFile(t, "", dir, f)
	}
	return dir
}

// TestProtectedFilesThatPatternsMatch: the disk tells which protected files a broad pattern matches (W11).
func TestProtectedFilesThatPatternsMatch(t *testing.T) {
	dir := projectWith(t, "a.go", "src/a.json", "sub/.env", "sub/credentials.json", "skills/x/SKILL.md", "rules.yaml", "mycelium.yaml",
		".claude/settings.json", "node_modules/x/key.pem", "app/[id]/page.tsx", "app/[id]/credentials.json", ".git/config", "deep/a/b/.env")
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "src/link.txt")); err != nil {
		t.Fatal(err)
	}
	wants(t, dir, policy.Deny,
		"cat sub/*.json", "cat */*.json", "cat s*/cred*", "cp x .cl*/*", "cp x .*/settings.json", "sed -i s/a/b/ *.yaml",
		"find . -name '*.yaml' -delete", "find . -name '*.md' -exec sed -i s/a/b/ {} +", "find . -name '*' -type f -exec sed -i s/a/b/ {} +",
		"shopt -s extglob; rm !(a.go)", "find sub -name '.[a-z]*' -exec cat {} +",
		"cd app/'[id]' && cat *.json", "rm -r s*/x", "cat */*/*/.e*")
	wants(t, dir, policy.Ask, "find . -path '*sub*json' -exec cat {} +", "grep -d recurse foo .", "diff -r sub src",
		"git grep --untracked foo", "find . -iname '*.JSON' | xargs cat", "grep -r foo .", "grep -rn foo", "grep -r foo sub --include='*.json'",
		"rg foo", "rg -uu foo deep", "rg --hidden foo deep", "tar czf a.tgz .", "zip -r a.zip sub", "git grep --no-index foo",
		"find . -type f | xargs cat", "find sub -type f -exec cat {} +", "cat src/*.txt", "git ls-files | xargs cat", "cat $(git ls-files -o)",
		`y=$(git ls-files | head -1); cat "$y"`, "fd -H . sub | xargs cat", "git ls-files '*.json' | xargs cat", "git ls-files sub | xargs cat", "git ls-files '*' | xargs cat", "git ls-files '*env' | xargs cat", "git ls-files 'sub/*' | xargs cat", "git ls-files -x '*.go' | xargs cat")
	wants(t, dir, policy.Allow,
		"cat *.go", "grep -r foo src", "grep -rn foo . --include='*.go'", "grep -r foo . --exclude='.env*' --exclude='credentials.json'",
		"rg foo src", "rg foo deep", "rg -t go foo", "rg -g '*.go' foo", "grep foo a.go", "git grep foo", "git diff", "tar czf a.tgz src",
		"cat src/*.json", "rm -f src/*.o", "find . -name '*.go' -exec gofmt -w {} +", "find src -type f | xargs cat", "git ls-files src | xargs cat", "git ls-files '*.go' | xargs gofmt -l", "git ls-files -z 'src/*.json' | xargs -0 cat",
		"find . -name '*.pyc' -delete", "find . -type f -not -path '*/.env' -not -name credentials.json -exec cat {} +",
		"find . -path ./skills -prune -o -name '*.md' -exec sed -i s/a/b/ {} +", "ls */", "find . -name '*.yaml'")
}

// TestNamesThatAreSplit: the disk tells whether a name of a file has a space, at which the shell splits it, and whether what ls lists is a
// folder.
func TestNamesThatAreSplit(t *testing.T) {
	dir := projectWith(t, "a.txt", "b.txt", "src/a.go", "odd/c.txt", "odd/x rules.yaml", "old.log/rules.yaml", "new.err")
	wants(t, dir, policy.Ask, "cd odd && for f in *; do cat $f; done", "for f in odd/*; do touch $f; done", "cat $(ls -d odd/*)",
		"ls -d odd/* | xargs cat", "a=(odd/*); cat ${a[@]}", "find odd -type f | xargs cat", "ls *.log | xargs cat", "cat $(ls old.log)")
	wants(t, dir, policy.Allow, "for f in *.txt; do cat $f; done", `for f in odd/*; do cat "$f"; done`, "cat odd/*", `a=(odd/*); cat "${a[@]}"`,
		"find odd -type f -print0 | xargs -0 cat", "ls *.txt | xargs cat", "ls *.err | xargs rm", "for f in $(ls src); do cat src/$f; done",
		"find odd -name '*.txt' -exec cat {} +")
}

// TestSearchIsBounded: a pattern that matches more than can be looked at asks.
func TestSearchIsBounded(t *testing.T) {
	s := searcher{resolver: resolver{dir: "/"}, names: maxNames}
	part := policy.Part{Paths: []policy.Path{{Access: policy.Write, Raw: "/*", Clean: "/*", Pattern: true}}}
	if s.search(&part); len(part.Unclear) == 0 {
		t.Error("too many are not unclear")
	}
}

// TestSearchFindsWhatMatches: the walk finds each file that the whole glob matches.
func TestSearchFindsWhatMatches(t *testing.T) {
	files := []string{"a", "b", "ab", "x/a", "x/b", "x/y/a", "x/y/ab", "y/x/b"}
	dir := projectWith(t, files...)
	part := rapid.SampledFrom([]string{"a", "b", "*", "?", "[ab]", "{a,b}", "x", "y", "/", "/", "**/"})
	rapid.Check(t, func(t *rapid.T) {
		glob := dir + "/"
		for _, s := range rapid.SliceOfN(part, 1, 5).Draw(t, "glob") {
			glob += s
		}
		if !doublestar.ValidatePattern(glob) || filepath.Clean(glob) != glob {
			return
		}
		p := policy.Part{Paths: []policy.Path{{Access: policy.Write, Raw: glob, Clean: glob, Pattern: true}}}
		s := searcher{resolver: resolver{dir: dir}}
		s.search(&p)
		got := map[string]bool{}
		for _, at := range p.Paths[1:] {
			got[at.Clean] = true
		}
		for _, f := range files {
			if ok, _ := doublestar.Match(glob, dir+"/"+f); ok && !got[dir+"/"+f] {
				t.Fatalf("%s matches %s, which was not found: %v", glob, f, got)
			}
		}
	})
}

// TestFoldersThatAreTakenAlong: who moves, removes or copies a folder takes what governs an agent in it along (W18).
func TestFoldersThatAreTakenAlong(t *testing.T) {
	dir := projectWith(t, "a/b/.claude/settings.json", "c/mycelium.yaml", "d/x.go", "e/.codex/config.toml")
	wants(t, dir, policy.Ask, "mv a x", "mv a/b x", "rm -r a", "cp -r a/. x", "cp -r c/. .", "rsync -a a/ x/", "git mv e x", "mv d c x")
	wants(t, dir, policy.Allow, "mv d x", "rm -r d", "cp -r d x", "rsync -a d/ x/")
	wants(t, dir, policy.Deny, "mv . ../x", "mv "+dir+" /tmp/x", "rm -r ../"+filepath.Base(dir))
}
