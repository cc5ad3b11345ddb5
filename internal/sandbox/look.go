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

	"mycelium/internal/credential/held"
	"mycelium/internal/policy"
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
	all     bool   // every file has secrets, by the folder that it lies in
	covers  bool   // commits do not show files that are closed
	common  string // the folder of git with its configuration
	closer  *policy.Closer

	session  *Session         // nil: each folder is read
	known    map[string]*list // of the last look, by path
	lists    map[string]*list // for the next one
	device   uint64           // of the root that is looked at
	reliable bool             // the times of its folders tell when they were changed

	repositories []string // roots that are folders of git
	fixed        bool     // it is in a folder that is read-only as a whole
	inGit        bool     // it is in a folder of git, whose parts are looked at for themselves
	out          Guarded
}

// look looks for what is guarded. before is nil before the command. After it, a folder that its owner closed meanwhile is opened again, and
// there is no bound: the command chooses how many files it leaves.
func (c *Command) look(ctx context.Context, before *Guarded) (*Guarded, error) {
	closed := c.Closed
	if before != nil {
		closed = before.Closed // of the command that ran, which is not always this one
	}
	if c.Untrusted { // its index is not read, so that a covered file would be committed as it looks
		closed.Rules = slices.Clone(closed.Rules)
		for i := range closed.Rules {
			closed.Rules[i].Read = false
		}
	}
	closer, err := closed.Compile(c.Project)
	if err != nil {
		return nil, fmt.Errorf("find what the policy closes: %w", err)
	}
	l := &look{ctx: ctx, forms: guardedForms(c.Project, c.Home), roots: c.roots(), git: c.git(), home: c.Home, scan: c.Scratch,
		after: before != nil, closer: closer, covers: c.scrubs(), common: c.commonDir(), session: c.Session, lists: map[string]*list{}, out: Guarded{Closed: closed,
			Project: c.Project, Write: c.Write, Worktree: c.Worktree, Links: map[string]string{},
			Through: map[string]string{}}}
	if c.Worktree != nil {
		l.repositories = []string{c.Worktree.Own, c.Worktree.Common}
	}
	key := l.key(c)
	l.known = l.session.known(key)
	if l.after {
		l.closed = set(before.Hidden, before.Secrets)
	} else {
		l.given, l.index = set(c.Read, c.Write), c.gitIndex()
	}
	for _, root := range l.roots {
		if err := l.root(root); err != nil {
			return nil, fmt.Errorf("look for what governs agents in %s: %w", root, err)
		}
	}
	if !l.after {
		l.behind(closer.Literals())
		if err := l.readOnly(c.Read); err != nil {
			return nil, err
		}
	}
	l.session.keep(key, l.lists)
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
	if l.device, l.reliable, err = device(r); err != nil {
		return err
	}
	l.inGit = strings.Contains(root+"/", "/"+gitName+"/") || slices.Contains(l.repositories, root)
	defer func() { l.inGit = false }()
	return l.folder(&dir{root: r}, root, 0, l.list(root))
}

// device returns the device of an open folder, and whether the times of folders on it tell when they were changed.
func device(r *os.Root) (id uint64, reliable bool, err error) {
	f, err := r.Open(".")
	if err != nil {
		return 0, false, err
	}
	id, reliable = folder.Reliable(int(f.Fd())) //nolint:gosec // a descriptor
	return id, reliable, f.Close()
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// entry is a name in a folder that may count.
type entry struct {
	name, folded string
	mode         fs.FileMode
	closed       bool // rules close it; of a link this is not known
	secrets      bool // it is a folder for secrets, by its path
}

// folder looks at a folder. k is its list, if it is known.
func (l *look) folder(d *dir, path string, level int, k *list) (err error) {
	if k == nil {
		k, err = l.read(d, path)
	} else {
		err = l.count(k.names)
	}
	if err != nil {
		return err
	}
	if !l.fixed {
		l.repository(d, path, k.entries)
	}
	for _, e := range k.entries {
		if err := l.entry(d, filepath.Join(path, e.name), e, level); err != nil {
			return err
		}
	}
	return nil
}

// errTooMany says that a project is too large.
var errTooMany = fmt.Errorf("there are more than %d files: the sandbox cannot tell in time which of them govern agents", mostEntries)

// count counts names.
func (l *look) count(names int) error {
	if l.counts += names; l.counts > mostEntries && !l.after {
		return errTooMany
	}
	return nil
}

// read lists the names of a folder that may count. One that is not there any more has none.
func (l *look) read(d *dir, path string) (*list, error) {
	r, err := d.open()
	if err != nil {
		return nil, err
	}
	f, err := r.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	k, fd, began := &list{}, int(f.Fd()), l.session.now() //nolint:gosec // a descriptor
	stamp, stamped := folder.StampOf(fd)
	err = l.reader.List(fd, func(name string, mode fs.FileMode) error {
		k.names++
		if err := l.count(1); err != nil {
			return err
		}
		l.folded = paths.Fold(l.folded[:0], name)
		closed := l.closes(path, name)
		if l.all || mode&(fs.ModeDir|fs.ModeSymlink|fs.ModeSocket) != 0 || gitParts[string(l.folded)] || l.forms.last[string(l.folded)] ||
			closed || len(l.forms.ends[string(l.folded)]) > 0 || (!l.after || l.session != nil) && (secretfile.Known(l.folded) || lockFiles[name]) {
			secrets := mode.IsDir() && holdsSecrets(path+"/"+name, l.home)
			k.entries = append(k.entries, entry{name, string(l.folded), mode, closed, secrets})
		}
		return nil
	})
	if err = ignoreAbsent(err); err != nil {
		return nil, err
	}
	l.learn(path, stamp, stamped, began, k)
	return k, nil
}

// closes reports whether rules close a file, by its name in a folder.
func (l *look) closes(folder, name string) bool {
	if l.inGit || !l.closer.Any() {
		return false
	}
	path := folder + "/" + name
	read, change := l.closer.Of(path, path)
	return read || change
}

// entry looks at one name.
func (l *look) entry(d *dir, path string, e entry, level int) error {
	if b, ok := l.forms.of(path, e.folded); ok {
		if b.ChangeOnly && !l.after { // a rule may close it to be read as well
			if done, err := l.byRules(d, path, e, level); done {
				return err
			}
		}
		switch {
		case b.ChangeOnly:
			l.record(path, true)
			l.links(d, path, e)
			return l.inFixed(d, path, e, level)
		case !secretfile.Known([]byte(e.folded)) || !l.track(path, true, true):
			l.record(path, false)
		}
		return nil
	}
	if done, err := l.byRules(d, path, e, level); done {
		return err
	}
	switch secret := !l.after && l.secret(path, e); {
	case secret && e.mode.IsDir() && l.index.below(path): // git would take an empty folder for files that were removed
		was := l.all
		l.all = true
		defer func() { l.all = was }()
	case secret:
		if !l.track(path, false, false) {
			l.out.Secrets = append(l.out.Secrets, path)
		}
		return nil
	}
	if e.mode&fs.ModeSymlink != 0 {
		if form, ok := l.forms.folders[e.folded]; ok && !l.fixed {
			l.linkedFolder(path, form)
		}
		return nil
	}
	switch {
	case !l.after && e.mode.IsRegular() && lockFiles[e.name]:
		l.out.Locks = append(l.out.Locks, path)
	case e.mode&fs.ModeSocket != 0:
		if r, err := d.open(); err == nil && !l.after && jail.Bound(r, e.name) {
			l.out.Sockets = append(l.out.Sockets, path)
		}
	case e.folded == gitName && !e.mode.IsDir() && !l.fixed:
		l.pointer(d, path, e.name)
	case e.mode.IsDir() && (level >= mostLevels || len(path) > mostPath):
		l.record(path, true)
	case e.mode.IsDir():
		return l.into(d, path, e.name, level)
	}
	return nil
}

// byRules looks at a name that the rules of the policy may close. It returns true if nothing else is to be looked at.
func (l *look) byRules(d *dir, path string, e entry, level int) (done bool, err error) {
	if !l.closer.Any() || l.inGit || e.folded == gitName || l.given[path] {
		return false, nil
	}
	to := path
	if e.mode&fs.ModeSymlink != 0 {
		to = resolved(path)
	} else if !e.closed {
		return false, nil
	}
	read, change := l.closer.Of(path, to)
	if e.mode&fs.ModeSymlink != 0 {
		if !read && !l.after {
			if read, err = l.through(path, to); err != nil {
				return true, err
			}
		}
		hidden, _ := l.closer.Of(to, to) // then what it leads to is hidden where it is
		read = read && !hidden
	}
	switch {
	case !read && !change:
		return false, nil
	case e.mode.IsDir():
		return l.folderByRules(d, path, to, e, level)
	case l.after && l.closed[path]: // it was hidden, and nobody could change it
	case read && !l.after:
		l.hide(path, to)
	case change && (l.after || !l.secret(path, e)): // what looks empty is not changed either
		l.record(path, true)
		l.links(d, path, e)
	default:
		return false, nil
	}
	return true, nil
}

// hide hides a file, or a link that leads to another path. A link that git has is not covered, because git would take that for another kind
// of file: what it leads to is hidden.
func (l *look) hide(path, to string) {
	if _, has := l.index.find(path); has && to != path && to != "" {
		if st, err := os.Lstat(to); err == nil && st.Mode().IsRegular() {
			path = to
		}
	}
	if !l.track(path, false, true) {
		l.out.Hidden = append(l.out.Hidden, path)
	}
}

// through reports whether rules close the name of a file that a link to a folder leads to. Links in folders of packages are not followed:
// some managers make thousands of them.
func (l *look) through(path, to string) (closed bool, err error) {
	if st, err := os.Lstat(to); err != nil || !st.IsDir() || below(path, to) || !held.MayHold(path) {
		return false, nil //nolint:nilerr // it leads to no folder
	}
	err = filepath.WalkDir(to, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // nor can the command read it
		}
		if l.counts++; l.counts > mostEntries {
			return fmt.Errorf("there are more than %d files with those that links lead to", mostEntries)
		}
		if d.Name() == gitName {
			return fs.SkipDir
		}
		if read, _ := l.closer.Of(path+strings.TrimPrefix(name, to), name); read {
			if own, _ := l.closer.Of(name, name); !own {
				closed = true
				return fs.SkipAll
			}
		}
		return nil
	})
	return closed, err
}

// folderByRules is byRules for a folder. If everything in it is closed, it is closed as a whole; what git has in it is looked at one by one,
// because git would take an empty folder for files that were removed.
func (l *look) folderByRules(d *dir, path, to string, e entry, level int) (done bool, err error) {
	read, change := l.closer.Whole(path, to)
	switch {
	case l.after && l.closed[path]:
	case read && !l.after && !l.index.below(path):
		l.out.Hidden = append(l.out.Hidden, path)
	case change && !read && (l.after || !l.secret(path, e)):
		l.record(path, true)
		l.links(d, path, e)
		return true, l.inFixed(d, path, e, level)
	default:
		return false, nil
	}
	return true, nil
}

// behind hides the files to which literal paths of rules lead through links.
func (l *look) behind(paths []string) {
	for _, path := range paths {
		to := resolved(path)
		read, change := l.closer.Of(path, to)
		inside := slices.ContainsFunc(l.roots, func(root string) bool { return to != root && below(to, root) })
		switch {
		case to == "" || to == path || !inside || l.given[to]:
		case read:
			l.out.Hidden = append(l.out.Hidden, to)
		case change:
			l.record(to, true)
		}
	}
}

// readOnly looks for names that rules close in the further files and folders of the command. Git's objects for workers have no names there.
func (l *look) readOnly(paths []string) error {
	for _, path := range paths {
		if !l.closer.Any() || slices.ContainsFunc(l.roots, func(root string) bool { return below(path, root) }) {
			continue
		}
		err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return ignoreAbsent(err)
			}
			if l.counts++; l.counts > mostEntries {
				return fmt.Errorf("there are more than %d files: the sandbox cannot tell in time which of them rules close", mostEntries)
			}
			if d.IsDir() && d.Name() == "objects" && strings.Contains(name, "/.objects/") {
				return fs.SkipDir
			}
			to := name
			if d.Type()&fs.ModeSymlink != 0 {
				to = resolved(name)
			}
			if whole, _ := l.closer.Whole(name, to); whole && d.IsDir() {
				l.out.Hidden = append(l.out.Hidden, name)
				return fs.SkipDir
			}
			if read, _ := l.closer.Of(name, to); read && !d.IsDir() {
				l.out.Hidden = append(l.out.Hidden, name)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("look for what rules close in %s: %w", path, err)
		}
	}
	return nil
}

// inFixed looks into a folder that is read-only as a whole, for files that must not be read.
func (l *look) inFixed(d *dir, path string, e entry, level int) error {
	if l.after || l.inGit || !e.mode.IsDir() || level >= mostLevels {
		return nil
	}
	was := l.fixed
	l.fixed = true
	defer func() { l.fixed = was }()
	return l.into(d, path, e.name, level)
}

func (l *look) record(path string, changeOnly bool) {
	if changeOnly && l.fixed {
		return // it is read-only already
	}
	if changeOnly {
		l.out.Fixed = append(l.out.Fixed, path)
	} else {
		l.out.Hidden = append(l.out.Hidden, path)
	}
}

// into looks at a folder in another one. One that cannot be read or searched hides nothing: before the command it is covered, so that the
// command cannot open it; after the command its owner's rights come back.
func (l *look) into(d *dir, path, name string, level int) error {
	sub := &dir{up: d, name: name}
	defer sub.close()
	wasInGit := l.inGit
	l.inGit = wasInGit || paths.FoldString(name) == gitName
	defer func() { l.inGit = wasInGit }()
	k := l.list(path)
	if k != nil {
		return l.folder(sub, path, level+1, k)
	}
	_, err := sub.open()
	if errors.Is(err, fs.ErrPermission) && l.after && !l.closed[path] {
		if r, upErr := d.open(); upErr == nil && giveBack(r, name) == nil {
			_, err = sub.open()
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
	return l.folder(sub, path, level+1, nil)
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
func (l *look) links(d *dir, path string, e entry) {
	if e.mode&fs.ModeSymlink != 0 {
		l.out.Links[path] = resolved(path)
		l.hops(path)
		return
	}
	if !e.mode.IsDir() {
		return
	}
	sub := &dir{up: d, name: e.name}
	defer sub.close()
	r, err := sub.open()
	if err != nil {
		return
	}
	_ = fs.WalkDir(r.FS(), ".", func(name string, d fs.DirEntry, err error) error {
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
func (l *look) repository(d *dir, path string, entries []entry) {
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
	r, err := d.open()
	var data []byte
	if err == nil {
		data, err = readSmall(r, config.name)
	}
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
func (l *look) pointer(d *dir, path, name string) {
	l.record(path, true)
	r, err := d.open()
	if err != nil {
		return
	}
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
func readSmall(r *os.Root, name string) ([]byte, error) { return readUpTo(r, name, mostConfig) }

// readUpTo is readSmall for files of another size.
func readUpTo(r *os.Root, name string, most int64) ([]byte, error) {
	st, err := r.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > most {
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
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = errNotSmall
	}
	return data, err
}
