// Package quarantine keeps what a command of the sandbox made and what would govern agents, until a person looks at it.
package quarantine

import (
	"cmp"
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

// Entry is a file or folder that a command made and that would govern agents. It waits until a person looks at it.
type Entry struct {
	ID   string    `json:"id"`
	Path string    `json:"path"` // absolute: where the command had made it
	Time time.Time `json:"time"` // when it was put away
	File string    `json:"file"` // absolute: where it is now
	Name string    `json:"name"` // its name there
}

// idForm is the form of an id: the time in UTC.
const idForm = "20060102-150405.000000"

// pathSuffix is the ending of the file beside an entry that says where it was.
const pathSuffix = ".json"

// New makes a folder of the quarantine for what was at a path, with its note.
func New(quarantine, path string) (*Entry, error) {
	path = strings.ToValidUTF8(path, "�") // names may have any bytes, and a note is text
	q := Entry{Path: path, Name: filepath.Base(path)}
	if len(q.Name) > mostName {
		q.Name = "content"
	}
	for at := time.Now().UTC(); ; at = at.Add(time.Microsecond) {
		q.ID = at.Format(idForm)
		err := os.Mkdir(filepath.Join(quarantine, q.ID), 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue // another one of this moment
		}
		if err != nil {
			return nil, err
		}
		q.File = filepath.Join(quarantine, q.ID, q.Name)
		data, err := json.Marshal(q)
		if err != nil {
			return nil, err
		}
		return &q, atomicfile.Note(filepath.Join(quarantine, q.ID+pathSuffix), data, 0o600)
	}
}

// mostName bounds the name of an entry, in bytes: file systems take 255.
const mostName = 255

// Waiting lists what is in a quarantine, the oldest first.
func Waiting(quarantine string) (all []Entry, err error) {
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
		q := Entry{ID: e.Name()}
		data, err := os.ReadFile(filepath.Join(quarantine, e.Name()+pathSuffix))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the program was killed before the note was written: nothing had been moved
		}
		if err == nil {
			err = json.Unmarshal(data, &q)
		}
		if err != nil {
			return nil, fmt.Errorf("look into the quarantine: %w", err)
		}
		q.File = filepath.Join(quarantine, e.Name(), cmp.Or(q.Name, filepath.Base(q.Path)))
		if at, err := time.Parse(idForm, q.ID); err == nil {
			q.Time = at
		}
		all = append(all, q)
	}
	return all, nil
}

// Restore moves something back to where it was. It never replaces what is there, nor follows a link that was made meanwhile.
func (q Entry) Restore() error {
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

// move moves a file or folder, to another file system as well.
func move(path, to string) error {
	err := os.Rename(path, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	st, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case st.IsDir():
		err = os.CopyFS(to, os.DirFS(path))
	case st.Mode().IsRegular():
		var data []byte
		if data, err = os.ReadFile(path); err == nil {
			err = os.WriteFile(to, data, 0o600)
		}
	default:
		err = errors.New("it is neither a file nor a folder, and the quarantine is on another file system")
	}
	return err
}

// Drop removes something from the quarantine, for good.
func (q Entry) Drop() error {
	folder := filepath.Dir(q.File)
	if err := errors.Join(os.RemoveAll(folder), os.Remove(folder+pathSuffix)); err != nil {
		return fmt.Errorf("remove %s from the quarantine: %w", q.ID, err)
	}
	return nil
}

// Show returns what a person has to read of it: the content of a file, or the names of what a folder has. It is bounded.
func (q Entry) Show() (string, error) {
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
