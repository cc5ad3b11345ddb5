package sandboxed

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mycelium/internal/state"
)

// TestWorkerHasItsBranchesOnly: a command in the worktree of a worker moves branches of the swarm and no other ref; one in a worktree of the
// person's is not bound.
func TestWorkerHasItsBranchesOnly(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	main, link := filepath.Join(dir, "main"), filepath.Join(dir, "link")
	git := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", main, "-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, path := range []string{main, filepath.Join(dir, "state")} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	root := state.Root(filepath.Join(link, "state"))
	git("init", "-q")
	git("commit", "-qm", "begin", "--allow-empty")
	for branches, tree := range map[string]string{"swarm": filepath.Join(dir, "state-trees", "p", "s.a-1"), "": filepath.Join(dir, "other")} {
		git("worktree", "add", "-q", "--detach", tree)
		c, err := Command(tree, root.Of(main), "", nil)
		if err != nil || c.Worktree == nil || c.Worktree.Branches != branches {
			t.Errorf("%s: %+v, %v; want %q", tree, c.Worktree, err, branches)
		}
	}
}
