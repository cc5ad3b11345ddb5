package facts

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"mycelium/internal/policy"
	"mycelium/internal/worktree"
	"mycelium/internal/worktree/git"
)

// runGit runs git in a folder.
func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=u", "-c", "user.email=u@example.com", "-c",
		"commit.gpgsign=false",
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

// TestGitThatTakesIn: who adds a secret to git may read it there, so the call asks (W12).
func TestGitThatTakesIn(t *testing.T) {
	dir := repositoryWith(t)
	writeFile(t, ".env\nnode_modules\n", dir, ".gitignore")
	runGit(t, dir, "commit", "-qam", "what is left out")
	writeFile(t, "s", dir, "sub/.env")
	writeFile(t, "s", dir, "node_modules/x/server.pem")
	writeFile(t, "x", dir, "src/new.go")
	wants(t, dir, policy.Ask, "git add -A -f && git diff --cached", "git add -f .", "git add --force sub",
		"git -C sub add -f .", "git -C src add -f :/",
		"git -C src add -A -f", "cd src; git stash -a",
		"git add -f '*env'",
		"git add -f ':(icase)x'", "git add -f --pathspec-from-file=list", "git add -N -f .", "git stash -a; git show stash@{0}^3",
		"echo > .gitignore; git add -A", "git rm -q .gitignore && git add .")
	wants(t, dir, policy.Deny, "git add -f sub/.env", "git add -f sub/.e*")
	wants(t, dir, policy.Allow, "git add -A", "git add .", "git add sub", "git add -f src", "git add -u", "git add -f src/new.go",
		"git add -A && git commit -m x", "git add -n -f .", "git stash -u", "git commit -am x")
	writeFile(t, "s", dir, "certs/server.key")
	wants(t, dir, policy.Ask, "git add -A", "git add .", "git add certs", "git add 'certs/*'", "git add ':/'", "git stash -u",
		"cd src && git add -A")
	wants(t, dir, policy.Allow, "git add src", "git add a.go src/new.go", "cd src && git add .", "git add -u", "git stash")
	fresh := projectWith(t, "a.go")
	wants(t, fresh, policy.Allow, "git init && git add .")
	writeFile(t, "s", fresh, ".env")
	wants(t, fresh, policy.Ask, "git init -q && git add -A && git diff --cached")
}

// TestGitThatMovesHead: a command that moves HEAD lets a later one bring the files.
func TestGitThatMovesHead(t *testing.T) {
	dir := repositoryWith(t)
	runGit(t, dir, "branch", "w", "hooks")
	wants(t, dir, policy.Deny, "git reset -q --soft hooks; git stash", "git reset hooks && git stash",
		"git reset --soft hooks; git checkout code",
		"git worktree add w", "git worktree add sub/hooks", "git reset --soft hooks; git stash -u")
	wants(t, dir, policy.Ask, "git fetch && git reset --soft origin/x && git stash", "git fetch -u . hooks:main; git stash",
		"git reset --soft rules; git stash", "gh pr checkout 12", "git subtree pull -P x . hooks", "git am x.patch",
		"git pull --rebase", "gh run download 12", "gh release download v1 -D .claude")
	wants(t, dir, policy.Allow, "git reset --soft HEAD && git stash", "git reset a.go && git stash", "git worktree add nothing",
		"git reset a.go b.go", "gh release download v1 -D dist")
}

// TestGitThatDoesNotAnswer: a git that hangs has not said that there is no such commit, so the call asks.
func TestGitThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	dir := repositoryWith(t)
	// git waits here for a writer that never comes, when it looks for a branch that has no file of its own.
	if err := unix.Mkfifo(filepath.Join(dir, ".git/packed-refs"), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, dir, policy.Ask, "git stash pop")
}

// TestGitThatBringsContents: submodules and LFS bring files of which git knows only the names.
func TestGitThatBringsContents(t *testing.T) {
	dir := repositoryWith(t)
	wants(t, dir, policy.Allow, "git submodule update --init", "git lfs pull")
	writeFile(t, "*.bin filter=lfs\n", dir, ".gitattributes")
	writeFile(t, "x", dir, "a.bin")
	runGit(t, dir, "add", ".")
	wants(t, dir, policy.Allow, "git lfs pull")
	writeFile(t, "*.bin filter=lfs\n*.json filter=lfs\n", dir, ".gitattributes")
	writeFile(t, "x", dir, "sub/.claude/settings.json")
	runGit(t, dir, "-c", "filter.lfs.clean=cat", "add", "-f", ".")
	wants(t, dir, policy.Deny, "git lfs pull", "git lfs checkout")
	head := ",0000000000000000000000000000000000000001,"
	runGit(t, dir, "update-index", "--add", "--cacheinfo", "160000"+head+"vendor/lib")
	wants(t, dir, policy.Allow, "git submodule update --init")
	runGit(t, dir, "update-index", "--add", "--cacheinfo", "160000"+head+"deep/.claude")
	wants(t, dir, policy.Deny, "git submodule update --init")
}

// TestGitAboveTheProject: the names that git says begin at the top of the repository, which may lie above the project.
func TestGitAboveTheProject(t *testing.T) {
	dir := projectWith(t, "a.go", "shop/a.go", "rules.yaml")
	runGit(t, dir, "init", "-q")
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-qm", "first")
	for branch, file := range map[string]string{"mine": "shop/rules.yaml", "others": "rules.yaml"} {
		runGit(t, dir, "checkout", "-q", "-b", branch, "main")
		writeFile(t, branch, dir, file)
		runGit(t, dir, "add", ".")
		runGit(t, dir, "commit", "-qm", branch)
	}
	runGit(t, dir, "checkout", "-q", "main")
	wants(t, filepath.Join(dir, "shop"), policy.Ask, "git merge mine", "git checkout mine")
	wants(t, filepath.Join(dir, "shop"), policy.Allow, "git merge others")
}

// TestGitOfAWorker: in the tree of a worker git is asked within the walls of the worker, and without walls not at all. What the settings of
// the worker's repository name does not run outside.
func TestGitOfAWorker(t *testing.T) {
	main := projectWith(t, "a.go")
	tree := repositoryWith(t)
	ran := filepath.Join(t.TempDir(), "ran")
	runGit(t, tree, "config", "filter.x.clean", "touch "+ran)
	writeFile(t, "* filter=x\n", tree, ".gitattributes")
	workers := t.TempDir()
	writeFile(t, filepath.Join(tree, ".git")+"\n", workers, filepath.Base(tree)+"/gitdir")
	writeFile(t, main+"\n", workers, filepath.Base(tree)+"/main")
	p := shipped(t, main)
	asked := 0
	inside := func(ctx context.Context, dir string, in io.Reader, out io.Writer, argv []string) error {
		asked++
		return git.Bare(ctx, dir, in, out, argv)
	}
	for _, walls := range []git.Inside{nil, inside} {
		at := At(p, tree, "/home/u", &worktree.Cache{Workers: workers})
		at.Inside = walls
		for command, want := range map[string]policy.Effect{"git checkout hooks": policy.Deny, "git checkout code": policy.Allow} {
			if walls == nil {
				want = policy.Ask
			}
			args := policy.Args{"command": command}
			f, err := Of(bashTool, nil, args, at)
			if err != nil {
				t.Fatal(err)
			}
			who := policy.Scope{Principal: policy.Principal{ID: "x", Role: "developer"}, Skills: []string{"coding-agent"}}
			if d := p.Decide(policy.Call{Scope: who, Item: bashTool, Args: args, Facts: f}); d.Effect != want {
				t.Errorf("%s with walls %t: %s by %s, want %s", command, walls != nil, d.Effect, d.Rule, want)
			}
		}
	}
	if asked == 0 {
		t.Error("git was not asked within the walls")
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a program of the worker has run")
	}
}
