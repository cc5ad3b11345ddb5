package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mycelium/internal/policy/paths"
	"mycelium/internal/policy/secretfile"
	"mycelium/internal/sandbox/folder"
	"mycelium/internal/sandbox/gitconfig"
	"mycelium/internal/sandbox/jail"
)

// The bounds of what is looked at. A project beyond the first has to be narrowed by the caller. A folder beyond the others counts as
// governed: programs cannot name what is in it by its whole path (PATH_MAX is 4,096).
const (
	mostEntries = 500_000
	mostLevels  = 256
	mostPath    = 3_000
)

// look is one look at everything that a command may write: it reads whole trees, because git and archives bring what governs into any
// folder. It never follows a link, and it opens each folder from the one above, so that a command that runs at the same time cannot lead
// it elsewhere.
type look struct {
	ctx     context.Context //nolint:containedctx // of one call
	forms   forms
	roots   []string
	git     string
	home    string
	scan    string          // a folder for copies that git reads
	after   bool            // the command has ended: nothing may hide from the look any more
	closed  map[string]bool // folders that could not be read before the command either
	counts  int
	reader  folder.Reader
	folded  []byte          // the name that is looked at; kept for its memory
	given   map[string]bool // paths that the command was given by name
	index   gitIndex
	tracked []tracked
	all     bool // every file has secrets, by the folder that it lies in
	out     Guarded
}

// look looks for what is guarded. before is nil before the command. After it, a folder that its owner closed meanwhile is opened again, and
// there is no bound: the command chooses how many files it leaves.
func (c *Command) look(ctx context.Context, before *Guarded) (*Guarded, error) {
	l := &look{ctx: ctx, forms: guardedForms(c.Project, c.Home), roots: c.roots(), git: c.git(), home: c.Home, scan: c.Scratch,
		after: before != nil, out: Guarded{Project: c.Project, Write: c.Write, Worktree: c.Worktree, Links: map[string]string{},
			Through: map[string]string{}}}
	if l.after {
		l.closed = set(before.Hidden)
	} else {
		l.given, l.index = set(c.Read, c.Write), c.gitIndex()
	}
	for _, root := range l.roots {
		if err := l.root(root); err != nil {
			return nil, fmt.Errorf("look for what governs agents in %s: %w", root, err)
		}
	}
	l.committed()
	l.out.sort()
	return &l.out, nil
}

// roots are the folders that are looked at: what may be written, without what lies in another one.
func (c *Command) roots() []string {
	all := append([]string{c.Project}, c.Write...)
	if c.Worktree != nil {
		// The worktree's own part lies in the shared one, in a folder that is governed as a whole.
		all = append(all, c.Worktree.Common)
	}
	slices.Sort(all)
	var out []string
	for _, path := range all {
		if !slices.ContainsFunc(out, func(o string) bool { return below(path, o) }) {
			out = append(out, path)
		}
	}
	if c.Worktree != nil {
		out = append(out, c.Worktree.Own)
	}
	return out
}

func (l *look) root(root string) error {
	if b, ok := l.forms.of(root, paths.FoldString(filepath.Base(root))); ok {
		l.record(root, b.ChangeOnly)
		return nil
	}
	st, err := os.Lstat(root)
	if err != nil || !st.IsDir() {
		return ignoreAbsent(err)
	}
	if closed(st) && l.after {
		if err := os.Chmod(root, st.Mode().Perm()|0o700); err != nil {
			return err
		}
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	return l.folder(r, root, 0)
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// entry is a name in a folder that counts.
type entry struct {
	name, folded string
	mode         fs.FileMode
}

// folder looks at a folder.
func (l *look) folder(r *os.Root, path string, level int) error {
	entries, err := l.read(r)
	if err != nil {
		return err
	}
	l.repository(r, path, entries)
	for _, e := range entries {
		if err := l.entry(r, filepath.Join(path, e.name), e, level); err != nil {
			return err
		}
	}
	return nil
}

// read lists the names of a folder that may count.
func (l *look) read(r *os.Root) (out []entry, err error) {
	dir, err := r.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	tooMany := false
	err = l.reader.List(int(dir.Fd()), func(name string, mode fs.FileMode) error { //nolint:gosec // a descriptor
		if l.counts++; l.counts > mostEntries && !l.after {
			tooMany = true
			return fmt.Errorf("there are more than %d files: the sandbox cannot tell in time which of them govern agents", mostEntries)
		}
		l.folded = paths.Fold(l.folded[:0], name)
		if l.all || mode&(fs.ModeDir|fs.ModeSymlink|fs.ModeSocket) != 0 || gitParts[string(l.folded)] || l.forms.last[string(l.folded)] ||
			len(l.forms.ends[string(l.folded)]) > 0 || !l.after && secretfile.Known(l.folded) {
			out = append(out, entry{name, string(l.folded), mode})
		}
		return nil
	})
	if tooMany {
		return nil, err
	}
	return out, ignoreAbsent(err)
}

// entry looks at one name.
func (l *look) entry(r *os.Root, path string, e entry, level int) error {
	if b, ok := l.forms.of(path, e.folded); ok {
		switch {
		case b.ChangeOnly:
			l.record(path, true)
			l.links(r, path, e)
		case !secretfile.Known([]byte(e.folded)) || !l.track(path, true):
			l.record(path, false)
		}
		return nil
	}
	switch secret := !l.after && l.secret(path, e); {
	case secret && e.mode.IsDir() && l.index.below(path): // git would take an empty folder for files that were removed
		was := l.all
		l.all = true
		defer func() { l.all = was }()
	case secret:
		if !l.track(path, false) {
			l.out.Secrets = append(l.out.Secrets, path)
		}
		return nil
	}
	if e.mode&fs.ModeSymlink != 0 {
		if form, ok := l.forms.folders[e.folded]; ok {
			l.linkedFolder(path, form)
		}
		return nil
	}
	switch {
	case e.mode&fs.ModeSocket != 0:
		if !l.after && jail.Bound(r, e.name) {
			l.out.Sockets = append(l.out.Sockets, path)
		}
	case e.folded == gitName && !e.mode.IsDir():
		l.pointer(r, path, e.name)
	case e.mode.IsDir() && (level >= mostLevels || len(path) > mostPath):
		l.record(path, true)
	case e.mode.IsDir():
		return l.into(r, path, e.name, level)
	}
	return nil
}

func (l *look) record(path string, changeOnly bool) {
	if changeOnly {
		l.out.Fixed = append(l.out.Fixed, path)
	} else {
		l.out.Hidden = append(l.out.Hidden, path)
	}
}

// into looks at a folder in another one. One that cannot be read or searched hides nothing: before the command it is covered, so that the
// command cannot open it; after the command its owner's rights come back.
func (l *look) into(r *os.Root, path, name string, level int) error {
	sub, err := openFolder(r, name)
	if errors.Is(err, fs.ErrPermission) && l.after && !l.closed[path] {
		if giveBack(r, name) == nil {
			sub, err = openFolder(r, name)
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		l.out.Hidden = append(l.out.Hidden, path)
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errReplaced):
		return nil // somebody else changes the project at this moment, and whoever does it in the sandbox looks at its end
	case err != nil:
		return err
	}
	defer func() { _ = sub.Close() }()
	return l.folder(sub, path, level+1)
}

// errReplaced says that a name is not the folder any more that it was.
var errReplaced = errors.New("it is no folder, or another one meanwhile")

// openFolder opens a folder by its name, and not what a link of that name leads to.
func openFolder(r *os.Root, name string) (*os.Root, error) {
	was, err := r.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !was.IsDir() {
		return nil, errReplaced
	}
	if closed(was) {
		return nil, fs.ErrPermission
	}
	sub, err := r.OpenRoot(name)
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		return nil, errReplaced
	}
	if err != nil {
		return nil, err
	}
	is, err := sub.Lstat(".") // fails if the folder cannot be searched
	if err == nil && !os.SameFile(was, is) {
		err = errReplaced
	}
	if err != nil {
		return nil, errors.Join(err, sub.Close())
	}
	return sub, nil
}

// closed reports whether the owner of a folder has closed it to himself. Root can read it nevertheless, but not in the sandbox.
func closed(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Getuid() && st.Mode().Perm()&0o500 != 0o500
}

// giveBack gives the owner of a folder its rights back.
func giveBack(r *os.Root, name string) error {
	st, err := r.Lstat(name)
	if err != nil || !st.IsDir() {
		return err
	}
	return r.Chmod(name, st.Mode().Perm()|0o700)
}

// linkedFolder records a link with the name of a folder that governs by what is in it.
func (l *look) linkedFolder(path string, form folderForm) {
	var found []string
	for _, name := range form.names {
		if _, err := os.Lstat(filepath.Join(path, name)); err == nil {
			found = append(found, filepath.Join(path, name))
		}
	}
	if form.usual && len(found) == 0 {
		return
	}
	l.out.Fixed = append(l.out.Fixed, path)
	l.out.Links[path] = resolved(path)
	for _, f := range found {
		l.hops(f)
		l.out.Through[resolved(f)] = path
	}
}

// links records where a governed link leads, and the links in a governed folder.
func (l *look) links(r *os.Root, path string, e entry) {
	if e.mode&fs.ModeSymlink != 0 {
		l.out.Links[path] = resolved(path)
		l.hops(path)
		return
	}
	if !e.mode.IsDir() {
		return
	}
	sub, err := openFolder(r, e.name)
	if err != nil {
		return
	}
	defer func() { _ = sub.Close() }()
	_ = fs.WalkDir(sub.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink != 0 {
			l.hops(filepath.Join(path, name))
		}
		return nil //nolint:nilerr // the folder is read-only as a whole; what cannot be read leads nowhere
	})
}

// target protects what a link leads to, if it lies in what may be written.
func (l *look) target(path string) {
	for _, root := range l.roots {
		if path != root && below(path, root) {
			l.out.Targets = append(l.out.Targets, path)
		}
	}
}

// hops protects the links on the way of a path: whoever changes one of them leads it elsewhere.
func (l *look) hops(path string) {
	const most = 40 // as many as the kernel follows
	for range most {
		next := ""
		for i := 1; i <= len(path) && next == ""; i++ {
			if i < len(path) && path[i] != '/' {
				continue
			}
			to, err := os.Readlink(path[:i])
			if err != nil {
				continue
			}
			l.target(path[:i])
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(path[:i]), to)
			}
			next = filepath.Join(to, path[i:])
		}
		if next == "" {
			l.target(path)
			return
		}
		path = next
	}
}

// resolved is where a path leads, without links; "" if it leads nowhere.
func resolved(path string) string {
	to, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return to
}

// gitName is the name of a repository's folder, or of a file that says where it is.
const gitName = ".git"

// gitParts are the parts of a git directory by which it is one, and those that name what git runs or where it looks
// (gitrepository-layout(5)). The folder commondir names has the configuration, so it governs as well.
var gitParts = map[string]bool{gitName: true, "head": true, "objects": true, "refs": true, "commondir": true, "gitdir": true,
	"config": true, "config.worktree": true, "hooks": true, "worktrees": true}

// repository records the parts of a git directory, if a folder is one: that of a repository, a bare repository, a submodule, a linked
// worktree, or one made by hand. These are the two forms that git takes for one.
func (l *look) repository(r *os.Root, path string, entries []entry) {
	has := map[string]entry{}
	for _, e := range entries {
		if gitParts[e.folded] {
			has[e.folded] = e
		}
	}
	all := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return has[n].name == "" })
	}
	if !all("objects", "refs") && !all("head", "commondir") {
		return
	}
	for _, name := range []string{"hooks", "config.worktree", "worktrees", "commondir", "gitdir"} {
		if e, ok := has[name]; ok {
			l.record(filepath.Join(path, e.name), true)
		}
	}
	config, ok := has["config"]
	if !ok {
		return
	}
	file := filepath.Join(path, config.name)
	data, err := readSmall(r, config.name)
	if err != nil { // a link, a pipe, or too large: no copy can be made of it
		l.record(file, true)
		return
	}
	l.out.Configs = append(l.out.Configs, file)
	l.named(path, data)
}

// named records files and folders that a git configuration names, from which git takes hooks and more configuration.
func (l *look) named(dir string, data []byte) {
	if l.git == "" || !gitconfig.NamesFiles(data) {
		return
	}
	top := dir
	if filepath.Base(dir) == gitName {
		top = filepath.Dir(dir)
	}
	all, err := gitconfig.Files(l.ctx, l.git, l.scan, data)
	if err != nil {
		return // git cannot read it either
	}
	for _, f := range all {
		path := f.Path
		switch rest, ok := strings.CutPrefix(path, "~/"); {
		case ok:
			path = filepath.Join(l.home, rest)
		case filepath.IsAbs(path):
		case f.Hooks:
			path = filepath.Join(top, path)
		default:
			path = filepath.Join(dir, path)
		}
		if path = filepath.Clean(path); slices.ContainsFunc(l.roots, func(r string) bool { return path != r && below(path, r) }) {
			if _, err := os.Lstat(path); err == nil {
				l.record(path, true)
				l.hops(path)
			}
		}
	}
}

// pointer records a file named .git, which says where the repository of a folder is.
func (l *look) pointer(r *os.Root, path, name string) {
	l.record(path, true)
	data, err := readSmall(r, name)
	if err != nil {
		return
	}
	to, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	if !ok {
		return
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(path), to)
	}
	to = resolved(to)
	if slices.ContainsFunc(l.roots, func(root string) bool { return to != "" && below(to, root) }) {
		l.out.Inside = append(l.out.Inside, path)
	}
}

// mostConfig bounds a configuration of git in bytes.
const mostConfig = 1 << 20

var errNotSmall = errors.New("it is no regular file, or larger than a mebibyte")

// readSmall reads a small regular file. It does not follow a link, and does not wait for a pipe.
func readSmall(r *os.Root, name string) ([]byte, error) {
	st, err := r.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > mostConfig {
		return nil, errNotSmall
	}
	f, err := r.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if is, err := f.Stat(); err != nil || !os.SameFile(st, is) {
		return nil, errors.Join(err, errReplaced)
	}
	data, err := io.ReadAll(io.LimitReader(f, mostConfig+1))
	if err == nil && len(data) > mostConfig {
		err = errNotSmall
	}
	return data, err
}
