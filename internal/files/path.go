package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

// errOutside is the answer for every path that is not inside the folder, whatever is or is not there.
var errOutside = errors.New("the path is outside of the folder that this server serves; use a path relative to it")

// local turns a caller's path into one that os.Root takes: relative, with slashes, "." for the folder itself.
//
// Every ".." is refused, also one that stays inside: a/../b is b by the words but something else where a is a link, and what the
// policy judged and what would be opened must not be two files.
func (s *Server) local(p string) (string, error) {
	switch {
	case p == "":
		return "", errors.New(`the path is empty; "." is the folder itself`)
	case strings.ContainsRune(p, 0):
		return "", errors.New("the path holds a NUL byte")
	case !utf8.ValidString(p):
		return "", errors.New("the path is not valid UTF-8")
	case len(p) > 4096:
		return "", errors.New("the path is longer than 4096 bytes")
	}
	if filepath.IsAbs(p) {
		rest, ok := below(s.dir, p)
		if !ok {
			rest, ok = below(s.real, p)
		}
		if !ok {
			return "", errOutside
		}
		p = rest
	}
	if hasDotDot(p) {
		if clean := path.Clean(p); clean == ".." || strings.HasPrefix(clean, "../") {
			return "", errOutside
		}
		return "", fmt.Errorf("the path holds %q; write it without, as %q", "..", path.Clean(p))
	}
	return path.Clean(p), nil
}

// below cuts the folder off an absolute path; false where the path does not begin with it.
func below(dir, p string) (string, bool) {
	if p == dir {
		return ".", true
	}
	rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
	if rest = strings.TrimLeft(rest, "/"); rest == "" {
		rest = "."
	}
	return rest, ok
}

func hasDotDot(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// explain says in words for people why something could not be done with a path. The path is the caller's own spelling: no
// absolute name of the folder, and nothing about what lies outside, gets into it.
func explain(verb, p string, err error) error {
	var why string
	switch {
	case errors.Is(err, errOutside), isEscape(err):
		return errOutside
	case errors.Is(err, fs.ErrNotExist):
		why = "there is no such file or folder; list_directory shows what there is"
	case errors.Is(err, fs.ErrPermission):
		why = "permission denied by the file system"
	case errors.Is(err, syscall.ENOTDIR):
		why = "a part of the path is not a folder"
	case errors.Is(err, syscall.EISDIR):
		why = "it is a folder"
	case errors.Is(err, syscall.ENOTEMPTY):
		why = "the folder is not empty; delete what is in it first"
	case errors.Is(err, fs.ErrExist): // after ENOTEMPTY, which is one of its kind
		why = "it exists already"
	case errors.Is(err, syscall.ENAMETOOLONG):
		why = "the name is too long for the file system"
	case errors.Is(err, syscall.ELOOP):
		why = "too many symbolic links"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		why = "no space left on the disk"
	case errors.Is(err, syscall.EROFS):
		why = "the file system is read-only"
	case errors.Is(err, syscall.EXDEV):
		why = "source and destination are on different file systems; write the new file and delete the old one"
	case errors.Is(err, syscall.EINVAL):
		why = "the file system refuses this (a folder cannot be moved into itself)"
	case errors.Is(err, fs.ErrClosed):
		why = "the server is closed"
	default:
		why = rootless(err)
	}
	return fmt.Errorf("cannot %s %q: %s", verb, p, why)
}

// isEscape recognises the error of os.Root for a path that leads out; package os does not export it.
func isEscape(err error) bool { return err != nil && strings.HasPrefix(rootless(err), "path escapes") }

// rootless is the innermost text of an error, without the operation and the absolute paths that package os puts before it.
func rootless(err error) string {
	for {
		switch e := err.(type) { //nolint:errorlint // the chain is walked by hand, one link at a time
		case *fs.PathError:
			err = e.Err
		case *os.LinkError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		default:
			return err.Error()
		}
	}
}
