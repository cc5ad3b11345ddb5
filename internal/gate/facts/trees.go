package facts

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/policy"
	"mycelium/internal/worktree"
	"mycelium/internal/worktree/git"
)

// Bounds of what git is asked for one call.
const (
	gitTime    = 10 * time.Second // git answers in milliseconds, and on a machine with much other work in seconds
	gitOutput  = 4 << 20          // bytes
	manyCommit = "5000"           // revisions of a history
)

// trees completes the facts of git commands that put other files into the working tree (W12): git says which files those are. Files with
// the hooks of agents are written paths, so that base constraints decide. Other protected files make the call ask: the rules of a project
// are in force when a person has accepted them, and not before.
type trees struct {
	at      Place
	root    string // of the repository; names begin there
	fetched bool   // a command before has fetched: what a branch of another repository is then, git does not know yet
	ignores bool   // a command before may have changed which files git leaves out

	// heads are the commits to which a command before moved HEAD without their files: later commands bring these. lost is set if one of
	// them is not known.
	heads []string
	lost  bool

	silent bool // git did not answer once, and is asked no more

	from []revisions // what commands before may have put into the working tree
}

func (t *trees) complete(part *policy.Part) {
	if part.Program == "git" && slices.Contains(part.Effects, policy.EffectNetwork) {
		t.fetched = true
	}
	defer func() { t.ignores = t.ignores || changesIgnores(part) }()
	t.puts(part)
	if len(part.Trees) == 0 {
		return
	}
	dir := t.at.Dir
	if part.Dir != "" {
		dir = part.Dir
	}
	g, done := t.ask(part, dir)
	defer done()
	var added []string
	for _, tree := range part.Trees {
		kind, rest, _ := strings.Cut(tree, " ")
		switch kind {
		case policy.TreeAdd:
			added = append(added, rest)
			continue
		case policy.TreeHead:
			t.moves(g, rest)
			continue
		}
		names, known := t.names(g, tree)
		for _, head := range t.heads {
			more, ok := t.names(g, policy.TreeOf+" "+head)
			names, known = append(names, more...), known && ok
		}
		if !known || t.lost || part.Dir == "*" {
			part.Unclear = append(part.Unclear, policy.FilesNotKnown)
			return
		}
		t.add(part, names)
		if tree == policy.TreePut+" all" {
			added = append(added, "")
		}
	}
	if len(added) > 0 {
		t.takeIn(g, part, added)
	}
}

// ask returns git in a folder, for the questions that a part needs. done ends them. It makes the part unclear if git gave no answer to one of
// them: a git that was stopped has not said that there is no such commit.
func (t *trees) ask(part *policy.Part, dir string) (g gitIn, done func()) {
	ctx, cancel := context.WithTimeout(context.Background(), gitTime)
	if t.silent {
		cancel()
	}
	g = gitIn{ctx, gitAt(&t.at, dir), &t.silent}
	return g, func() {
		cancel()
		if t.silent {
			unclear(part, "git did not answer, so it is not known which files the command changes")
		}
	}
}

// moves notes that HEAD goes to a revision. What is none is the name of a file.
func (t *trees) moves(g gitIn, revision string) {
	if commit, ok := g.commit(revision); ok {
		t.heads = append(t.heads, commit)
	}
	t.lost = t.lost || t.fetched && !strings.HasPrefix(revision, "HEAD") && !g.local(revision)
}

// changesIgnores reports whether a part may change which files git leaves out.
func changesIgnores(part *policy.Part) bool {
	return len(part.Trees) > 0 || slices.ContainsFunc(part.Paths, func(p policy.Path) bool {
		name := filepath.Base(p.Clean)
		return p.Access != policy.Read && p.Access != policy.Execute && (name == ".gitignore" || name == "exclude" || p.Pattern)
	})
}

// takeIn judges the files that git takes in and does not know yet: whoever may ask git sees them afterwards. A folder without a repository
// is one that the same command makes.
func (t *trees) takeIn(g gitIn, part *policy.Part, specs []string) {
	args := []string{"ls-files", "-z", "--others", "--full-name"}
	if !t.ignores {
		args = append(args, "--exclude-standard")
	}
	root, ok := g.line("rev-parse", "--show-toplevel")
	if !ok {
		scratch, err := os.MkdirTemp("", "myc-git")
		if err != nil {
			unclear(part, "which files git takes in is not known")
			return
		}
		defer func() { _ = os.RemoveAll(scratch) }()
		g.run("init", "-q", "--bare", "--template=", scratch)
		root, args = g.Dir, append([]string{"--git-dir=" + scratch, "--work-tree=" + g.Dir}, args...)
	}
	args = append(args, "--")
	for _, s := range specs {
		if s != "" {
			args = append(args, s)
		}
	}
	names, known := g.list(args...)
	if !known {
		unclear(part, "which files git takes in is not known")
		return
	}
	for i, name := range names {
		path := filepath.Join(root, name)
		if i > maxNames {
			unclear(part, "git takes in more files than can be looked at")
			return
		}
		if t.at.Protects != nil && t.at.Protects(policy.Path{Access: policy.Read, Raw: name, Clean: path, Resolved: path, Passed: true}) {
			unclear(part, "git takes in "+name+", which is protected, and shows it to whoever asks; leave it out")
			return
		}
	}
}

// names returns the files that a command changes, as absolute paths.
func (t *trees) names(g gitIn, tree string) (names []string, known bool) {
	kind, revision, _ := strings.Cut(tree, " ")
	root, ok := g.line("rev-parse", "--show-toplevel")
	if !ok {
		return nil, kind != policy.TreeUnknown // git will fail as well
	}
	g.Dir, t.root = root, root
	switch kind {
	case policy.TreePut:
		return t.put(g, revision == "all")
	case policy.TreeTracked:
		return g.list("ls-files", "-z")
	case policy.TreeLarge:
		return g.list("ls-files", "-z", ":(attr:filter=lfs)")
	case policy.TreeModules:
		return submodules(g)
	case policy.TreeNamed:
		if _, ok := g.commit(revision); !ok {
			if _, ok = g.commit("origin/" + revision); !ok {
				return nil, true
			}
		}
		return t.compared(g, policy.TreeOf, revision)
	case policy.TreeHistory:
		return g.list(append([]string{"log", "--all", "-m", "-z", "--name-only", "--format=", "-n", manyCommit, "--"}, governing()...)...)
	case policy.TreeStash:
		stash, ok := g.commit(revision)
		if !ok {
			return nil, true // there is no such stash
		}
		return g.list("stash", "show", "-z", "--name-only", "--include-untracked", "--no-ext-diff", stash)
	case policy.TreePick:
		return t.picked(g, revision)
	case policy.TreeOf, policy.TreeMerge:
		return t.compared(g, kind, revision)
	}
	return nil, false
}

// put lists the changes that are not committed.
func (t *trees) put(g gitIn, all bool) (names []string, known bool) {
	g = g.withoutFilters() // git reads files that it is not sure of through their filter
	names, known = g.list("diff-files", "-z", "--name-only")
	staged, ok := g.list("diff-index", "-z", "--name-only", "--cached", "HEAD")
	names, known = append(names, staged...), known && ok
	if all {
		others, ok := g.list(append([]string{"ls-files", "-z", "--others", "--"}, governing()...)...)
		names, known = append(names, others...), known && ok
	}
	return names, known
}

// picked lists the changes of commits: one, or a range.
func (t *trees) picked(g gitIn, revision string) (names []string, known bool) {
	args := []string{"log", "-m", "-z", "--name-only", "--format=", "--no-ext-diff"}
	from, to, isRange := strings.Cut(revision, "..")
	if !isRange {
		commit, ok := g.commit(revision)
		if !ok {
			return nil, false
		}
		return g.list(append(args, "--no-walk", commit)...)
	}
	begin, ok := g.commit(from)
	end, also := g.commit(strings.TrimPrefix(to, "."))
	if !ok || !also {
		return nil, false
	}
	return g.list(append(args, "-n", manyCommit, "^"+begin, end)...)
}

// compared lists the files in which a revision differs from HEAD.
func (t *trees) compared(g gitIn, kind, revision string) (names []string, known bool) {
	if t.fetched && !strings.HasPrefix(revision, "HEAD") && !g.local(revision) {
		return nil, false
	}
	commit, ok := g.commit(revision)
	if !ok && kind == policy.TreeOf { // checkout takes the branch of a remote, or a file
		if commit, ok = g.commit("origin/" + revision); !ok {
			if _, err := os.Lstat(filepath.Join(g.Dir, revision)); err == nil {
				return []string{revision}, true
			}
		}
	}
	head, some := g.commit("HEAD")
	switch {
	case !ok:
		return nil, false
	case !some: // nothing is committed here yet
		return g.list("ls-tree", "-r", "-z", "--name-only", commit)
	case kind == policy.TreeMerge:
		return g.list("diff", "-z", "--name-only", "--no-renames", "--no-ext-diff", head+"..."+commit)
	}
	return g.list("diff-tree", "-r", "-z", "--name-only", "--no-renames", head, commit)
}

// submodules lists files that a submodule could have, if its folder is one in which agents look for their settings.
func submodules(g gitIn) (names []string, known bool) {
	all, known := g.list("ls-files", "-z", "--stage")
	for _, line := range all {
		_, name, _ := strings.Cut(line, "\t")
		if !strings.HasPrefix(line, "160000 ") || name == "" {
			continue
		}
		names = append(names, name+"/x")
		for _, b := range policy.BasePaths() {
			if folder, file := filepath.Split(strings.TrimPrefix(b.Path, "**/")); filepath.Base(folder) == filepath.Base(name) {
				names = append(names, name+"/"+file)
			}
		}
	}
	return names, known
}

// add judges the names, which begin at the top of the repository. Those of another repository are judged as if they came into the project.
func (t *trees) add(part *policy.Part, names []string) {
	asks, top := "", t.at.Dir
	if holds(t.root, top) {
		top = t.root
	}
	for i, name := range names {
		path := filepath.Join(top, name)
		if i > maxNames || len(part.Paths) > maxPaths/2 {
			asks = "more files than can be looked at"
			break
		}
		p := policy.Path{Access: policy.Write, Raw: name, Clean: path}
		switch {
		case holdsHooks(name):
			part.Paths = append(part.Paths, p)
		case asks == "" && t.at.Protects != nil && t.at.Protects(p):
			asks = name
		}
	}
	if asks != "" {
		part.Unclear = append(part.Unclear, "it also changes "+asks+", which is protected")
	}
}

// holdsHooks reports whether a file has the hooks of an agent, in whatever folder.
func holdsHooks(name string) bool { return isOf(name, "-settings") }

// isOf reports whether a base constraint, whose name ends so, protects a file in whatever folder it lies.
func isOf(name, constraint string) bool {
	name = "/" + strings.ToLower(strings.Trim(name, "/")) + "/"
	return slices.ContainsFunc(policy.BasePaths(), func(b policy.BasePath) bool {
		file, anywhere := strings.CutPrefix(b.Path, "**/")
		return anywhere && strings.HasSuffix(b.Constraint, constraint) && strings.Contains(name, "/"+file+"/")
	})
}

// governing are the protected files of a project, in the words of git.
func governing() (specs []string) {
	for _, b := range policy.BasePaths() {
		if file, ok := strings.CutPrefix(b.Path, "./"); ok {
			specs = append(specs, file)
		} else if strings.HasPrefix(b.Path, "**/") {
			specs = append(specs, ":(glob)"+b.Path, ":(glob)"+b.Path+"/**")
		}
	}
	return specs
}

// gitIn asks git in a folder. Neither the repository nor the environment can make it run a program: hooks, monitors and other differs are
// switched off by the runner, filters by withoutFilters, and it gets no variable of ours.
type gitIn struct {
	ctx context.Context //nolint:containedctx // one value for the questions of one call
	git.Git
	silent *bool // set if git did not start, was stopped because its time was over, or printed too much
}

// withoutFilters returns git with the filters of the repository switched off.
func (g gitIn) withoutFilters() gitIn {
	names, _ := g.list("config", "-z", "--name-only", "--get-regexp", `^filter\..*\.(clean|process|required)$`)
	for _, name := range names {
		if strings.HasSuffix(name, ".required") {
			name += "=false"
		} else {
			name += "="
		}
		g.Settings = append(g.Settings[:len(g.Settings):len(g.Settings)], "-c", name)
	}
	return g
}

// run returns what git prints. ok is false if it fails, takes too long or prints too much.
func (g gitIn) run(args ...string) (out []byte, ok bool) {
	out, err := g.Run(g.ctx, args...)
	*g.silent = *g.silent || git.Code(err) < 0
	return out, err == nil
}

// line returns the one line that git prints.
func (g gitIn) line(args ...string) (string, bool) {
	out, ok := g.run(args...)
	s := strings.TrimSuffix(string(out), "\n")
	return s, ok && s != ""
}

// list returns the names that git prints with -z.
func (g gitIn) list(args ...string) ([]string, bool) {
	out, ok := g.run(args...)
	return git.Names(out), ok
}

// commit returns the hash of a revision.
func (g gitIn) commit(revision string) (string, bool) {
	if revision == "" {
		return "", false
	}
	return g.line("rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
}

// local reports whether a revision is a branch or a tag of this repository, which a fetch leaves alone.
func (g gitIn) local(revision string) bool {
	_, ok := g.line("rev-parse", "--verify", "--quiet", "--end-of-options", "refs/heads/"+revision)
	return ok
}

// errNoWalls says that nothing can be asked of git in the tree of a worker.
var errNoWalls = errors.New("git is not asked in the tree of a worker without walls")

// gitAt is git in a folder. In the tree of a worker it runs within the walls of the worker: the repository there is the worker's, and its
// settings can name programs.
func gitAt(at *Place, dir string) git.Git {
	g := git.Git{Dir: dir, Home: at.Home, Most: gitOutput}
	if _, ok := worktree.Worker(dir, at.Workers); ok {
		if g.Inside = at.Inside; g.Inside == nil {
			g.Inside = func(context.Context, string, io.Reader, io.Writer, []string) error { return errNoWalls }
		}
	}
	return g
}
