package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"mycelium/internal/sandbox/gitconfig"
	"mycelium/internal/sandbox/quarantine"
)

// away moves what governs out of the project. Every folder is opened from the one above, without links: another command in the sandbox may
// rename and replace folders at the same time.
type away struct {
	c      *Command
	budget int64 // bytes that may still be copied, see copyBytes
}

// copyBytes is how much is kept of what has to be copied, because the quarantine is on another file system: what the command made may be
// larger than that file system.
const copyBytes = 64 << 20

// putAway moves what governs and was not there before to the quarantine, and cleans new configurations of git.
func (c *Command) putAway(ctx context.Context, now, before *Guarded) (left Left, err error) {
	governed, configs := now.Since(before)
	a := &away{c: c, budget: copyBytes}
	for _, path := range governed {
		moved, moveErr := a.path(path)
		if moved {
			left.Quarantined = append(left.Quarantined, path)
		}
		err = errors.Join(err, moveErr)
	}
	for _, path := range configs {
		dropped, moved, cleanErr := a.config(ctx, path)
		left.Settings = append(left.Settings, dropped...)
		if moved {
			left.Quarantined = append(left.Quarantined, path)
		}
		err = errors.Join(err, cleanErr)
	}
	return left, err
}

// parent opens the folder that a path is in.
func (c *Command) parent(path string) (*os.Root, error) {
	top := ""
	for _, root := range c.roots() {
		if path != root && below(path, root) && len(root) > len(top) {
			top = root
		}
	}
	if top == "" {
		return os.OpenRoot(filepath.Dir(path)) // the caller named the file itself
	}
	r, err := os.OpenRoot(top)
	rel := strings.TrimPrefix(filepath.Dir(path), top)
	for name := range strings.SplitSeq(strings.Trim(rel, "/"), "/") {
		if err != nil || name == "" {
			break
		}
		var sub *os.Root
		sub, err = openFolder(r, name)
		if closeErr := r.Close(); err == nil {
			err = closeErr
		}
		r = sub
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// path moves one file or folder. It reports whether there was something to move.
func (a *away) path(path string) (moved bool, err error) {
	parent, err := a.c.parent(path)
	if gone(err) {
		return false, nil
	}
	if err == nil {
		defer func() { _ = parent.Close() }()
		err = a.move(parent, filepath.Base(path), path)
		if _, is := parent.Lstat(filepath.Base(path)); gone(err) && gone(is) { // and not the quarantine
			return false, nil
		}
	}
	if err != nil {
		return false, fmt.Errorf("move %q to quarantine: %w", path, err)
	}
	return true, nil
}

// gone reports whether a path is not what the look found: another command changed it, and its own end looks again.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errReplaced) }

// place opens the folder of the quarantine in which a path is put, and says under which name.
func (a *away) place(path string) (dir *os.Root, name string, err error) {
	q, err := quarantine.New(a.c.Quarantine, path)
	if err != nil {
		return nil, "", err
	}
	dir, err = os.OpenRoot(filepath.Dir(q.File))
	return dir, filepath.Base(q.File), err
}

// move renames a file or folder into the quarantine. Its owner may have closed it, or the folder that it is in.
func (a *away) move(parent *os.Root, name, path string) error {
	st, err := parent.Lstat(name)
	if err != nil {
		return err
	}
	to, toName, err := a.place(path)
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }()
	err = rename(parent, name, to, toName)
	if errors.Is(err, fs.ErrPermission) {
		err = errors.Join(giveBack(parent, "."), giveBack(parent, name))
		if err == nil {
			err = rename(parent, name, to, toName)
		}
	}
	if errors.Is(err, syscall.EXDEV) {
		// What could not be copied must not stay either: it would govern the next agent.
		return errors.Join(a.copy(parent, name, to, toName, st), remove(parent, name))
	}
	return err
}

// rename moves a name from one folder to another. A link is moved, not followed.
func rename(from *os.Root, name string, to *os.Root, toName string) error {
	f, err := from.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	t, err := to.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }()
	return unix.Renameat(int(f.Fd()), name, int(t.Fd()), toName) //nolint:gosec // descriptors
}

// copy copies what can be kept: folders, files up to the budget, and where links lead.
func (a *away) copy(from *os.Root, name string, to *os.Root, toName string, st fs.FileInfo) error {
	switch {
	case st.IsDir():
		return a.copyFolder(from, name, to, toName)
	case st.Mode()&fs.ModeSymlink != 0:
		link, err := from.Readlink(name)
		if err != nil {
			return err
		}
		return to.Symlink(link, toName)
	case !st.Mode().IsRegular():
		return nil // a pipe or a socket has no content
	}
	in, err := from.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrPermission) {
		if err = from.Chmod(name, 0o600); err == nil {
			in, err = from.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
		}
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := to.OpenFile(toName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, a.budget))
	a.budget -= n
	return errors.Join(err, out.Close())
}

func (a *away) copyFolder(from *os.Root, name string, to *os.Root, toName string) error {
	if err := errors.Join(giveBack(from, name), to.Mkdir(toName, 0o700)); err != nil {
		return err
	}
	in, err := openFolder(from, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := to.OpenRoot(toName)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	entries, err := fs.ReadDir(in.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		st, err := in.Lstat(e.Name())
		if err == nil {
			err = a.copy(in, e.Name(), out, e.Name(), st)
		}
		if ignoreAbsent(err) != nil {
			return err
		}
	}
	return nil
}

// remove removes a file or folder, also one whose owner closed it.
func remove(r *os.Root, name string) error {
	err := r.RemoveAll(name)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err := errors.Join(giveBack(r, "."), openAll(r, name)); err != nil {
		return err
	}
	return r.RemoveAll(name)
}

// openAll gives the owner the rights on a folder and on all folders in it back.
func openAll(r *os.Root, name string) error {
	if err := giveBack(r, name); err != nil {
		return err
	}
	sub, err := openFolder(r, name)
	if errors.Is(err, errReplaced) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = sub.Close() }()
	entries, err := fs.ReadDir(sub.FS(), ".")
	for _, e := range entries {
		if e.IsDir() {
			err = errors.Join(err, openAll(sub, e.Name()))
		}
	}
	return err
}

// config cleans a configuration of git that the command made: what git may run goes to the quarantine with the whole file, and a file with
// the rest takes its place.
func (a *away) config(ctx context.Context, path string) (dropped []string, moved bool, err error) {
	parent, err := a.c.parent(path)
	if gone(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("look at %q: %w", path, err)
	}
	defer func() { _ = parent.Close() }()
	name := filepath.Base(path)
	data, err := readSmall(parent, name)
	if gone(err) {
		return nil, false, nil
	}
	var kept []byte
	git := a.c.git()
	// The note and the child of the next run take names in UTF-8 only.
	readable := err == nil && git != "" && utf8.ValidString(path)
	if readable {
		kept, dropped, err = gitconfig.Clean(ctx, git, a.c.Scratch, data, func(rel string) bool {
			return !filepath.IsAbs(rel) && a.c.covers(filepath.Join(filepath.Dir(path), rel))
		})
		if err == nil && len(dropped) == 0 {
			return nil, false, nil
		}
	}
	readable = readable && err == nil // without git, or if git cannot read it, nobody knows what it says
	if err := a.move(parent, name, path); err != nil {
		return dropped, false, fmt.Errorf("move %q to quarantine: %w", path, err)
	}
	if readable {
		if err := writeNew(parent, name, kept, 0o644); err != nil {
			return dropped, true, fmt.Errorf("write %q: %w", path, err)
		}
	}
	return dropped, true, nil
}

// writeNew writes a file that is not there yet.
func writeNew(r *os.Root, name string, data []byte, mode fs.FileMode) error {
	f, err := r.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
