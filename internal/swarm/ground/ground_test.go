package ground

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/text"
	"mycelium/internal/worktree"
	"mycelium/internal/worktree/git"
)

// TestMain surrounds every test with what must not lead git: variables of a hook that we were started in, and an account without a
// name.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "ground")
	if err != nil {
		panic(err)
	}
	config := "[core]\n\thooksPath = " + home + "/hooks\n[commit]\n\tgpgsign = true\n[gc]\n\tauto = 1\n[submodule]\n\trecurse = true\n"
	for name, value := range map[string]string{"HOME": home, "GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere/index", "GIT_WORK_TREE": "/",
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "true"} {
		_ = os.Setenv(name, value)
	}
	if err := os.WriteFile(home+"/.gitconfig", []byte(config), 0o600); err != nil {
		panic(err)
	}
	_ = os.Mkdir(home+"/hooks", 0o700)
	for _, hook := range []string{"post-checkout", "post-merge", "pre-commit", "reference-transaction", "post-index-change"} {
		_ = os.WriteFile(home+"/hooks/"+hook, []byte("#!/bin/sh\ntouch "+home+"/hook-ran\nexit 1\n"), 0o700) //nolint:gosec // a hook
	}
	_ = flag.Set("rapid.checks", "12") // a round of the law takes 0.3 s; the command line may ask for more
	code := m.Run()
	if _, err := os.Stat(home + "/hook-ran"); err == nil {
		fmt.Println("a hook has run")
		code = 1
	}
	_ = os.RemoveAll(home)
	os.Exit(code)
}

// tester is what a test and a round of a property test have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// run runs git as a person or a worker does, in a folder, and returns what it prints.
func run(t tester, dir string, args ...string) string {
	t.Helper()
	out, err := runs(dir, args...)
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func runs(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann",
		"GIT_AUTHOR_EMAIL=ann@localhost", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@localhost",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always"}
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

func write(t testing.TB, text string, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read1(t testing.TB, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func exists(path ...string) bool {
	_, err := os.Lstat(filepath.Join(path...))
	return err == nil
}

func must[T any](t tester) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// place is a repository of a person with the ground of a session on it.
type place struct {
	*Repo
	top  string
	base Commit
}

// repository makes a repository with some files, committed. Nothing may touch the checkout until the test ends.
func repository(t testing.TB, options ...string) (top string) {
	t.Helper()
	dir := must[string](t)(filepath.EvalSymlinks(t.TempDir()))
	top = filepath.Join(dir, "my project") // with a space
	for name, text := range map[string]string{"a": "1\n2\n3\n", "sub/b": "b\n", "日本/語.txt": "こ\n",
		".gitignore": "*.log\nnode_modules/\n.env\n"} {
		write(t, text, top, name)
	}
	run(t, top, append([]string{"init", "-q", "-b", "main"}, options...)...)
	run(t, top, "add", ".")
	run(t, top, "commit", "-q", "-m", "first")
	return top
}

// stand makes the ground of a session on a repository, and proves in the end that the checkout is what it was.
func stand(t testing.TB, top string, share ...string) place {
	t.Helper()
	before := fingerprint(t, top)
	p := open(t, top, share...)
	if err := p.Begin(t.Context(), p.base); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if after := fingerprint(t, top); after != before {
			t.Errorf("the person's checkout has changed:\n%s", text.Diff(before, after))
		}
	})
	return p
}

func open(t testing.TB, top string, share ...string) place {
	t.Helper()
	r := must[*Repo](t)(Open(t.Context(), Options{
		Project: top, State: filepath.Join(filepath.Dir(top), "st/projects/p/swarm"),
		Trees: filepath.Join(filepath.Dir(top), "st-trees/p"), Session: "s-1", Share: share}))
	head, branch, err := r.Head(t.Context())
	if err != nil || branch != "main" {
		t.Fatalf("branch %q: %v", branch, err)
	}
	return place{r, top, head}
}

// fingerprint is every file of a checkout, its index, its HEAD and its settings.
func fingerprint(t testing.TB, top string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(top, path)
		inGit := rel == ".git" || strings.HasPrefix(rel, ".git/")
		if inGit && !slices.Contains([]string{".git", ".git/index", ".git/HEAD", ".git/config"}, rel) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case d.Type().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("%x %v", sha256.Sum256(b), info.ModTime())
		case d.Type() == fs.ModeSymlink:
			content, _ = os.Readlink(path)
		}
		fmt.Fprintf(&all, "%q %v %s\n", rel, info.Mode(), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// commit is what a worker does: it writes files and commits them.
func commit(t testing.TB, tree *Tree, files map[string]string) Commit {
	t.Helper()
	for name, text := range files {
		write(t, text, tree.Dir, name)
	}
	run(t, tree.Dir, "add", "-A")
	run(t, tree.Dir, "commit", "-q", "-m", "work of "+tree.Attempt)
	if err := tree.sync(t.Context()); err != nil { // as who looks at it
		t.Fatal(err)
	}
	return Commit(run(t, tree.Dir, "rev-parse", "HEAD"))
}

func add(t testing.TB, p place, attempt string) *Tree {
	t.Helper()
	return must[*Tree](t)(p.Add(t.Context(), attempt, must[Commit](t)(p.Tip(t.Context()))))
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := must[string](t)(filepath.EvalSymlinks(t.TempDir()))
	for _, d := range []string{"none", "bare", "empty"} {
		_ = os.Mkdir(filepath.Join(dir, d), 0o700)
	}
	run(t, filepath.Join(dir, "bare"), "init", "-q", "--bare")
	run(t, filepath.Join(dir, "empty"), "init", "-q")
	top := repository(t)
	for _, c := range []struct{ name, project, state, session, want, hint string }{
		{"no repository", filepath.Join(dir, "none"), "", "s", "find the repository", "git init"},
		{"no folder", filepath.Join(dir, "missing"), "", "s", "no such file", ""},
		{"bare", filepath.Join(dir, "bare"), "", "s", "is bare", "clone"},
		{"no commit", filepath.Join(dir, "empty"), "", "s", "no commit yet", "git commit"},
		{"state in the project", top, filepath.Join(top, "state"), "s", "lies in the project", ".gitignore"},
		{"session with a dot", top, "", "a.b", "is not a name", "letters"},
		{"session with a slash", top, "", "a/b", "is not a name", "letters"},
		{"session like an option", top, "", "-f", "is not a name", "letters"},
		{"no session", top, "", "", "is not a name", "letters"},
		{"long session", top, "", strings.Repeat("x", 65), "is not a name", "64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.state == "" {
				c.state = filepath.Join(dir, "state")
			}
			_, err := Open(t.Context(), Options{Project: c.project, State: c.state, Session: c.session})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(text.HintOf(err), c.hint) {
				t.Errorf("%v; hint: %s", err, text.HintOf(err))
			}
		})
	}
	if _, err := Open(t.Context(), Options{Project: top, State: filepath.Join(top, "node_modules", "state"), Session: "s"}); err != nil {
		t.Errorf("a state in an ignored folder: %v", err)
	}
}

// TestOldGit: not parallel, because it changes the path.
func TestOldGit(t *testing.T) {
	top, bin := repository(t), t.TempDir()
	for version, ok := range map[string]bool{"2.37.9": false, "1.99.1": false, "2.38.0": true, "2.39.5 (Apple Git-154)": true,
		"3.0": true, "odd": false} {
		actual := must[string](t)(exec.LookPath("git"))
		script := "#!/bin/sh\nfor a; do [ \"$a\" = version ] && { echo 'git version " + version + "'; exit; }; done\nexec " + actual + " \"$@\"\n"
		write(t, script, bin, "git")
		_ = os.Chmod(filepath.Join(bin, "git"), 0o700) //nolint:gosec // a program
		func() {
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			defer os.Setenv("PATH", strings.TrimPrefix(os.Getenv("PATH"), bin+":")) //nolint:errcheck,usetesting // within one test
			_, err := Open(t.Context(), Options{Project: top, State: t.TempDir(), Session: "s"})
			if (err == nil) != ok {
				t.Errorf("git %s: %v", version, err)
			}
			if err != nil && (!strings.Contains(err.Error(), "2.38") || text.HintOf(err) == "") {
				t.Errorf("git %s: %v; hint %q", version, err, text.HintOf(err))
			}
		}()
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	ctx := t.Context()
	if err := p.Begin(ctx, p.base); err != nil {
		t.Errorf("begun twice at the same commit: %v", err)
	}
	if tip := must[Commit](t)(p.Tip(ctx)); tip != p.base || p.Branch() != "swarm/s-1" {
		t.Errorf("%s at %s", p.Branch(), tip)
	}
	next := commit(t, add(t, p, "x"), map[string]string{"n": "n"})
	if err := p.Begin(ctx, next); err == nil || !strings.Contains(text.HintOf(err), "another name") {
		t.Errorf("begun elsewhere: %v", err)
	}
	other := must[*Repo](t)(Open(ctx, Options{Project: p.top, State: t.TempDir(), Session: "none"}))
	if _, err := other.Tip(ctx); err == nil {
		t.Error("a session without a branch has a tip")
	}
}

func TestTrees(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) { t.Parallel(); testTrees(t, format) })
	}
}

func testTrees(t *testing.T, format string) {
	p := stand(t, repository(t, "--object-format="+format))
	ctx := t.Context()
	sub := must[*Repo](t)(Open(ctx, Options{Project: filepath.Join(p.top, "sub"), State: p.opts.State, Trees: p.opts.Trees, Session: "s-1"}))
	tree := must[*Tree](t)(sub.Add(ctx, "f-1", p.base))
	if tree.Project != filepath.Join(tree.Dir, "sub") || read1(t, tree.Project, "b") != "b\n" ||
		run(t, tree.Dir, "branch", "--show-current") != tree.Branch {
		t.Errorf("%+v", tree)
	}
	if got := worktree.Main(tree.Project, p.owns()); got != filepath.Join(p.top, "sub") {
		t.Errorf("the tree stands for %s", got)
	}
	if _, err := p.Add(ctx, "f-1", p.base); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("made twice: %v", err)
	}
	for _, bad := range []string{"", "queue", "lock", "a.b", "../x", "a/b", "-x"} {
		if _, err := p.Add(ctx, bad, p.base); err == nil {
			t.Errorf("attempt %q was made", bad)
		}
	}
	work := commit(t, tree, map[string]string{"new": "new\n"})
	write(t, "x", tree.Dir, "node_modules/x/x.js")
	write(t, "draft", tree.Dir, "draft 日本\nx")
	err := tree.Remove(ctx)
	unsaved, ok := errors.AsType[*UnsavedError](err)
	if !ok || !slices.Equal(unsaved.Files, []string{"draft 日本\nx"}) || !strings.Contains(err.Error(), "1 changed file") {
		t.Errorf("removed with work: %v", err)
	}
	if got := must[[]Tree](t)(p.List()); len(got) != 1 || got[0].Dir != tree.Dir || got[0].Half {
		t.Errorf("%+v", got)
	}
	saved := must[Commit](t)(tree.Snapshot(ctx, "end"))
	if err := tree.Remove(ctx); err != nil {
		t.Fatal(err)
	}
	if got := must[[]Tree](t)(p.List()); len(got) != 0 || exists(tree.Dir) || exists(tree.own) {
		t.Errorf("left: %+v", got)
	}
	if err := tree.Remove(ctx); err != nil {
		t.Errorf("removed twice: %v", err)
	}
	refs := run(t, p.top, "for-each-ref", "--format=%(refname) %(objectname)")
	if !strings.Contains(refs, "refs/mycelium/attempts/s-1/f-1/"+string(work[:12])+" "+string(work)) ||
		!strings.Contains(refs, string(saved)) || strings.Contains(refs, "refs/heads/"+tree.Branch) {
		t.Errorf("what is kept:\n%s", refs)
	}
	run(t, p.top, "gc", "-q", "--prune=now")
	if got := run(t, p.top, "show", string(saved)+":draft 日本\nx"); got != "draft" {
		t.Errorf("after a collection: %q", got)
	}
	if _, err := p.Add(ctx, "f-1", work); err != nil {
		t.Errorf("the name again: %v", err)
	}
}

// TestTreesSideBySide: many who make and remove trees at once, with repositories of their own as other processes have them, wait for
// each other.
func TestTreesSideBySide(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	errs := make(chan error)
	const n = 6
	for i := range n {
		go func() {
			r, err := Open(context.Background(), p.opts)
			if err == nil {
				var tree *Tree
				if tree, err = r.Add(context.Background(), fmt.Sprint("w", i), p.base); err == nil && i%2 == 1 {
					err = tree.Remove(context.Background())
				}
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := must[[]Tree](t)(p.List()); len(got) != n/2 {
		t.Errorf("%+v", got)
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	top := repository(t)
	write(t, "x", top, "node_modules/x/x.js")
	write(t, "secret", top, "node_modules/x/.env")
	write(t, "#!/bin/sh\n", top, "node_modules/.bin/tool")
	write(t, "token", top, ".env")
	write(t, "log", top, "sub/deep/build.log")
	for _, err := range []error{os.Chmod(filepath.Join(top, "node_modules/.bin/tool"), 0o700),
		os.Chmod(filepath.Join(top, "node_modules/x"), 0o500),
		os.Symlink("../x/x.js", filepath.Join(top, "node_modules/.bin/x")), os.Symlink("/etc", filepath.Join(top, "node_modules/etc"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(top, "node_modules/x"), 0o700) }) //nolint:gosec // a folder
	p := stand(t, top, "node_modules", "absent", "sub/deep/build.log")
	tree := add(t, p, "w")
	if read1(t, tree.Dir, "node_modules/x/x.js") != "x" || read1(t, tree.Dir, "sub/deep/build.log") != "log" {
		t.Error("not shared")
	}
	if exists(tree.Dir, "node_modules/x/.env") || exists(tree.Dir, ".env") {
		t.Error("a secret was shared")
	}
	for link, want := range map[string]string{"node_modules/.bin/x": "../x/x.js", "node_modules/etc": "/etc"} {
		if got, err := os.Readlink(filepath.Join(tree.Dir, link)); got != want {
			t.Errorf("%s leads to %s: %v", link, got, err)
		}
	}
	for name, mode := range map[string]fs.FileMode{"node_modules/.bin/tool": 0o700, "node_modules/x": fs.ModeDir | 0o500} {
		if info, err := os.Stat(filepath.Join(tree.Dir, name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	write(t, "changed in place", tree.Dir, "node_modules/.bin/tool")
	if read1(t, top, "node_modules/.bin/tool") != "#!/bin/sh\n" {
		t.Error("the project's own file has changed")
	}
	if err := tree.Remove(t.Context()); err != nil || exists(tree.Dir) {
		t.Errorf("with a folder that is read-only: %v", err)
	}
	named := open(t, top, ".env")
	if tree := add(t, named, "env"); read1(t, tree.Dir, ".env") != "token" {
		t.Error("a secret that was named is not shared")
	}
	for path, want := range map[string]string{"../x": "no path", "/etc": "no path", ".git/config": "no path",
		"loose": "does not ignore", "out/x": "escapes"} {
		t.Run(path, func(t *testing.T) {
			p := stand(t, looseEnds(t), path)
			if _, err := p.Add(t.Context(), "w", p.base); err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("shared: %v", err)
			}
			if err := p.Recover(t.Context()); err != nil || len(must[[]Tree](t)(p.List())) != 0 || exists(p.trees(), "s-1.w") {
				t.Errorf("after recovery: %v", err)
			}
		})
	}
}

// looseEnds is a repository with a file that git does not ignore, and a link that leads out.
func looseEnds(t *testing.T) string {
	top := repository(t)
	write(t, "x", top, "loose")
	write(t, "x", top, "../elsewhere/x")
	if err := os.Symlink("../elsewhere", filepath.Join(top, "out")); err != nil {
		t.Fatal(err)
	}
	return top
}

// TestRecover: whatever a kill leaves while a tree is made or removed, the next start is clean, and no commit is lost.
func TestRecover(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	ctx := t.Context()
	good, gone, half, begun := add(t, p, "good"), add(t, p, "gone"), add(t, p, "half"), add(t, p, "begun")
	write(t, "unsaved", good.Dir, "x")
	lost := commit(t, gone, map[string]string{"y": "y"})
	must[Facts](t)(gone.Facts(ctx, p.base))
	for _, err := range []error{
		os.RemoveAll(gone.Dir),                        // killed while it was removed
		os.Remove(filepath.Join(begun.own, "gitdir")), // killed in the middle of git worktree add
		os.Remove(filepath.Join(begun.own, "HEAD")),
		os.WriteFile(filepath.Join(begun.own, "locked"), []byte(gitsMarker), 0o600),
		os.WriteFile(filepath.Join(half.own, "locked"), []byte(halfMarker+"\n"), 0o600), // killed while files were shared
		os.MkdirAll(filepath.Join(p.opts.State, scratchPrefix+"1"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	run(t, p.top, "branch", "swarm/s-1.early", string(lost)) // killed after the branch and before the tree
	run(t, p.top, "branch", "swarm/s-2.other", string(lost)) // of another session
	if err := p.Recover(ctx); err != nil {
		t.Fatal(err)
	}
	got := must[[]Tree](t)(p.List())
	if len(got) != 1 || got[0].Attempt != "good" || read1(t, good.Dir, "x") != "unsaved" {
		t.Errorf("%+v", got)
	}
	for _, left := range []string{half.Dir, begun.Dir, begun.own, filepath.Join(p.opts.State, scratchPrefix+"1")} {
		if exists(left) {
			t.Errorf("%s is left", left)
		}
	}
	refs := run(t, p.top, "for-each-ref", "--format=%(refname)")
	for ref, want := range map[string]bool{"refs/heads/swarm/s-1.good": true, "refs/heads/swarm/s-2.other": true,
		"refs/heads/swarm/s-1.early": false,
		"refs/heads/swarm/s-1.half":  false, "refs/mycelium/attempts/s-1/early/" + string(lost[:12]): true,
		"refs/mycelium/attempts/s-1/gone/" + string(lost[:12]): true} {
		if slices.Contains(strings.Fields(refs), ref) != want {
			t.Errorf("%s: want %v\n%s", ref, want, refs)
		}
	}
	for _, again := range []string{"gone", "half", "begun", "early"} {
		add(t, p, again)
	}
}

// TestCancelled: a git that is told to end leaves no lock behind.
func TestCancelled(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Add(ctx, "w", p.base); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := (git.Git{Dir: p.top}).Run(ctx, "version"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := p.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	add(t, p, "w")
}
