package sandbox

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorktreesAreApart: what governs in one worktree is none of the business of a command in another one, be it that the worktree was made
// while that command runs, or that its program was killed.
func TestWorktreesAreApart(t *testing.T) {
	one := projectCommand(t, "true")
	top := filepath.Dir(one.Project)
	main := filepath.Join(top, "main")
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost"},
			args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git(top, "init", "-q", main)
	if err := os.WriteFile(filepath.Join(main, "mycelium.yaml"), []byte("name: test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(main, "add", "-A")
	git(main, "commit", "-qm", "begin")
	worktree := func(name string) *Command {
		t.Helper()
		dir := filepath.Join(top, name)
		git(main, "worktree", "add", "-q", dir)
		c := *one
		c.Project, c.Dir = dir, dir
		c.Worktree = &Worktree{Own: filepath.Join(main, ".git", "worktrees", name), Common: filepath.Join(main, ".git")}
		return &c
	}
	whole := func(c *Command) {
		t.Helper()
		for _, path := range []string{filepath.Join(c.Project, "mycelium.yaml"), filepath.Join(c.Worktree.Own, "commondir"),
			filepath.Join(c.Worktree.Own, "gitdir")} {
			if _, err := os.Lstat(path); err != nil {
				t.Error(err)
			}
		}
	}
	first := worktree("first")
	for _, how := range []string{"lasts", "was-killed"} {
		lasting, err := first.prepare(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if how == "was-killed" {
			if err := lasting.close(); err != nil {
				t.Fatal(err)
			}
		}
		second := worktree("second-" + how)
		second.Argv = []string{"sh", "-c", "echo evil > rules.yaml"}
		result, err := Run(t.Context(), self(t), second)
		if err != nil || result.ExitCode != 0 {
			t.Fatalf("%s: %v %+v", how, err, result)
		}
		whole(second)
		if len(result.Left.Quarantined) != 1 {
			t.Errorf("%s: %v was put away, want rules.yaml", how, result.Left.Quarantined)
		}
		if how == "lasts" {
			if err := lasting.end(); err != nil {
				t.Fatal(err)
			}
		}
	}
	whole(first)
}

// TestWorkerMovesNoBranchOfThePerson: a command in a worktree with branches of its own commits there, and every other ref, the stash and the
// settings of the repository stay as they are, however git keeps them.
func TestWorkerMovesNoBranchOfThePerson(t *testing.T) {
	c := projectCommand(t, "sh", "-c", `echo work > work && git add work && git commit -qm work && git commit -qm more --allow-empty || exit 1
		git update-ref refs/heads/main HEAD; git branch -f main; git branch -D packed; git tag x; git stash drop; git pack-refs --all
		echo y > work; git stash; git checkout -q -- work; git symbolic-ref refs/heads/main refs/heads/swarm/s.a
		echo x > "$COMMON/packed-refs"; echo x > "$COMMON/HEAD"; rm -rf "$COMMON/refs/heads/main" "$COMMON/logs" "$COMMON/index"
		git checkout -q -b other; git log --format=%s -1 swarm/s.a`)
	top := filepath.Dir(c.Project)
	main := filepath.Join(top, "main")
	git := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost"},
			args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git(top, "init", "-q", "-b", "main", main)
	git(main, "commit", "-qm", "begin", "--allow-empty")
	git(main, "branch", "packed")
	git(main, "pack-refs", "--all")
	if err := os.WriteFile(filepath.Join(main, "mine"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(main, "stash", "-q", "-u")
	dir := filepath.Join(top, "tree")
	git(main, "worktree", "add", "-q", "-b", "swarm/s.a", dir)
	git(main, "pack-refs", "--all") // the folder of the branch may be gone
	common := filepath.Join(main, ".git")
	c.Project, c.Dir = dir, dir
	c.Worktree = &Worktree{Own: filepath.Join(common, "worktrees", "tree"), Common: common, Branches: "swarm"}
	c.GitConfig = filepath.Join(top, "gitconfig")
	if err := os.WriteFile(c.GitConfig, []byte("[user]\n\tname = w\n\temail = w@localhost\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Env = []string{"COMMON=" + common}
	refs := func() string {
		return git(main, "for-each-ref", "refs/heads/main", "refs/heads/packed", "refs/heads/other", "refs/tags", "refs/stash") +
			git(main, "stash", "list") + git(main, "symbolic-ref", "HEAD") + git(main, "reflog", "main") + git(main, "status", "--porcelain")
	}
	before := refs()
	var out bytes.Buffer
	c.Out, c.Err = &out, &out
	result, err := Run(t.Context(), self(t), c)
	if err != nil || result.ExitCode != 0 || !strings.HasSuffix(out.String(), "more\n") {
		t.Errorf("%v %+v\n%s", err, result, out.String())
	}
	if after := refs(); after != before {
		t.Errorf("what is the person's was\n%s\nand is\n%s\n%s", before, after, out.String())
	}
	if said := git(main, "log", "--format=%s", "-1", "swarm/s.a"); said != "more\n" {
		t.Errorf("the worker's branch is at %q", said)
	}
}

// TestWorktreeMadeMeanwhile: the first linked worktree of a repository, made while a command runs in the main one, is not taken for the
// command's. The command itself makes none.
func TestWorktreeMadeMeanwhile(t *testing.T) {
	c := projectCommand(t, "true")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", c.Project, "-c", "user.name=t", "-c", "user.email=t@localhost"},
			args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("commit", "-qm", "begin", "--allow-empty")
	begun, err := c.prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(filepath.Dir(c.Project), "other")
	git("worktree", "add", "-q", other)
	left, err := begun.settle(t.Context(), c)
	if err != nil || len(left.Quarantined) > 0 {
		t.Errorf("%v was put away, %v", left.Quarantined, err)
	}
	git("-C", other, "status")
	git("worktree", "remove", other)
	c.Argv = []string{"sh", "-c", "git worktree add -q ../x || mkdir .git/worktrees/x"}
	if result, err := Run(t.Context(), self(t), c); err != nil || result.ExitCode == 0 || len(result.Left.Quarantined) > 0 {
		t.Errorf("the command makes one: %+v, %v", result, err)
	}
}
