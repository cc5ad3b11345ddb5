package light

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"
)

// Where no wall stands, every hook compares the files that govern the agent with those at the start of the agent. This is no
// wall: a program that knows of the note can write it, as it can write everything that is the person's.

// File is a file that governs an agent, as it was when the agent was started.
type File struct {
	Path string `json:"path"`
	// Members are the members of the JSON object in the file that govern the agent; the agent writes others. Empty: the file counts as a whole.
	Members []string `json:"members,omitempty"`
	Sum     string   `json:"sum,omitzero"` // SHA-256 of the part that counts, in hexadecimal; "": nothing is there
	Stat    stat     `json:"stat"`
}

// stat changes when a file is written or replaced. The kernel sets the time of the last change itself, so nobody puts it back. The zero value
// is that of no file.
type stat struct {
	Device  uint64 `json:"device"`
	Inode   uint64 `json:"inode"`
	Size    int64  `json:"size"`
	Written int64  `json:"written"` // nanoseconds since 1970
	Changed int64  `json:"changed"` // likewise
}

func statOf(path string) (stat, error) {
	var st unix.Stat_t
	switch err := unix.Stat(path, &st); {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return stat{}, nil
	case err != nil:
		return stat{}, fmt.Errorf("look at %s: %w", path, err)
	}
	//nolint:gosec,unconvert,nolintlint // the widths differ between systems; they are only compared
	return stat{uint64(st.Dev), uint64(st.Ino), st.Size, st.Mtim.Nano(), st.Ctim.Nano()}, nil
}

// maxMembers bounds a file of which only some members count, in bytes. A larger one counts as a whole.
const maxMembers = 4 << 20

// Look returns a file as it is now.
func Look(path string, members ...string) (f File, err error) {
	f = File{Path: path, Members: members}
	if f.Stat, err = statOf(path); err != nil || f.Stat == (stat{}) {
		return f, err
	}
	in, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would hold the hook up
	if err != nil {
		return f, err
	}
	defer func() { _ = in.Close() }()
	sum := sha256.New()
	if len(members) > 0 && f.Stat.Size <= maxMembers {
		text, err := io.ReadAll(io.LimitReader(in, maxMembers))
		if err != nil {
			return f, err
		}
		counts, err := only(text, members)
		if err != nil || counts == nil {
			return f, err
		}
		_, _ = sum.Write(counts)
	} else if _, err := io.Copy(sum, in); err != nil {
		return f, fmt.Errorf("read %s: %w", path, err)
	}
	f.Sum = hex.EncodeToString(sum.Sum(nil))
	return f, nil
}

// only returns the members of an object that count, in a form of their own; nil: it has none of them. A text that is no object counts as it
// is: the agent may read it otherwise than we do.
func only(text []byte, members []string) ([]byte, error) {
	var object map[string]jsontext.Value
	if json.Unmarshal(text, &object) != nil {
		return text, nil //nolint:nilerr // see above
	}
	for name := range object {
		if !slices.Contains(members, name) {
			delete(object, name)
		}
	}
	if len(object) == 0 {
		return nil, nil
	}
	out, err := json.Marshal(object, json.Deterministic(true))
	if err == nil {
		err = (*jsontext.Value)(&out).Canonicalize()
	}
	return out, err
}

// same reports whether a file is as it was. Its content is read only if the file was touched.
func (f File) same() (bool, error) {
	now, err := statOf(f.Path)
	if err != nil || now == f.Stat {
		return err == nil, err
	}
	is, err := Look(f.Path, f.Members...)
	return err == nil && is.Sum == f.Sum, err
}

// changed names the first file of a run that is not as it was, or says why that is not known; "": all are.
func (n Note) changed() string {
	for _, f := range n.Files {
		switch same, err := f.same(); {
		case err != nil:
			return err.Error()
		case !same && f.Sum == "":
			return f.Path + " was made or changed"
		case !same:
			return f.Path + " was changed"
		}
	}
	return ""
}

// Changed returns the files that are not as they were for an agent without a wall. runs is a pattern for the folders of runs
// ([filepath.Glob]).
func Changed(runs string) (paths []string, err error) {
	err = each(runs, func(_ string, n Note) error {
		for _, f := range n.Files {
			if same, err := f.same(); (err != nil || !same) && !slices.Contains(paths, f.Path) {
				paths = append(paths, f.Path)
			}
		}
		return nil
	})
	return paths, err
}

// Renew takes files as they are now, for every agent without a wall that goes on: its person has changed them. runs is as for [Changed].
func Renew(runs string, paths ...string) error {
	return each(runs, func(folder string, n Note) error {
		renewed := false
		for i, f := range n.Files {
			if !slices.Contains(paths, f.Path) {
				continue
			}
			now, err := Look(f.Path, f.Members...)
			if err != nil {
				return err
			}
			n.Files[i], renewed = now, true
		}
		if !renewed {
			return nil
		}
		return n.Keep(folder)
	})
}

// each calls a function for the note of each run.
func each(runs string, do func(folder string, n Note) error) error {
	notes, err := filepath.Glob(filepath.Join(runs, noteName))
	if err != nil {
		return err
	}
	for _, path := range notes {
		n, err := Read(filepath.Dir(path))
		if err == nil {
			err = do(filepath.Dir(path), n)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the run has ended meanwhile
			return err
		}
	}
	return nil
}

// Read reads the note of a run.
func Read(folder string) (n Note, err error) {
	text, err := os.ReadFile(filepath.Join(folder, noteName))
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	return n, err
}
