package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/text"
)

// lockWait is how long a writer waits for the others of the same file. Each holds the lock for some milliseconds.
const lockWait = 30 * time.Second

// Folder is where the files of the roles are. Any number of processes may use it at the same time.
type Folder struct {
	Dir    string // absolute
	Locks  string // absolute: a folder for the locks, one a file, so that none lies beside what people keep in a repository
	Shared bool   // the files are a team's, in its repository: other users may read them
}

// Stamp tells one content of a file from another one. The zero Stamp is that of a file that does not exist.
type Stamp struct {
	Inode    uint64
	Size     int64
	Modified int64 // nanoseconds since 1970
}

// Path returns the file of a role.
func (f Folder) Path(role string) string { return filepath.Join(f.Dir, FileName(role)) }

// Roles returns the roles that have a file, sorted. Files that are no role's are left out: Strangers has them.
func (f Folder) Roles() ([]string, error) {
	roles, _, err := f.list()
	return roles, err
}

// Strangers returns the names of files in the folder that look like the file of a role and are none.
func (f Folder) Strangers() ([]string, error) {
	_, strangers, err := f.list()
	return strangers, err
}

func (f Folder) list() (roles, strangers []string, err error) {
	if err := f.direct(); err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list the memories: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, suffix) || strings.HasPrefix(name, ".") {
			continue
		}
		inside := ""
		if strings.Contains(name, "=z") {
			if data, _, err := read(filepath.Join(f.Dir, name)); err == nil {
				inside = titled(data)
			}
		}
		if role, ok := roleOf(name, inside); ok {
			roles = append(roles, role)
		} else {
			strangers = append(strangers, name)
		}
	}
	slices.Sort(roles)
	return roles, strangers, nil
}

// direct refuses a folder of the project that is reached through a symbolic link: what agents may not open is the place that is named.
func (f Folder) direct() error {
	if !f.Shared {
		return nil
	}
	if at, err := filepath.EvalSymlinks(f.Dir); err == nil && at != f.Dir {
		return fmt.Errorf("the folder of the memories, %s, is reached through a symbolic link: name the folder itself in memory.dir", f.Dir)
	}
	return nil
}

// Stat returns the stamp of the file of a role.
func (f Folder) Stat(role string) (Stamp, error) {
	st, err := os.Lstat(f.Path(role))
	if errors.Is(err, fs.ErrNotExist) {
		return Stamp{}, nil
	}
	if err != nil {
		return Stamp{}, fmt.Errorf("read the memory of role %s: %w", text.OneLine(role), err)
	}
	return stampOf(st), nil
}

func stampOf(st fs.FileInfo) Stamp {
	s := Stamp{Size: st.Size(), Modified: st.ModTime().UnixNano()}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		s.Inode = sys.Ino
	}
	return s
}

// Read reads the file of a role. A role that has none remembers nothing.
func (f Folder) Read(role string) (*Doc, Stamp, error) {
	if err := f.direct(); err != nil {
		return nil, Stamp{}, err
	}
	data, stamp, err := read(f.Path(role))
	if errors.Is(err, fs.ErrNotExist) {
		return Parse(role, nil), Stamp{}, nil
	}
	if err != nil {
		return nil, stamp, fmt.Errorf("read the memory of role %s: %w", text.OneLine(role), err)
	}
	d := Parse(role, data)
	for i := range d.Problems {
		d.Problems[i].File = f.Path(role)
	}
	return d, stamp, nil
}

// read reads a regular file. A link is refused: whoever may write to the folder could lead it to any file of this user.
func read(path string) ([]byte, Stamp, error) {
	file, err := os.OpenFile(filepath.Clean(path), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, Stamp{}, fmt.Errorf("%s is a symbolic link: put the file itself there", path)
	}
	if err != nil {
		return nil, Stamp{}, err
	}
	defer file.Close()
	st, err := file.Stat()
	switch {
	case err != nil:
		return nil, Stamp{}, err
	case !st.Mode().IsRegular():
		return nil, Stamp{}, fmt.Errorf("%s is not a regular file", path)
	case st.Size() > MaxFile:
		return nil, Stamp{}, fmt.Errorf("%s has %d bytes, and a memory has at most %d: divide it (myc memory edit)", path, st.Size(), MaxFile)
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	return data, stampOf(st), err
}

// Save adds entries to the memory of a role, all or none.
func (f Folder) Save(role string, now time.Time, entries ...Entry) error {
	return f.Change(role, func(d *Doc) (*Doc, error) { return d, d.Add(now, entries...) })
}

// Change replaces the file of a role by what change makes of it, while no other writer of ours does. A person who writes to the file at
// the same time is not overwritten: the file is read and changed anew. change may be called several times.
func (f Folder) Change(role string, change func(*Doc) (*Doc, error)) error {
	if role == "" {
		return errors.New("a memory belongs to a role, and there is none")
	}
	for _, dir := range []string{f.Dir, f.Locks} {
		mode := fs.FileMode(0o700)
		if f.Shared && dir == f.Dir {
			mode = 0o755
		}
		if err := os.MkdirAll(dir, mode); err != nil {
			return fmt.Errorf("make a folder for the memories: %w", err)
		}
	}
	lock, err := atomicfile.LockWait(filepath.Join(f.Locks, FileName(role)+".lock"), lockWait)
	if errors.Is(err, atomicfile.ErrLocked) {
		return fmt.Errorf("save to the memory of role %s: somebody else has been writing for %s", text.OneLine(role), lockWait)
	}
	if err != nil {
		return err
	}
	err = f.changeLocked(role, change)
	return errors.Join(err, lock.Unlock())
}

// tries is how often a file that somebody else keeps changing is read anew before the change is given up.
const tries = 100

func (f Folder) changeLocked(role string, change func(*Doc) (*Doc, error)) error {
	for range tries {
		d, stamp, err := f.Read(role)
		if err != nil {
			return err
		}
		was := d.Bytes()
		if d, err = change(d); err != nil {
			return err
		}
		data := d.Bytes()
		if bytes.Equal(was, data) {
			return nil
		}
		if len(data) > MaxFile {
			return fmt.Errorf("the memory of role %s is full: it has at most %d bytes; a person can shorten it: myc memory edit",
				text.OneLine(role), MaxFile)
		}
		now, err := f.Stat(role)
		if err != nil {
			return err
		}
		if now != stamp {
			continue
		}
		mode := fs.FileMode(0o600)
		if f.Shared {
			mode = 0o644
		}
		return atomicfile.Write(f.Path(role), data, mode)
	}
	return fmt.Errorf("the memory of role %s changes all the time: try again later", text.OneLine(role))
}

// Merge is what a person made of a file, with the entries that were added to it meanwhile. base is the file that the person began with.
func Merge(role string, base, edited []byte, now *Doc, at time.Time) (*Doc, error) {
	if bytes.Equal(base, now.Bytes()) {
		return Parse(role, edited), nil
	}
	had := map[string]bool{}
	for _, d := range []*Doc{Parse(role, base), Parse(role, edited)} {
		for _, e := range d.Entries() {
			had[e.ID] = true
		}
	}
	out := Parse(role, edited)
	var added []Entry
	for _, e := range now.Entries() {
		if !had[e.ID] {
			added = append(added, e)
		}
	}
	if len(added) == 0 {
		return out, nil
	}
	return out, out.Add(at, added...)
}
