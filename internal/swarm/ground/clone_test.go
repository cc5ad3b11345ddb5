package ground

import (
	"strings"
	"testing"
)

// TestRepositoryOfAWorker: what a worker does to refs is done to its own repository, and its commits come to the person's all the same.
func TestRepositoryOfAWorker(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	ctx := t.Context()
	run(t, p.top, "commit", "-q", "--allow-empty", "-m", "nobody's")
	dropped := run(t, p.top, "rev-parse", "HEAD")
	run(t, p.top, "reset", "-q", "--soft", "HEAD~")
	tree := add(t, p, "w")
	c := commit(t, tree, map[string]string{"a": "changed\n"})
	run(t, tree.Dir, "update-ref", "refs/heads/main", "HEAD")
	run(t, tree.Dir, "update-ref", "refs/heads/swarm/s-1", "HEAD")
	run(t, tree.Dir, "tag", "x")
	if _, err := runs(tree.Dir, "cat-file", "-e", dropped); err == nil {
		t.Error("the worker has a commit that no branch has")
	}
	f := must[Facts](t)(tree.Facts(ctx, p.base))
	if f.Head != c || !f.Branch || f.Commits != 1 || len(f.Uncommitted) > 0 || len(f.Touched) != 1 {
		t.Errorf("%+v", f)
	}
	for ref, want := range map[string]Commit{"main": p.base, "swarm/s-1": p.base, "swarm/s-1.w": c} {
		if got := run(t, p.top, "rev-parse", ref); got != string(want) {
			t.Errorf("%s is at %s, want %s", ref, got, want)
		}
	}
	if got := run(t, tree.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("the worker's git says %q", got)
	}
	run(t, tree.Dir, "checkout", "-q", "-b", "elsewhere")
	if f := must[Facts](t)(tree.Facts(ctx, p.base)); f.Branch || f.Head != c {
		t.Errorf("on a branch of its own: %+v", f)
	}
	run(t, tree.Dir, "gc", "-q", "--prune=now")
	more := commit(t, tree, map[string]string{"b": "b\n"})
	if f := must[Facts](t)(tree.Facts(ctx, p.base)); f.Head != more {
		t.Errorf("after gc: %+v, want %s", f, more)
	}
	if err := tree.Remove(ctx); err != nil {
		t.Error(err)
	}
	if got := run(t, p.top, "for-each-ref", "--format=%(objectname)", "refs/mycelium/attempts/"); !strings.Contains(got, string(more)) {
		t.Errorf("the work is lost: %s", got)
	}
}

// TestSecretsOfAWorker: a tracked file with secrets is not in the tree of a worker, nor is its blob in the repository, and commits keep it.
func TestSecretsOfAWorker(t *testing.T) {
	t.Parallel()
	top := repository(t)
	write(t, "PASSWORD=hunter2\n", top, ".env.production")
	write(t, "A=\n", top, ".env.example")
	run(t, top, "add", "-A")
	run(t, top, "commit", "-q", "-m", "with a secret")
	p := stand(t, top)
	blob := run(t, top, "rev-parse", "HEAD:.env.production")
	tree := add(t, p, "w")
	if exists(tree.Dir, ".env.production") || !exists(tree.Dir, ".env.example") {
		t.Error("the files are not what they should be")
	}
	if said, err := runs(tree.Dir, "show", "HEAD:.env.production"); err == nil {
		t.Errorf("git shows it: %s", said)
	}
	if got := run(t, tree.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("the worker's git says %q", got)
	}
	c := commit(t, tree, map[string]string{"a": "changed\n"}) // with git add -A
	if f := must[Facts](t)(tree.Facts(t.Context(), p.base)); f.Head != c || len(f.Touched) != 1 || len(f.Uncommitted) > 0 {
		t.Errorf("%+v", f)
	}
	write(t, "more\n", tree.Dir, "draft")
	point := must[Commit](t)(tree.Snapshot(t.Context(), "x"))
	for _, in := range []Commit{c, point} {
		if got := run(t, top, "rev-parse", string(in)+":.env.production"); got != blob {
			t.Errorf("%s has %s", in, got)
		}
	}
	if _, err := tree.Undo(t.Context(), "u", point); err != nil {
		t.Error(err)
	}
	if exists(tree.Dir, ".env.production") || run(t, tree.Dir, "status", "--porcelain") != "?? draft" {
		t.Errorf("after an undo: %s", run(t, tree.Dir, "status", "--porcelain"))
	}
	run(t, tree.Dir, "gc", "-q")
	q := must[*Tree](t)(p.Queue(t.Context()))
	if err := q.Checkout(t.Context(), c); err != nil || exists(q.Dir, ".env.production") || read1(t, q.Dir, "a") != "changed\n" ||
		run(t, q.Dir, "status", "--porcelain") != "" {
		t.Errorf("in the queue's tree: %v", err)
	}
}

// TestSecretsByContent: a file whose name says little is absent from the tree of a worker if it holds a secret, and is there if it does not.
func TestSecretsByContent(t *testing.T) {
	t.Parallel()
	top := repository(t)
	token := "ghp_" + strings.Repeat("a1B2c3D4e5", 4)[:36]
	write(t, "//registry.npmjs.org/:_authToken=npm_"+strings.Repeat("Zx9Yw8Vu7T", 4)[:36]+"\n", top, ".npmrc")
	write(t, "engine-strict=true\n", top, "web/.npmrc")
	write(t, "A="+token+"\n", top, "testdata/.env")
	run(t, top, "add", "-fA")
	run(t, top, "commit", "-q", "-m", "with a token")
	p := stand(t, top)
	blob := run(t, top, "rev-parse", "HEAD:.npmrc")
	tree := add(t, p, "w")
	if exists(tree.Dir, ".npmrc") || !exists(tree.Dir, "web/.npmrc") || !exists(tree.Dir, "testdata/.env") {
		t.Error("the files are not what they should be")
	}
	if said, err := runs(tree.Dir, "cat-file", "blob", blob); err == nil {
		t.Errorf("git shows it: %s", said)
	}
	if got := run(t, tree.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("the worker's git says %q", got)
	}
}

// TestPoolOfASession: the objects of a session go with it, and come again.
func TestPoolOfASession(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	tree, ctx := add(t, p, "w"), t.Context()
	c := commit(t, tree, map[string]string{"a": "changed\n"})
	if err := tree.Remove(ctx); err != nil {
		t.Fatal(err)
	}
	if err := p.End(ctx); err != nil || exists(p.pool(), "HEAD") {
		t.Errorf("the objects are still there: %v", err)
	}
	must[*Tree](t)(p.Add(ctx, "again", c))
	if !exists(p.pool(), "HEAD") {
		t.Error("there are none")
	}
}

// TestLacks: what workers have in another form than the person is said.
func TestLacks(t *testing.T) {
	t.Parallel()
	plain := stand(t, repository(t))
	if got := must[[]string](t)(plain.Lacks(t.Context(), plain.base)); len(got) != 0 {
		t.Errorf("of a plain repository: %q", got)
	}
	top := repository(t)
	write(t, "A=b\n", top, ".env.production")
	write(t, "A=b\n", top, "web/.env.local")
	write(t, "# *.x filter=no\n*.psd filter=lfs diff=lfs -text\n", top, "art/.gitattributes")
	run(t, top, "add", "-fA")
	run(t, top, "update-index", "--add", "--cacheinfo", "160000,"+run(t, top, "rev-parse", "HEAD")+",vendor/lib")
	run(t, top, "commit", "-q", "-m", "more")
	p := stand(t, top)
	got := strings.Join(must[[]string](t)(p.Lacks(t.Context(), p.base)), "\n")
	for _, want := range []string{".env.production (and 1 more path) has secrets", "vendor/lib is a submodule", "*.psd goes through a filter"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// TestTreesOfAnEarlierVersion: a session whose trees are linked working trees of the person's repository goes on.
func TestTreesOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	ctx := t.Context()
	tree := p.tree("w")
	run(t, p.top, "worktree", "add", "-q", "-b", tree.Branch, tree.Dir, string(p.base))
	write(t, "committed\n", tree.Dir, "a")
	run(t, tree.Dir, "commit", "-q", "-a", "-m", "one")
	write(t, "not committed\n", tree.Dir, "draft")
	for range 2 {
		if err := p.Recover(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if got := must[*Tree](t)(p.Named("w")); got == nil {
		t.Fatal("the tree is gone")
	}
	if got := run(t, p.top, "worktree", "list"); strings.Contains(got, "s-1.w") {
		t.Errorf("it is a linked working tree still:\n%s", got)
	}
	c := commit(t, tree, map[string]string{"b": "b\n"})
	if f := must[Facts](t)(tree.Facts(ctx, p.base)); f.Head != c || !f.Branch || f.Commits != 2 || len(f.Uncommitted) > 0 {
		t.Errorf("%+v", f)
	}
	if read1(t, tree.Dir, "draft") != "not committed\n" {
		t.Error("work is lost")
	}
}

// TestCommitsThatCannotBeFetched: a worker whose commit is absent, or is none, has committed nothing. That is no error of ours.
func TestCommitsThatCannotBeFetched(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	ctx := t.Context()
	for name, spoil := range map[string]func(t *testing.T, dir string) (commit string){
		"absent": func(*testing.T, string) string { return strings.Repeat("a", 40) },
		"without an author": func(t *testing.T, dir string) string {
			write(t, "tree "+run(t, dir, "rev-parse", "HEAD^{tree}")+"\n\nbad\n", dir, "../bad")
			return run(t, dir, "hash-object", "-t", "commit", "--literally", "-w", "../bad")
		},
		"shallow": func(t *testing.T, dir string) string {
			c := run(t, dir, "commit-tree", "-m", "root", "HEAD^{tree}")
			c = run(t, dir, "commit-tree", "-m", "tip", "-p", c, "HEAD^{tree}")
			write(t, c+"\n", dir, ".git/shallow")
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree := add(t, p, strings.ReplaceAll(name, " ", "-"))
			c := spoil(t, tree.Dir)
			write(t, c+"\n", tree.Dir, ".git/refs/heads/"+tree.Branch)
			write(t, "draft\n", tree.Dir, "draft")
			f := must[Facts](t)(tree.Facts(ctx, p.base))
			if f.Head != p.base || f.Commits != 0 || len(f.Uncommitted) != 1 {
				t.Errorf("%+v", f)
			}
			if _, err := runs(p.top, "cat-file", "-e", c); err == nil && name != "without an author" {
				t.Error("it has come to the person")
			}
			if got := run(t, p.top, "for-each-ref", "--format=%(objectname)"); strings.Contains(got, c) {
				t.Error("the person has it in a ref")
			}
			must[Commit](t)(tree.Snapshot(ctx, "last"))
			if err := tree.Remove(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}
