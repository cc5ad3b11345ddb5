package facts

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mycelium/internal/policy"
)

// runGit runs git in a folder.
func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=u", "-c", "user.email=u@example.com", "-c", "commit.gpgsign=false",
		"-c", "init.defaultBranch=main"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// repositoryWith makes a repository with branches that change different files: hooks (.claude/settings.json), rules (rules.yaml) and code.
func repositoryWith(t *testing.T) string {
	t.Helper()
	dir := projectWith(t, "a.go", "b.go", ".gitignore")
	runGit(t, dir, "init", "-q")
	commit := func(file, text string) {
		writeFile(t, text, dir, file)
		runGit(t, dir, "add", "-f", file)
		runGit(t, dir, "commit", "-qm", file)
	}
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-qm", "first")
	for branch, file := range map[string]string{"hooks": "sub/.claude/settings.json", "rules": "rules.yaml", "code": "src/c.go"} {
		runGit(t, dir, "checkout", "-q", "-b", branch, "main")
		commit(file, branch)
		commit("a.go", branch)
	}
	runGit(t, dir, "checkout", "-q", "main")
	commit("b.go", "main")
	return dir
}

// TestGitThatRewritesTheTree: git says which files change; hooks are refused, other protected files ask, code passes (W12).
func TestGitThatRewritesTheTree(t *testing.T) {
	dir := repositoryWith(t)
	wants(t, dir, policy.Deny, "git merge hooks", "git cherry-pick hooks~1", "git cherry-pick main..hooks", "git checkout hooks",
		"git switch hooks", "git switch -c x hooks", "git checkout -b x hooks", "git -c alias.m=merge m hooks", "cd . && git merge hooks",
		"git checkout hooks -- .", "git reset --hard hooks", "git rebase hooks", "git worktree add ../w hooks", "git restore -s hooks .")
	wants(t, dir, policy.Ask, "git merge rules", "git cherry-pick rules~1", "git checkout rules", "git switch rules", "git pull",
		"git fetch && git merge origin/main", "git merge nothing", "git merge $X", "git worktree add w rules")
	wants(t, dir, policy.Allow, "git merge code", "git cherry-pick code", "git cherry-pick main..code", "git checkout code",
		"git switch code", "git switch -c new", "git checkout -b new", "git merge --abort", "git stash", "git stash pop", "git revert HEAD",
		"git fetch && git merge code", "git worktree add w code", "git sparse-checkout set src", "git status")
	wants(t, dir, policy.Deny, "git bisect start main hooks") // some revision has hooks

	runGit(t, dir, "checkout", "-q", "hooks")
	wants(t, dir, policy.Deny, "git revert HEAD~1", "git checkout main", "git switch -", "git sparse-checkout set src",
		"git -C sub checkout main", "git checkout -")
	wants(t, dir, policy.Allow, "git revert HEAD", "git merge code")
}

// TestGitThatPutsAway: stash takes changes and files away, and brings them back.
func TestGitThatPutsAway(t *testing.T) {
	dir := repositoryWith(t)
	writeFile(t, "x", dir, "a.go")
	wants(t, dir, policy.Allow, "git stash", "git stash push -m x", "git stash -u")
	writeFile(t, "x", dir, ".claude/settings.json")
	wants(t, dir, policy.Allow, "git stash", "git stash push -m x")
	wants(t, dir, policy.Deny, "git stash -u", "git stash push --include-untracked", "git stash --all")
	runGit(t, dir, "stash", "-u", "-q")
	wants(t, dir, policy.Deny, "git stash pop", "git stash apply", "git stash apply stash@{0}", "git stash branch x", "git stash pop 0")
	writeFile(t, "x", dir, "b.go")
	runGit(t, dir, "stash", "-q")
	wants(t, dir, policy.Allow, "git stash pop", "git stash apply stash@{0}")
	wants(t, dir, policy.Deny, "git stash pop stash@{1}")
}

// TestGitIsAskedSafely: a repository cannot make us run a program.
func TestGitIsAskedSafely(t *testing.T) {
	dir := repositoryWith(t)
	mark := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(dir, "x.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$0\" \"$@\" >> "+mark+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "diff.external", "core.pager", "core.editor", "filter.x.clean", "filter.x.smudge",
		"diff.x.textconv", "diff.x.command"} {
		runGit(t, dir, "config", key, script)
	}
	writeFile(t, "* filter=x diff=x\n", dir, ".git/info/attributes")
	writeFile(t, "changed", dir, "a.go")
	for _, c := range []string{"git merge code", "git cherry-pick code", "git stash -u", "git stash pop", "git checkout code",
		"git sparse-checkout set x", "git bisect start", "git merge -- --output=x", "git checkout --output=/tmp/x"} {
		decideHere(t, dir, c)
	}
	if text, err := os.ReadFile(mark); err == nil {
		t.Errorf("a program of the repository ran: %s", text)
	}
}

// TestPushFromAnotherFolder: the settings of the repository count in which git runs.
func TestPushFromAnotherFolder(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	writeFile(t, "ref: refs/heads/feature\n", dir, ".git/HEAD")
	writeFile(t, "ref: refs/heads/feature\n", dir, "other/.git/HEAD")
	writeFile(t, "[remote \"origin\"]\n\tmirror = true\n", dir, "other/.git/config")
	for _, c := range []string{"git -C other push", "cd other && git push", "git -C other push origin feature"} {
		if d := decidePush(t, dir, home, c); d.Effect == policy.Allow {
			t.Errorf("%s: %v by %s", c, d.Effect, d.Rule)
		}
	}
}
