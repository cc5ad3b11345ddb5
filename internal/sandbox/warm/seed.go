// Package warm keeps the parts of tools' caches that commands in the sandbox find before they have put anything there themselves. What it
// keeps lies outside of every project, and commands read it and never write it.
package warm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mycelium/internal/atomicfile"
	"mycelium/internal/lazy"
)

// Seeds is a folder with seeds of Go's build cache. A seed is the compiled standard library of one toolchain with one set of settings. It is
// made once for all projects.
type Seeds string

// SeedsInside is where a command finds [Seeds.Folder]. The path is short, so that a link to a file of a seed needs no block of its own:
// ext4 keeps up to 59 bytes of a link in the inode.
const SeedsInside = "/run/mycelium/seeds"

// goBuild is Go's build cache, in the folder of caches.
const goBuild = "go-build"

// namesFile lists the files of a seed by the names that Go's build cache gives them. The file of line N is called N, from 0.
const namesFile = "names"

// mostSeeds bounds the seeds that are kept. Each has about 250 MB. The oldest one goes.
const mostSeeds = 6

var (
	seedID = lazy.Regexp(`^[0-9a-f]{12}$`)
	// cacheName is a file of Go's build cache, by the source of cmd/go/internal/cache: the entry of an action, or a file of data. Programs
	// (go run) lie in folders, and are no part of a seed.
	cacheName = lazy.Regexp(`^([0-9a-f]{2})/([0-9a-f]{64})-[ad]$`)
)

// never is the time of change of the files of a seed. Go removes what it did not use for five days, by this time, and sets it when it uses a
// file, unless the file is newer.
var never = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// Folder is what a command may read: the finished seeds and nothing else.
func (s Seeds) Folder() string { return filepath.Join(string(s), "go") }

// Has reports whether a seed is there. Its id has 12 hexadecimal digits.
func (s Seeds) Has(id string) bool {
	_, err := os.Lstat(filepath.Join(s.Folder(), id, namesFile))
	return err == nil && seedID().MatchString(id)
}

// seedWait is how long Make waits for another process that makes a seed, which takes minutes.
const seedWait = 15 * time.Minute

// Make makes a seed, if it is not there. fill fills a build cache in an empty folder that it is given. The seed shows in [Seeds.Folder] when it
// is complete. made is false if it was there, or if somebody else made it meanwhile.
func (s Seeds) Make(ctx context.Context, id string, fill func(work string) (cache string, err error)) (made bool, err error) {
	if !seedID().MatchString(id) {
		return false, fmt.Errorf("make a seed: %q is no id of a seed", id)
	}
	if err := os.MkdirAll(s.Folder(), 0o700); err != nil {
		return false, fmt.Errorf("make the folder of seeds: %w", err)
	}
	lock, err := atomicfile.LockWithin(ctx, filepath.Join(string(s), "making.lock"), seedWait)
	if err != nil {
		return false, fmt.Errorf("wait for somebody else who makes a seed: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	if s.Has(id) {
		return false, nil
	}
	making := filepath.Join(string(s), "making")
	if err := os.RemoveAll(making); err != nil { // what a run that was killed left
		return false, fmt.Errorf("remove a seed that was not finished: %w", err)
	}
	if err := os.MkdirAll(making, 0o700); err != nil {
		return false, fmt.Errorf("make a seed: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(making)) }()
	cache, err := fill(making)
	if err == nil {
		err = s.finish(filepath.Join(making, "seed"), cache, id)
	}
	if err != nil {
		return false, fmt.Errorf("make a seed of Go's build cache: %w", err)
	}
	return true, s.prune(id)
}

// finish turns a build cache into a seed, in a folder beside it.
func (s Seeds) finish(seed, cache, id string) error {
	if err := os.Mkdir(seed, 0o700); err != nil {
		return err
	}
	var names []string
	err := filepath.WalkDir(cache, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, cache+"/")
		if err != nil || !d.Type().IsRegular() || !cacheName().MatchString(name) {
			return err
		}
		file := filepath.Join(seed, strconv.Itoa(len(names)))
		names = append(names, name)
		return errors.Join(os.Rename(path, file), os.Chmod(file, 0o400), os.Chtimes(file, never, never)) //nolint:gosec // the command that made it has ended
	})
	if err == nil && len(names) == 0 {
		err = errors.New("nothing was compiled")
	}
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(seed, namesFile), []byte(strings.Join(names, "\n")), 0o400); err != nil {
		return err
	}
	unix.Sync() // a seed that shows is whole, also after the machine has lost its power
	return os.Rename(seed, filepath.Join(s.Folder(), id))
}

// prune removes the oldest seeds, and not the one that was just made.
func (s Seeds) prune(made string) error {
	ids := s.ids()
	if len(ids) <= mostSeeds {
		return nil
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == made })
	slices.SortFunc(ids, func(a, b string) int { return s.finished(a).Compare(s.finished(b)) })
	for _, id := range ids[:len(ids)+1-mostSeeds] {
		if err := os.RemoveAll(filepath.Join(s.Folder(), id)); err != nil {
			return fmt.Errorf("remove an old seed: %w", err)
		}
	}
	return nil
}

// finished is when a seed was finished.
func (s Seeds) finished(id string) time.Time {
	st, err := os.Lstat(filepath.Join(s.Folder(), id, namesFile))
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// ids lists the seeds that are finished, in order.
func (s Seeds) ids() (ids []string) {
	entries, _ := os.ReadDir(s.Folder())
	for _, e := range entries {
		if s.Has(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids
}

// Lay lays links to the files of all seeds into a project's own folder of caches, where they are not laid yet. A command that replaces or
// removes a link changes its own project's cache only: what the link leads to is mounted read-only. Commands may write the folder, now too;
// nothing in it leads Lay out of it.
func (s Seeds) Lay(caches string) error {
	ids, note := s.ids(), caches+".seeds"
	was, err := os.ReadFile(note)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read which seeds a project has: %w", err)
	}
	laid := strings.Fields(string(was))
	if len(ids) == 0 && len(laid) == 0 {
		return nil
	}
	root, err := os.OpenRoot(caches)
	if err != nil {
		return fmt.Errorf("open the caches of a project: %w", err)
	}
	defer func() { _ = root.Close() }()
	gone := slices.ContainsFunc(laid, func(id string) bool { return !slices.Contains(ids, id) })
	if gone { // Go does not write over a link that leads nowhere
		s.unlink(root)
	}
	for _, id := range ids {
		if gone || !slices.Contains(laid, id) || !s.isLaid(root, id) {
			err = errors.Join(err, s.lay(root, id))
		}
	}
	if err == nil && !slices.Equal(ids, laid) {
		err = atomicfile.Note(note, []byte(strings.Join(ids, "\n")), 0o600)
	}
	if err != nil {
		return fmt.Errorf("lay links to a seed: %w", err)
	}
	return nil
}

// names are the files of a seed, in the order of their numbers.
func (s Seeds) names(id string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(s.Folder(), id, namesFile))
	return strings.Split(string(data), "\n"), err
}

// isLaid reports whether the first link of a seed is there: `go clean -cache` removes all of them.
func (s Seeds) isLaid(root *os.Root, id string) bool {
	f, err := os.Open(filepath.Join(s.Folder(), id, namesFile))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	var first [2 + 1 + 64 + 2]byte // as cacheName has it
	if _, err := f.Read(first[:]); err != nil {
		return false
	}
	_, err = root.Lstat(filepath.Join(goBuild, string(bytes.TrimSpace(first[:]))))
	return err == nil
}

// lay lays the links to the files of one seed. A name that is there stays.
func (s Seeds) lay(root *os.Root, id string) error {
	names, err := s.names(id)
	if err != nil {
		return err
	}
	var dir *os.Root
	at := ""
	defer func() { closeRoot(dir) }()
	for i, name := range names {
		folder, base, ok := strings.Cut(name, "/")
		if !ok || !cacheName().MatchString(name) {
			continue
		}
		if folder != at {
			closeRoot(dir)
			at = folder
			if dir, err = makeFolder(root, filepath.Join(goBuild, folder)); err != nil {
				return err
			}
		}
		if err := dir.Symlink(SeedsInside+"/"+id+"/"+strconv.Itoa(i), base); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// makeFolder makes a folder and opens it.
func makeFolder(root *os.Root, name string) (*os.Root, error) {
	if err := root.MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	return root.OpenRoot(name)
}

func closeRoot(r *os.Root) {
	if r != nil {
		_ = r.Close()
	}
}

// unlink removes every link to a seed.
func (s Seeds) unlink(root *os.Root) {
	for n := range 256 {
		folder := filepath.Join(goBuild, fmt.Sprintf("%02x", n))
		dir, err := root.OpenRoot(folder)
		if err != nil {
			continue
		}
		entries, _ := fs.ReadDir(dir.FS(), ".")
		for _, e := range entries {
			if to, err := dir.Readlink(e.Name()); err == nil && strings.HasPrefix(to, SeedsInside+"/") {
				_ = dir.Remove(e.Name())
			}
		}
		closeRoot(dir)
	}
}
