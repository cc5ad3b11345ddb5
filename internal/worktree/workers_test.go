package worktree

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestWorker: a tree is a worker's if the state says so, and whatever its own .git says.
func TestWorker(t *testing.T) {
	top := temp(t)
	main, tree, workers := filepath.Join(top, "main"), filepath.Join(top, "trees", "s.w"), filepath.Join(top, "state")
	own := filepath.Join(workers, "s.w")
	write(t, filepath.Join(main, "sub", "a"), "")
	write(t, filepath.Join(tree, "sub", "deep", "a"), "")
	write(t, filepath.Join(own, "gitdir"), filepath.Join(tree, ".git")+"\n")
	write(t, filepath.Join(own, "main"), main+"\n")
	for _, git := range []string{"", "gitdir: /elsewhere\n"} {
		if git != "" {
			write(t, filepath.Join(tree, ".git"), git)
		}
		got, ok := Of(filepath.Join(tree, "sub", "deep"), workers)
		if want := (Tree{tree, main, own}); !ok || got != want {
			t.Errorf("with .git %q: %+v, %t, want %+v", git, got, ok, want)
		}
		if got := Main(filepath.Join(tree, "sub", "deep"), workers); got != filepath.Join(main, "sub") {
			t.Errorf("it stands for %s", got)
		}
		if got := Linked(filepath.Join(main, "sub"), workers); !slices.Equal(got, []string{filepath.Join(tree, "sub")}) {
			t.Errorf("of the project are also %q", got)
		}
	}
	moved := filepath.Join(top, "moved", "s.w")
	write(t, filepath.Join(moved, "a"), "")
	for _, at := range [][2]string{{tree, ""}, {tree, filepath.Join(top, "other")}, {moved, workers}, {main, workers}, {filepath.Dir(tree), workers}} {
		if got, ok := Worker(at[0], at[1]); ok || Main(at[0], at[1]) != at[0] {
			t.Errorf("%s by %q is of %+v", at[0], at[1], got)
		}
	}
	write(t, filepath.Join(own, "main"), "")
	if got, ok := Worker(tree, workers); ok || len(Linked(main, workers)) > 0 {
		t.Errorf("without the project: %+v", got)
	}
}
