package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/text"
)

// Quarantined is a file or folder that a command made and that would govern agents. It waits until a person looks at it.
type Quarantined struct {
	ID   string    `json:"id"`
	Path string    `json:"path"` // absolute: where the command had made it
	Time time.Time `json:"time"` // when it was put away
	File string    `json:"file"` // absolute: where it is now
}

// idForm is the form of an id: the time in UTC.
const idForm = "20060102-150405.000000"

// pathSuffix is the ending of the file beside an entry that says where it was.
const pathSuffix = ".json"

// quarantine moves a file out of the project.
func (c *Command) quarantine(path string) error {
	q := Quarantined{ID: time.Now().UTC().Format(idForm), Path: path}
	q.File = filepath.Join(c.Quarantine, q.ID, filepath.Base(path))
	data, err := json.Marshal(q)
	if err == nil {
		err = atomicfile.Note(filepath.Join(c.Quarantine, q.ID+pathSuffix), data, 0o600) // first: every folder has its note
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(q.File), 0o700)
	}
	if err == nil {
		err = move(path, q.File)
	}
	if err != nil {
		return fmt.Errorf("move %s to quarantine: %w", path, err)
	}
	return nil
}

// move moves a file or folder, to another file system as well.
func move(path, to string) error {
	err := os.Rename(path, to)
	if errors.Is(err, syscall.EXDEV) {
		err = copyAway(path, to)
	}
	return err
}

// copyAway moves a file or folder to another file system. What is neither, such as a link or a pipe, is removed: it has no content.
func copyAway(path, to string) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	switch {
	case st.IsDir():
		err = os.CopyFS(to, os.DirFS(path))
	case st.Mode().IsRegular():
		var data []byte
		if data, err = os.ReadFile(path); err == nil {
			err = os.WriteFile(to, data, 0o600)
		}
	}
	// What could not be copied must not stay either: it would govern the next agent.
	return errors.Join(err, os.RemoveAll(path))
}

// Waiting lists what is in a quarantine, the oldest first.
func Waiting(quarantine string) (all []Quarantined, err error) {
	entries, err := os.ReadDir(quarantine)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look into the quarantine: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		q := Quarantined{ID: e.Name()}
		data, err := os.ReadFile(filepath.Join(quarantine, e.Name()+pathSuffix))
		if err == nil {
			err = json.Unmarshal(data, &q)
		}
		if err != nil {
			return nil, fmt.Errorf("look into the quarantine: %w", err)
		}
		q.File = filepath.Join(quarantine, e.Name(), filepath.Base(q.Path))
		if at, err := time.Parse(idForm, q.ID); err == nil {
			q.Time = at
		}
		all = append(all, q)
	}
	return all, nil
}

// Restore moves something back to where it was. It never replaces what is there, nor follows a link that was made meanwhile.
func (q Quarantined) Restore() error {
	dir := filepath.Dir(q.Path)
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a folder of the project
		return fmt.Errorf("make the folder for %s: %w", q.Path, err)
	}
	if resolved, err := filepath.EvalSymlinks(dir); err != nil || resolved != dir {
		return fmt.Errorf("restore %s: the way to its folder is another now", q.Path)
	}
	if _, err := os.Lstat(q.Path); !errors.Is(err, fs.ErrNotExist) {
		return text.Hinted(fmt.Errorf("restore %s: something is there", q.Path),
			"move it away first, or leave this one: myc sandbox quarantine drop "+q.ID)
	}
	if err := move(q.File, q.Path); err != nil {
		return fmt.Errorf("restore %s: %w", q.Path, err)
	}
	return q.Drop()
}

// Drop removes something from the quarantine, for good.
func (q Quarantined) Drop() error {
	folder := filepath.Dir(q.File)
	if err := errors.Join(os.RemoveAll(folder), os.Remove(folder+pathSuffix)); err != nil {
		return fmt.Errorf("remove %s from the quarantine: %w", q.ID, err)
	}
	return nil
}

// Show returns what a person has to read of it: the content of a file, or the names of what a folder has. It is bounded.
func (q Quarantined) Show() (string, error) {
	st, err := os.Lstat(q.File)
	if err != nil {
		return "", fmt.Errorf("read %s of the quarantine: %w", q.ID, err)
	}
	switch {
	case st.Mode()&os.ModeSymlink != 0:
		to, err := os.Readlink(q.File)
		return "a link to " + to, err
	case st.Mode().IsRegular():
		return head(q.File)
	case !st.IsDir():
		return "neither a file nor a folder", nil
	}
	var names []string
	err = filepath.WalkDir(q.File, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimPrefix(path, q.File+"/"))
		}
		return err
	})
	return strings.Join(names, "\n"), err
}

// mostShown bounds what is shown of a file, in bytes.
const mostShown = 64 << 10

// head returns the beginning of a file.
func head(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the quarantine: %w", err)
	}
	defer f.Close()
	buf := make([]byte, mostShown)
	n, err := f.Read(buf)
	if n == 0 && err != nil {
		return "", nil //nolint:nilerr // it is empty
	}
	return string(buf[:n]), nil
}
