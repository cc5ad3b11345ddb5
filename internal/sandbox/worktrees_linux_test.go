package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
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
