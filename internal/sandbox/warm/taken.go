package warm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"mycelium/internal/atomicfile"
)

// Taken is a folder with what the commands of one project find of the person's own caches: the files that the project's lock files name by
// their hash, as copies that have this hash. A person's cache holds other projects as well, and whatever a program outside put there; a copy
// is compared once, and nothing that happens to the original afterwards changes it.
type Taken string

// The parts of the folder.
const (
	proxyFolder = "proxy" // modules of Go, as a proxy of modules has them (https://go.dev/ref/mod#goproxy-protocol)
	npmFolder   = "npm"   // content of the cache of npm
	notesFolder = "notes" // a note for each working tree; no command sees it
)

// Proxy is the folder of the modules.
func (t Taken) Proxy() string { return filepath.Join(string(t), proxyFolder) }

// NPM is the folder that npm finds as its cache.
func (t Taken) NPM() string { return filepath.Join(string(t), npmFolder) }

// Lock is a lock file of a project.
type Lock struct {
	Path string // which decides by its last name how it is read
	Data []byte
}

// Locks are the names of the lock files that are read.
func Locks() []string { return slices.Sorted(maps.Keys(readers)) }

// readers read lock files, by their names.
var readers = map[string]func(l lists, data []byte){
	"go.sum": lists.sums, "go.work.sum": lists.sums, "package-lock.json": lists.packages, "npm-shrinkwrap.json": lists.packages,
}

// lists are the files that lock files name, by their places in the folder.
type lists map[string]item

// item is a file that a lock file names.
type item struct {
	from string   // below the person's home
	sums []string // the hashes that it may have, as the lock file writes them
	// take copies the file, if it has one of the hashes. Otherwise it returns errOther.
	take func(from *os.File, to *os.File, sums []string) error
}

// errOther means that a file of the person's cache does not have the content that a lock file names, or that there is no such file.
var errOther = errors.New("it does not have the hash that the lock file names")

// add adds a file. Two lock files may name different contents for it: what has one of them is taken.
func (l lists) add(to string, i item) {
	i.sums = append(i.sums, l[to].sums...)
	l[to] = i
}

// note says for what the folder was filled, so that the next command need not look again.
type note struct {
	Locks   string            // the state of the lock files, as the caller knows it
	Lacking map[string]string // files of the person's cache that were not there or had another content, with what [stamp] said of each
}

// Refused are the files of the person's caches that do not have the content that the lock files name, by their paths.
type Refused []string

// Fill adds what the lock files of a working tree name and the person's caches in a home folder have. What they named earlier stays: other
// trees of the project may name it. state identifies the lock files as they are now; read reads them, and is called if they are others than
// the last time, or if a file is there now that was not.
func (t Taken) Fill(home, tree, state string, read func() []Lock) (Refused, error) {
	if n := t.note(tree); n.Locks == state && n.stands(home) {
		return n.refused(home), nil
	}
	if err := os.MkdirAll(filepath.Join(string(t), notesFolder), 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for what lock files name: %w", err)
	}
	lock, err := atomicfile.LockWait(filepath.Join(string(t), "lock"), fillWait)
	if err != nil {
		return nil, fmt.Errorf("wait for another command that takes what lock files name: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	if n := t.note(tree); n.Locks == state && n.stands(home) {
		return n.refused(home), nil
	}
	if err := errors.Join(os.RemoveAll(t.work()), os.Mkdir(t.work(), 0o700)); err != nil {
		return nil, fmt.Errorf("make a folder for copies: %w", err)
	}
	l := lists{}
	for _, lock := range read() {
		if r := readers[filepath.Base(lock.Path)]; r != nil {
			r(l, lock.Data)
		}
	}
	n := note{state, map[string]string{}}
	data, err := []byte(nil), errors.Join(t.takeAll(home, l, n.Lacking), os.RemoveAll(t.work()))
	if err == nil {
		data, err = json.Marshal(n)
	}
	if err == nil {
		err = atomicfile.Note(t.noteFile(tree), data, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("take what lock files name from the caches: %w", err)
	}
	return n.refused(home), nil
}

// fillWait is how long a command waits for another one that fills the folder, which takes seconds.
const fillWait = 2 * time.Minute

// work is where copies are made and compared. No command sees it.
func (t Taken) work() string { return filepath.Join(string(t), "work") }

// noteFile is the note of a working tree.
func (t Taken) noteFile(tree string) string {
	sum := sha256.Sum256([]byte(tree))
	return filepath.Join(string(t), notesFolder, hex.EncodeToString(sum[:6])+".json")
}

// note reads the note of a working tree. One that cannot be read counts as none: then everything is looked at.
func (t Taken) note(tree string) (n note) {
	data, err := os.ReadFile(t.noteFile(tree))
	if err != nil || json.Unmarshal(data, &n) != nil {
		return note{}
	}
	return n
}

// stands reports whether the files that were lacking are as they were.
func (n note) stands(home string) bool {
	for from, was := range n.Lacking {
		if stamp(filepath.Join(home, from)) != was {
			return false
		}
	}
	return true
}

func (n note) refused(home string) (out Refused) {
	for from, was := range n.Lacking {
		if was != "" {
			out = append(out, filepath.Join(home, from))
		}
	}
	slices.Sort(out)
	return out
}

// stamp tells a file from what it is later; "" if it is not there.
func stamp(path string) string {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil { // each command asks for hundreds of files that are not there: [os.Stat] takes half as long again
		return ""
	}
	return fmt.Sprintf("%d %d", st.Size, st.Mtim.Nano())
}

// takeAll copies the files that are not there yet, and notes those that it does not get.
func (t Taken) takeAll(home string, l lists, lacking map[string]string) error {
	var (
		group sync.WaitGroup
		mu    sync.Mutex // guards the others
		errs  error
		names = make(chan string)
	)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for to := range names {
				i := l[to]
				was := stamp(filepath.Join(home, i.from))
				err := i.copy(home, t.work(), filepath.Join(string(t), to))
				mu.Lock()
				switch {
				case errors.Is(err, errOther):
					lacking[i.from] = was
				default:
					errs = errors.Join(errs, err)
				}
				mu.Unlock()
			}
		})
	}
	for to := range l {
		names <- to
	}
	close(names)
	group.Wait()
	return errs
}

// copy copies a file, if it is not there. It shows under its name when it has been compared.
func (i item) copy(home, work, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	from, st, err := atomicfile.Open(filepath.Join(home, i.from))
	if err != nil {
		return errors.Join(errOther, err)
	}
	defer func() { _ = from.Close() }()
	if !st.Mode().IsRegular() || st.Size() > mostFile {
		return errOther
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(work, "")
	if err != nil {
		return err
	}
	err = i.take(from, temp, i.sums)
	if err == nil {
		err = temp.Chmod(0o400)
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

// mostFile bounds a file of a cache, in bytes: the go command takes no larger module (golang.org/x/mod/zip, MaxZipFile).
const mostFile = 500 << 20

// copyAll copies a file as it is.
func copyAll(from, to *os.File) error {
	_, err := io.Copy(to, from)
	return err
}
