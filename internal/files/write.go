package files

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"mycelium/internal/builtin"
	"mycelium/internal/policy"
)

// Permissions of new files and folders, before the umask of the process.
const (
	newFile   fs.FileMode = 0o644
	newFolder fs.FileMode = 0o755
)

type writeArgs struct {
	Path       string `json:"path"`
	Content    string `json:"content"`
	Encoding   string `json:"encoding"`
	CreateOnly bool   `json:"createOnly"`
}

func writeFile(_ context.Context, s *Server, _ policy.Scope, a writeArgs) (builtin.Answer, error) {
	name, err := s.local(a.Path)
	if err != nil {
		return builtin.Answer{}, err
	}
	if name == "." || strings.HasSuffix(a.Path, "/") {
		return builtin.Answer{}, fmt.Errorf("cannot write %q: a path to a file is needed", a.Path)
	}
	data := []byte(a.Content)
	if a.Encoding == "base64" {
		if data, err = base64.StdEncoding.DecodeString(a.Content); err != nil {
			return builtin.Answer{}, errors.New("the content is not valid base64 (standard alphabet, with padding)")
		}
	}
	if len(data) > MaxWrite {
		return builtin.Answer{}, fmt.Errorf("cannot write %q: %d bytes are more than the limit of %d", a.Path, len(data), MaxWrite)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.parents(name); err != nil {
		return builtin.Answer{}, explain("write", a.Path, err)
	}
	target, old, err := s.target(name)
	if err != nil {
		return builtin.Answer{}, explain("write", a.Path, err)
	}
	if old != nil && a.CreateOnly {
		return builtin.Answer{}, fmt.Errorf("cannot create %q: it exists already", a.Path)
	}
	if err := s.replace(target, data, old, a.CreateOnly); err != nil {
		return builtin.Answer{}, explain("write", a.Path, err)
	}
	if old == nil {
		return builtin.Text("created %s, %d bytes", quoteName(name), len(data)), nil
	}
	return builtin.Text("wrote %s, %d bytes", quoteName(name), len(data)), nil
}

type editArgs struct {
	Path       string `json:"path"`
	OldText    string `json:"oldText"`
	NewText    string `json:"newText"`
	ReplaceAll bool   `json:"replaceAll"`
}

func editFile(_ context.Context, s *Server, _ policy.Scope, a editArgs) (builtin.Answer, error) {
	name, err := s.local(a.Path)
	if err != nil {
		return builtin.Answer{}, err
	}
	if a.OldText == "" {
		return builtin.Answer{}, errors.New("oldText is empty; write_file writes a whole file")
	}
	if a.OldText == a.NewText {
		return builtin.Answer{}, errors.New("oldText and newText are the same")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	target, _, err := s.target(name)
	if err != nil {
		return builtin.Answer{}, explain("edit", a.Path, err)
	}
	data, info, err := s.readWhole(target)
	if err != nil {
		return builtin.Answer{}, explain("edit", a.Path, err)
	}
	n := bytes.Count(data, []byte(a.OldText))
	switch {
	case n == 0:
		return builtin.Answer{}, fmt.Errorf("cannot edit %q: oldText is not in the file%s; read it again and copy the text exactly", a.Path,
			lineEndings(data, a.OldText))
	case n > 1 && !a.ReplaceAll:
		return builtin.Answer{}, fmt.Errorf("cannot edit %q: oldText appears %d times in the file (lines %s); give more of what surrounds it, "+
			"or set "+
			"replaceAll", a.Path, n, lineNumbers(data, a.OldText))
	}
	if size := len(data) + n*(len(a.NewText)-len(a.OldText)); size > maxEdit {
		return builtin.Answer{}, fmt.Errorf("cannot edit %q: the file would have %d bytes, more than the limit of %d", a.Path, size, maxEdit)
	}
	where := lineNumbers(data, a.OldText)
	if err := s.replace(target, bytes.ReplaceAll(data, []byte(a.OldText), []byte(a.NewText)), info, false); err != nil {
		return builtin.Answer{}, explain("edit", a.Path, err)
	}
	if n == 1 {
		return builtin.Text("edited %s at line %s", quoteName(name), where), nil
	}
	return builtin.Text("edited %s in %d places, at lines %s", quoteName(name), n, where), nil
}

// readWhole reads a whole file for an edit.
func (s *Server) readWhole(name string) ([]byte, fs.FileInfo, error) {
	f, info, err := s.open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info.Size() > maxEdit {
		return nil, nil, fmt.Errorf("it has %d bytes, more than the limit of %d", info.Size(), maxEdit)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEdit+1))
	if err == nil && len(data) > maxEdit {
		err = fmt.Errorf("it has more bytes than the limit of %d", maxEdit)
	}
	return data, info, err
}

// lineEndings is a hint for the most common reason why a text of several lines is not found.
func lineEndings(data []byte, old string) string {
	if strings.Contains(old, "\n") && bytes.Contains(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")),
		[]byte(strings.ReplaceAll(old, "\r\n", "\n"))) {
		return " with these line endings (it has both kinds, or CRLF)"
	}
	return ""
}

// lineNumbers lists the first five lines at which a text begins.
func lineNumbers(data []byte, old string) string {
	var out []string
	line, at := 1, 0
	for {
		i := bytes.Index(data[at:], []byte(old))
		if i < 0 {
			return strings.Join(out, ", ")
		}
		if len(out) == 5 {
			return strings.Join(out, ", ") + " …"
		}
		line += bytes.Count(data[at:at+i], []byte("\n"))
		out = append(out, fmt.Sprint(line))
		line += strings.Count(old, "\n")
		at += i + len(old)
	}
}

// target follows symbolic links in the last part of a name, because a rename would replace the link and not its target. It does not clean
// the resulting name: the meaning of ".." in a link depends on the folders, which os.Root resolves. The second result is nil if the file
// does not exist.
func (s *Server) target(name string) (string, fs.FileInfo, error) {
	for range 40 {
		info, err := s.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil, nil
		}
		if err != nil {
			return "", nil, err
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := s.root.Readlink(name)
			if err != nil {
				return "", nil, err
			}
			if path.IsAbs(to) {
				return "", nil, errOutside // os.Root does not follow absolute links either
			}
			name = parent(name) + "/" + to
		case !info.Mode().IsRegular():
			return "", nil, notRegular(info)
		case info.Mode().Perm()&0o222 == 0:
			return "", nil, errors.New("the file is read-only")
		default:
			return name, info, nil
		}
	}
	return "", nil, syscall.ELOOP
}

// parents creates the missing folders above a name.
func (s *Server) parents(name string) error {
	err := s.root.MkdirAll(path.Dir(name), newFolder)
	if errors.Is(err, fs.ErrExist) {
		return syscall.ENOTDIR // a file has the name of a folder
	}
	return err
}

// parent is path.Dir without cleaning.
func parent(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return "."
}

// replace writes a file atomically: it writes and syncs a temporary file beside it, and renames that. old is the state of the file when
// it was read, nil for a new file; if the file has changed since, replace writes nothing. With create, it never replaces an existing
// file.
func (s *Server) replace(name string, data []byte, old fs.FileInfo, create bool) (err error) {
	temp := parent(name) + "/.myc-" + rand.Text() + ".tmp"
	f, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFile)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = s.root.Remove(temp)
		}
	}()
	if old != nil {
		err = f.Chmod(old.Mode().Perm())
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if create || old == nil {
		return s.renameNew(temp, name)
	}
	now, err := s.root.Lstat(name)
	if err != nil {
		return err
	}
	if !os.SameFile(old, now) || now.Size() != old.Size() || !now.ModTime().Equal(old.ModTime()) {
		return errors.New("another program changed it meanwhile; read it again")
	}
	return s.root.Rename(temp, name)
}

// renameChecked renames if the new name does not exist, in two steps.
func (s *Server) renameChecked(from, to string) error {
	if _, err := s.root.Lstat(to); err == nil {
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.root.Rename(from, to)
}

// inside reports whether the second name lies below the first.
func (s *Server) inside(from, to string) bool { return strings.HasPrefix(to, from+"/") }
