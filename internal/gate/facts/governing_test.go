package facts

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/worktree"
)

// TestGoverningFiles: the shipped rules keep the files that govern agents from being read by name, and disturb no work. The same names
// deeper in the tree are somebody else's.
func TestGoverningFiles(t *testing.T) {
	dir := projectWith(t, "README.md", "src/a.go", "mycelium.yaml", "rules.yaml", "roles/guest.yaml", "skills/x/SKILL.md", "deploy/rules.yaml",
		"deploy/roles/web/tasks/main.yml")
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	wants(t, dir, policy.Deny, "cat rules.yaml", "cat ./mycelium.yaml", "cat "+dir+"/rules.yaml", "cat roles/*.yaml", "cat roles/*",
		"grep x rules.yaml", "grep -r x roles", "cd roles && grep -r x .", "cd src && cat ../rules.yaml", "cat *.yaml", "head -n 5 r*",
		"find . -name rules.yaml -exec cat {} +", "cp skills/x/SKILL.md /tmp/x", "while read l; do echo $l; done < rules.yaml", "ls roles",
		"git show HEAD:rules.yaml", "cat src/../rules.yaml")
	wants(t, dir, policy.Allow, "grep -r TODO .", "grep -rn TODO", "rg TODO", "grep TODO *", "ls", "ls -la", "ls *", "ls */", "git diff",
		"git log -p", "git add -A", "git commit -am x", "cat README.md", "find . -type f | xargs grep TODO", "tar czf /tmp/a.tgz .",
		"cat src/*.go",
		"cat deploy/rules.yaml", "cat deploy/roles/web/tasks/main.yml", "cd deploy && cat ./rules.yaml roles/web/tasks/main.yml")
}

// TestGoverningFilesElsewhere: a folder below the project and a working tree are no way around the rule.
func TestGoverningFilesElsewhere(t *testing.T) {
	dir := projectWith(t, "rules.yaml", "src/a.go", "deploy/rules.yaml")
	tree := projectWith(t, "rules.yaml", "roles/guest.yaml", "deploy/rules.yaml")
	p := shipped(t, dir)
	workers := t.TempDir()
	for name, content := range map[string]string{"gitdir": filepath.Join(tree, ".git"), "main": dir} {
		file := filepath.Join(workers, filepath.Base(tree), name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		cwd, file string
		denied    bool
	}{
		{filepath.Join(dir, "src"), "../rules.yaml", true},
		{filepath.Join(dir, "src"), filepath.Join(dir, "rules.yaml"), true},
		{filepath.Join(dir, "deploy"), "./rules.yaml", false},
		{filepath.Join(dir, "deploy"), "rules.yaml", false},
		{tree, "rules.yaml", true},
		{tree, "./roles/guest.yaml", true},
		{filepath.Join(tree, "deploy"), "rules.yaml", false},
		{filepath.Join(tree, "deploy"), "../rules.yaml", true},
	} {
		for it, args := range map[policy.Item]policy.Args{bashTool: {"command": "cat " + c.file}, readTool: {"file_path": c.file}} {
			f, err := Of(it, nil, args, At(p, c.cwd, "/home/u", &worktree.Cache{Workers: workers}))
			if err != nil {
				t.Fatal(err)
			}
			who := policy.Scope{Principal: policy.Principal{ID: "x", Role: "developer"}, Skills: []string{"coding-agent"}}
			d := p.Decide(policy.Call{Scope: who, Item: it, Args: args, Facts: f})
			if denied := d.Rule == "no-governing-files"; denied != c.denied {
				t.Errorf("%s %s in %s: %v by %q", it, c.file, c.cwd, d.Effect, d.Rule)
			}
		}
	}
}

// TestGoverningFilesOfASearch: the globs of Grep filter a search of everything below a folder. One of them may name a file all the same.
func TestGoverningFilesOfASearch(t *testing.T) {
	dir := projectWith(t, "rules.yaml", "mycelium.yaml", "skills/x/SKILL.md", "src/a.yaml")
	p := shipped(t, dir)
	for glob, denied := range map[string]bool{"*.yaml": false, "*.{yml,yaml}": false, "*.md": false, "*": false, "rules.yaml": true,
		"r*.yaml": true, "roles/*.yaml": true} {
		args := policy.Args{"pattern": "deny", "globPaths": []any{"./" + glob, "./" + glob + "/**", "./**/" + glob}}
		f, err := Of(grepTool, nil, args, At(p, dir, "/home/u", nil))
		if err != nil {
			t.Fatal(err)
		}
		who := policy.Scope{Principal: policy.Principal{ID: "x", Role: "developer"}, Skills: []string{"coding-agent"}}
		d := p.Decide(policy.Call{Scope: who, Item: grepTool, Args: args, Facts: f})
		if want := map[bool]policy.Effect{true: policy.Deny, false: policy.Allow}[denied]; d.Effect != want {
			t.Errorf("Grep in %s: %v (%s: %s)", glob, d.Effect, d.Rule, d.Reason)
		}
	}
}
