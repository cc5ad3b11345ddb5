package ground

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/credential/held"
	"mycelium/internal/worktree/git"
)

// Each working tree has a repository of its own, in .git, which its worker may do with as it likes. Its objects come from the repository of
// the session, which every worker of the session reads and none writes: there are the commits that workers build on, without the blobs of
// files with secrets. No git of ours runs in a worker's repository. The driver has a git folder of its own for each tree, in the state,
// with an index and a HEAD. What a worker has committed is fetched from a git that runs within the walls of the worker.

// poolName is the folder with the repositories of the sessions, beside the working trees: the state is not shown in a sandbox.
const poolName = ".objects"

// Pools is the folder with the repositories of the sessions. trees is the folder of the working trees.
func Pools(trees string) string { return filepath.Join(trees, poolName) }

// Pool returns the repository of a session, from which the workers take objects.
func Pool(trees, session string) string { return filepath.Join(Pools(trees), session) }

// poolWait is how long one waits for another that brings a commit into the repository of the session: the first has all of the history.
const poolWait = 10 * time.Minute

func (r *Repo) pool() string { return Pool(r.trees(), r.opts.Session) }

// ofPool is git in the repository of the session. It has no setting of a person.
func (r *Repo) ofPool() git.Git {
	return git.Git{Dir: r.pool(), Most: mostListed, Env: []string{"GIT_DIR=" + r.pool(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"}}
}

// pour brings a commit, and what it is made of, into the repository of the session.
func (r *Repo) pour(ctx context.Context, c Commit) error {
	m, err := atomicfile.OpenMutex(filepath.Join(r.opts.State, "pool.lock"))
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	if err := m.Lock(ctx, poolWait); err != nil {
		return fmt.Errorf("wait for the objects of the session: %w", err)
	}
	g := r.ofPool()
	if _, err := os.Lstat(filepath.Join(g.Dir, "HEAD")); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(g.Dir, 0o700); err != nil {
			return err
		}
		args := []string{"init", "-q", "--bare", "--template="}
		if len(c) == 64 {
			args = append(args, "--object-format=sha256")
		}
		if _, err := g.Run(ctx, args...); err != nil {
			return err
		}
	}
	known, err := g.Run(ctx, "for-each-ref", "--format=^%(objectname)", "refs/has/")
	if err != nil || bytes.Contains(known, []byte(c)) {
		return err
	}
	var all bytes.Buffer
	in := strings.NewReader(string(c) + "\n" + string(known))
	if err := r.plumbing().Pipe(ctx, in, &all, "rev-list", "--objects", "--stdin"); err != nil {
		return err
	}
	wanted, err := r.withoutSecrets(ctx, c, &all)
	if err != nil {
		return err
	}
	packed, to := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := r.plumbing().Pipe(ctx, wanted, to, "pack-objects", "--stdout", "-q")
		done <- err
		_ = to.CloseWithError(err)
	}()
	err = g.Pipe(ctx, packed, io.Discard, "index-pack", "--stdin", "--promisor")
	_ = packed.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	if err := errors.Join(<-done, err); err != nil {
		return err
	}
	_, err = g.Run(ctx, "update-ref", "refs/has/"+string(c), string(c))
	return err
}

// Bring brings the tip of the session's branch to the workers, who merge it by its name.
func (r *Repo) Bring(ctx context.Context) (Commit, error) {
	tip, err := r.Tip(ctx)
	if err == nil {
		err = r.pour(ctx, tip)
	}
	return tip, err
}

// record makes the driver's git folder of a tree, with some more files of a line each.
func (t *Tree) record(folder string, files map[string]string) error {
	if err := os.MkdirAll(filepath.Join(folder, "info"), 0o700); err != nil {
		return err
	}
	files["commondir"], files["gitdir"], files["main"] = t.repo.common, filepath.Join(t.Dir, ".git"), t.repo.top
	for name, line := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(line+"\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// adopt gives a repository of its own to each tree of the session that an earlier version made as a linked working tree of the person's
// repository.
func (r *Repo) adopt(ctx context.Context) error {
	folder := filepath.Join(r.common, "worktrees")
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for working trees of an earlier version: %w", err)
	}
	for _, e := range entries {
		attempt, ours := strings.CutPrefix(e.Name(), r.opts.Session+".")
		if !ours || attempt != queueName && checkName("attempt", attempt) != nil {
			continue
		}
		t, was := r.tree(attempt), filepath.Join(folder, e.Name())
		back, err := read(filepath.Join(was, "gitdir"), mostLine)
		if err != nil || strings.TrimSpace(string(back)) != filepath.Join(t.Dir, ".git") {
			continue // of another state, or half removed
		}
		if err := t.adopt(ctx, was); err != nil {
			return fmt.Errorf("give the working tree %s, which an earlier version made, a repository: %w", t.Dir, err)
		}
	}
	return nil
}

// adopt gives a tree a repository of its own. was is its git folder as a linked working tree. It can be broken off at any step.
func (t *Tree) adopt(ctx context.Context, was string) error {
	if _, err := os.Lstat(t.own); errors.Is(err, fs.ErrNotExist) {
		head, err := read(filepath.Join(was, "HEAD"), mostLine)
		if err != nil {
			return err
		}
		made := t.own + ".new"
		if err := removeAll(made); err != nil {
			return err
		}
		files := map[string]string{"HEAD": strings.TrimSpace(string(head))}
		if locked, err := read(filepath.Join(was, "locked"), mostLine); err == nil {
			files["locked"] = strings.TrimSpace(string(locked))
		}
		if err := t.record(made, files); err != nil {
			return err
		}
		if err := copyIndex(filepath.Join(was, "index"), filepath.Join(made, "index")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Rename(made, t.own); err != nil {
			return err
		}
	}
	if info, err := os.Lstat(filepath.Join(t.Dir, ".git")); err == nil && !info.IsDir() {
		at, err := t.repo.resolve(ctx, "refs/heads/"+t.Branch)
		if head, has := t.in().Line(ctx, "rev-parse", "--verify", "HEAD^{commit}"); has == nil {
			at, err = Commit(head), nil
		}
		if err == nil {
			err = t.seed(ctx, at)
		}
		if err != nil {
			return err
		}
	}
	return removeAll(was)
}

// withoutSecrets takes the blobs of files with secrets out of a list of objects with their paths. One that a commit has under another
// name, too, stays.
func (r *Repo) withoutSecrets(ctx context.Context, c Commit, all io.Reader) (io.Reader, error) {
	entries, err := r.plumbing().List(ctx, "ls-tree", "-r", "-z", string(c))
	if err != nil {
		return nil, err
	}
	var now, ever []held.Blob
	for _, e := range entries { // 100644 blob OBJECT\tPATH
		about, path, _ := strings.Cut(e, "\t")
		if f := strings.Fields(about); len(f) == 3 && f[1] == "blob" {
			now = append(now, held.Blob{Object: f[2], Path: path})
		}
	}
	lines := bufio.NewScanner(all)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() { // OBJECT PATH
		object, path, _ := strings.Cut(lines.Text(), " ")
		ever = append(ever, held.Blob{Object: object, Path: path})
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	secret, err := secrets(ctx, r.plumbing(), slices.Concat(now, ever))
	if err != nil {
		return nil, err
	}
	open := map[string]bool{}
	for _, b := range now {
		open[b.Object] = open[b.Object] || !secret[b]
	}
	var out bytes.Buffer
	for _, b := range ever {
		if open[b.Object] || !secret[b] {
			out.WriteString(b.Object + "\n")
		}
	}
	return &out, nil
}

// secrets is [held.Blobs] of a repository.
func secrets(ctx context.Context, g git.Git, files []held.Blob) (map[held.Blob]bool, error) {
	return held.Blobs(files, func(in io.Reader, out io.Writer) error { return g.Pipe(ctx, in, out, "cat-file", "--batch") })
}

// begin makes the driver's git folder of a tree, and the files of a commit in the tree.
func (t *Tree) begin(ctx context.Context, from Commit) error {
	head := string(from)
	if t.Branch != "" {
		head = "ref: refs/heads/" + t.Branch
	}
	if err := t.record(t.own, map[string]string{"locked": halfMarker, "HEAD": head}); err != nil {
		return err
	}
	if t.Branch != "" {
		if err := t.repo.update(ctx, change{"refs/heads/" + t.Branch, from, Commit(t.repo.zero)}); err != nil {
			return err
		}
	}
	if err := os.Mkdir(t.Dir, 0o755); err != nil { //nolint:gosec // as git makes it
		return err
	}
	g := t.in()
	if _, err := g.Run(ctx, "read-tree", string(from)); err != nil {
		return err
	}
	if err := hideSecrets(ctx, g); err != nil {
		return err
	}
	if _, err := g.Run(ctx, "checkout-index", "--all", "--quiet", "--index"); err != nil {
		return err
	}
	return t.seed(ctx, from)
}

// hideSecrets marks the files with secrets of an index as absent from the tree.
func hideSecrets(ctx context.Context, g git.Git) error {
	entries, err := g.List(ctx, "ls-files", "-z", "--stage")
	if err != nil {
		return err
	}
	var files []held.Blob
	for _, e := range entries { // 100644 OBJECT 0\tPATH
		about, path, _ := strings.Cut(e, "\t")
		if f := strings.Fields(about); len(f) == 3 && f[0] != "160000" {
			files = append(files, held.Blob{Object: f[1], Path: path})
		}
	}
	secret, err := secrets(ctx, g, files)
	if err != nil {
		return err
	}
	var hidden bytes.Buffer
	for _, b := range files {
		if secret[b] {
			hidden.WriteString(b.Path + "\x00")
		}
	}
	if hidden.Len() == 0 {
		return nil
	}
	return g.Pipe(ctx, &hidden, io.Discard, "update-index", "--skip-worktree", "-z", "--stdin")
}

// seed makes the repository of a tree anew, at a commit. Nothing works in the tree, and what its worker has committed was fetched.
func (t *Tree) seed(ctx context.Context, at Commit) error {
	if err := t.repo.pour(ctx, at); err != nil {
		return fmt.Errorf("bring %.12s to the worker: %w", at, err)
	}
	dir := filepath.Join(t.Dir, ".git")
	if err := removeAll(dir); err != nil {
		return err
	}
	names, err := t.in().List(ctx, "ls-files", "-z", "-t")
	if err != nil {
		return err
	}
	sparse := "/*\n"
	for _, line := range names {
		if name, skipped := strings.CutPrefix(line, "S "); skipped {
			sparse += "!/" + pattern.Replace(name) + "\n"
		}
	}
	config := "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\tsparseCheckout = true\n" +
		"[extensions]\n\tpartialClone = session\n"
	if len(at) == 64 {
		config += "\tobjectFormat = sha256\n"
	}
	config += "[remote \"session\"]\n\turl = " + quoted(t.repo.pool()) + "\n\tpromisor = true\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
	for _, name := range []string{"name", "email"} {
		if value, err := (git.Git{Dir: t.repo.top}).Line(ctx, "config", "--get", "user."+name); err == nil {
			config += "[user]\n\t" + name + " = " + quoted(value) + "\n"
		}
	}
	theirs, err := t.branches(ctx)
	if err != nil {
		return err
	}
	head := string(at)
	files := map[string]string{"config": config, "objects/info/alternates": filepath.Join(t.repo.pool(), "objects") + "\n",
		"info/sparse-checkout": sparse}
	for ref, c := range theirs {
		if ref != "HEAD" {
			if err := t.repo.pour(ctx, c); err != nil {
				return err
			}
			files[ref] = string(c) + "\n"
		}
	}
	if tip, err := t.repo.Tip(ctx); err == nil && t.repo.pour(ctx, tip) == nil {
		files[t.repo.branch()] = string(tip) + "\n"
	}
	if t.Branch != "" {
		head = "ref: refs/heads/" + t.Branch
		files["refs/heads/"+t.Branch] = string(at) + "\n"
	}
	files["HEAD"] = head + "\n"
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // as git makes it
			return err
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil { //nolint:gosec // as git makes it
			return err
		}
	}
	return copyIndex(filepath.Join(t.own, "index"), filepath.Join(dir, "index"))
}

// pattern makes a pattern of a name that means the name itself.
var pattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `)

// quoted is a value of a configuration of git.
func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(value) + `"`
}

// sync fetches what the worker of a tree has committed, and has the driver's git folder stand where the worker's repository stands.
func (t *Tree) sync(ctx context.Context) error {
	ref, at, err := t.stands()
	if err != nil {
		return t.lost(ctx, err)
	}
	own := "refs/heads/" + t.Branch
	now, _ := t.in().Line(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	was, _ := t.in().Line(ctx, "symbolic-ref", "--quiet", "HEAD")
	on := ""
	if t.Branch != "" && ref == own {
		on = own
	}
	if now == string(at) && was == on {
		return nil
	}
	if now != string(at) {
		if at, err = t.fetch(ctx); err != nil {
			return t.lost(ctx, err)
		}
	}
	head := string(at)
	if on != "" {
		if err := t.repo.update(ctx, change{own, at, ""}); err != nil {
			return err
		}
		head = "ref: " + on
	}
	return os.WriteFile(filepath.Join(t.own, "HEAD"), []byte(head+"\n"), 0o600)
}

// errNowhere says that the repository of a worker is on no commit that can be fetched, or that there is none any more.
var errNowhere = errors.New("the repository of the worker is on no commit that can be fetched")

// stands returns the branch and the commit of the worker's repository, from its files. The branch is empty if none is checked out.
func (t *Tree) stands() (ref string, at Commit, err error) {
	dir := filepath.Join(t.Dir, ".git")
	line := func(name string) string {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return ""
		}
		b, err := read(filepath.Join(dir, name), mostLine)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	head := line("HEAD")
	ref, on := strings.CutPrefix(head, "ref: ")
	if !on {
		ref = ""
	} else if head = ""; strings.HasPrefix(ref, "refs/") && fs.ValidPath(ref) {
		if head = line(ref); head == "" {
			packed, _ := read(filepath.Join(dir, "packed-refs"), 16<<20)
			for l := range strings.Lines(string(packed)) {
				if object, name, _ := strings.Cut(strings.TrimSpace(l), " "); name == ref {
					head = object
				}
			}
		}
	}
	if !isName(head, len(t.repo.zero)) {
		return "", "", errNowhere
	}
	return ref, Commit(head), nil
}

// lost has the driver's git folder stay at the last commit that is known, and on no branch, where the worker's repository has none that can be
// fetched. The files of the tree are what they are.
func (t *Tree) lost(ctx context.Context, err error) error {
	if !errors.Is(err, errNowhere) {
		return err
	}
	c, err := t.repo.resolve(ctx, "refs/heads/"+t.Branch)
	if err != nil {
		return nil //nolint:nilerr // it is on no branch
	}
	return os.WriteFile(filepath.Join(t.own, "HEAD"), []byte(string(c)+"\n"), 0o600)
}

// gather fetches all branches of the worker's repository, before that is made anew or removed.
func (t *Tree) gather(ctx context.Context) error {
	if _, _, err := t.stands(); errors.Is(err, errNowhere) {
		return nil
	}
	if _, err := t.fetch(ctx); errors.Is(err, errNowhere) {
		return nil
	} else if err != nil {
		return err
	}
	own := "refs/heads/" + t.Branch
	if c, err := t.repo.resolve(ctx, t.ref("fetched", "")+own); err == nil && t.Branch != "" {
		return t.repo.update(ctx, change{own, c, ""})
	}
	return nil
}

// branches are the branches of the worker's repository as they were fetched last, with their commits.
func (t *Tree) branches(ctx context.Context) (map[string]Commit, error) {
	under := t.ref("fetched", "")
	lines, err := t.repo.plumbing().Run(ctx, "for-each-ref", "--format=%(refname) %(objectname)", under)
	if err != nil {
		return nil, fmt.Errorf("list the branches of %s: %w", t.Attempt, err)
	}
	out := map[string]Commit{}
	for line := range strings.Lines(string(lines)) {
		ref, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		out[strings.TrimPrefix(ref, under)] = Commit(at)
	}
	return out, nil
}

// fetchTime bounds how long the git within the walls of a worker takes to send: the worker can make it wait for ever.
const fetchTime = 10 * time.Minute

// fetch brings the commits of the worker's repository into that of the person. The git that reads the worker's repository runs within the
// walls of the worker: it follows what the worker has written in there, and finds what the worker finds. What it sends is checked. The
// error is errNowhere if the cause is in the worker's repository.
func (t *Tree) fetch(ctx context.Context) (Commit, error) {
	for _, name := range []string{"shallow", "commondir"} { // objects without their history would come; see gitrepository-layout(5)
		if _, err := os.Lstat(filepath.Join(t.Dir, ".git", name)); err == nil {
			return "", fmt.Errorf("%w: it has a file %s", errNowhere, name)
		}
	}
	bounded, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	err := t.fetchAll(bounded)
	if err == nil {
		var at Commit
		if at, err = t.repo.resolve(ctx, t.ref("fetched", "HEAD")); err == nil {
			return at, nil
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if here := t.repo.plumbing().Pipe(ctx, strings.NewReader("written\n"), io.Discard, "hash-object", "-w", "--stdin"); here != nil {
		return "", fmt.Errorf("fetch what the worker of %s has committed: %w", t.Attempt, errors.Join(err, here)) // the disk is full, or the like
	}
	return "", fmt.Errorf("%w: %w", errNowhere, err)
}

// fetchAll fetches HEAD and all branches of the worker's repository.
func (t *Tree) fetchAll(ctx context.Context) error {
	theirs, in, err := os.Pipe()
	if err != nil {
		return err
	}
	out, ours, err := os.Pipe()
	if err != nil {
		return errors.Join(err, theirs.Close(), in.Close())
	}
	served := make(chan error, 1)
	go func() {
		err := t.repo.inside(ctx, t.Dir, theirs, ours, "git", "upload-pack", "--strict", "--timeout=120", filepath.Join(t.Dir, ".git"))
		_ = errors.Join(theirs.Close(), ours.Close())
		served <- err
	}()
	g := t.repo.plumbing()
	g.Files = []*os.File{out, in}
	g.Settings = append(slices.Clip(g.Settings), "-c", "fetch.fsckObjects=true", "-c", "transfer.fsckObjects=true", "-c", "protocol.allow=never", "-c",
		"protocol.fd.allow=always", "-c", "core.alternateRefsCommand=true")
	_, err = g.Run(ctx, "fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "fd::3,4",
		"--prune", "+HEAD:"+t.ref("fetched", "HEAD"), "+refs/heads/*:"+t.ref("fetched", "refs/heads/*"))
	_ = errors.Join(out.Close(), in.Close())
	there := <-served // what it ends with says nothing if all has come
	if err != nil {
		return errors.Join(err, there)
	}
	return nil
}

// inside runs a program within the walls of a worker.
func (r *Repo) inside(ctx context.Context, tree string, in io.Reader, out io.Writer, argv ...string) error {
	if r.opts.Inside != nil {
		return r.opts.Inside(ctx, tree, in, out, argv)
	}
	return git.Bare(ctx, tree, in, out, argv)
}
