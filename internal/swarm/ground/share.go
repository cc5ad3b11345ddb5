package ground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"mycelium/internal/credential/held"
	"mycelium/internal/policy/secretfile"
	"mycelium/internal/text"
)

// share copies what is shared into a new tree. A path that is not there is passed over: the project may not have been built yet.
func (t *Tree) share(ctx context.Context) error {
	if len(t.repo.opts.Share) == 0 {
		return nil
	}
	from, err := os.OpenRoot(t.repo.mainProject())
	if err != nil {
		return fmt.Errorf("share files of the project: %w", err)
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenRoot(t.Project)
	if err != nil {
		return fmt.Errorf("share files with the working tree of %s: %w", t.Attempt, err)
	}
	defer func() { _ = to.Close() }()
	var copied []string
	for _, name := range t.repo.opts.Share {
		name = path.Clean(name)
		if !fs.ValidPath(name) || name == "." || slices.Contains(strings.Split(name, "/"), ".git") {
			return text.Hinted(fmt.Errorf("swarm.share has %s, which is no path in the project", strconv.Quote(name)),
				"name it without .. and .git")
		}
		if _, err := from.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := copyTree(ctx, from, to, name); err != nil {
			return fmt.Errorf("share %s with the working tree of %s: %w", strconv.Quote(name), t.Attempt, err)
		}
		copied = append(copied, name)
	}
	return t.checkIgnored(ctx, copied)
}

// checkIgnored refuses shared files that git would take for the work of the attempt.
func (t *Tree) checkIgnored(ctx context.Context, names []string) error {
	g := t.in()
	for _, name := range names {
		spec := filepath.Join(t.Project, name)
		out, err := g.List(ctx, "--literal-pathspecs", "ls-files", "-z", "--others", "--exclude-standard", "--directory", "--", spec)
		if err != nil {
			return fmt.Errorf("share %s: %w", strconv.Quote(name), err)
		}
		if len(out) > 0 {
			return text.Hinted(fmt.Errorf("swarm.share has %s, which git does not ignore, so that every worker would seem to have made it",
				strconv.Quote(name)), "put it into .gitignore, or commit it")
		}
	}
	return nil
}

// copyTree copies a file or a folder from one root to the same path in another. Symbolic links stay links, what is there already
// stays, a file with secrets below the named one is left out, and so is what is no file, folder or link.
func copyTree(ctx context.Context, from, to *os.Root, name string) error {
	if dir := path.Dir(name); dir != "." {
		if err := to.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // as git makes folders
			return err
		}
	}
	if info, err := from.Lstat(name); err != nil || info.Mode().Type() == fs.ModeSymlink {
		return errors.Join(err, copyOne(from, to, name, fs.ModeSymlink)) // WalkDir would follow it
	}
	var dirs []string
	err := fs.WalkDir(from.FS(), name, func(at string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if at != name && secret(filepath.Join(from.Name(), at), d) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			dirs = append(dirs, at)
		}
		return copyOne(from, to, at, d.Type())
	})
	for _, dir := range slices.Backward(dirs) { // a folder that is read-only becomes so when it is full
		if info, statErr := from.Lstat(dir); err == nil && statErr == nil {
			err = errors.Join(to.Chtimes(dir, info.ModTime(), info.ModTime()), to.Chmod(dir, info.Mode().Perm()))
		}
	}
	return err
}

// secret reports whether a file has secrets, or everything in a folder has. Of a published package only the names of the table that prove
// something count, such as .env.
func secret(name string, d fs.DirEntry) bool {
	if d.IsDir() {
		row, ok := secretfile.Of(name+"/_", "")
		return ok && strings.HasSuffix(row.Path, "/")
	}
	row, ok := secretfile.Of(name, "")
	return ok && row.Grade == secretfile.Named || held.MayHold(name) && (*held.Reader)(nil).Secret(name, "")
}

func copyOne(from, to *os.Root, name string, kind fs.FileMode) (err error) {
	switch kind {
	case fs.ModeDir:
		err = to.Mkdir(name, 0o700)
	case fs.ModeSymlink:
		var target string
		if target, err = from.Readlink(name); err == nil {
			err = to.Symlink(target, name)
		}
	case 0:
		err = copyFile(from, to, name)
	default: // a socket or a device is no file to share
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// copyFile copies a file, so that both share their blocks where the file system can (a reflink). It is never a hard link: a tool
// that writes in place would write into the project.
func copyFile(from, to *os.Root, name string) (err error) {
	src, err := from.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that was put in its place does not block
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	info, err := src.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	dst, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if clone(dst, src) != nil {
		_, err = io.Copy(dst, src)
	}
	err = errors.Join(err, dst.Chmod(info.Mode().Perm()), dst.Close())
	return errors.Join(err, to.Chtimes(name, info.ModTime(), info.ModTime()))
}
