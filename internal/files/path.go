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

// errOutside is the error for every path outside of the folder, whether it exists or not.
var errOutside = errors.New("the path is outside of the folder that this server serves; use a path relative to it")

// local turns a caller's path into a path for os.Root: relative, with slashes; the folder itself is ".".
//
// It refuses every "..", even inside the folder. If a is a link, a/../b is not b, and the file that is opened must be the file that the
// policy has judged.
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

// below removes the folder from an absolute path. It returns false if the path does not begin with it.
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

// explain makes an error for people from an error about a path. It uses the caller's spelling of the path, and does not tell the absolute
// path of the folder or what lies outside.
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
	case errors.Is(err, fs.ErrExist): // after ENOTEMPTY, which matches too
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

// isEscape reports whether err is the error of os.Root for a path that leads out of the folder, which package os does not export.
func isEscape(err error) bool { return err != nil && strings.HasPrefix(rootless(err), "path escapes") }

// rootless is the innermost text of an error, without the operation and the absolute paths of package os.
func rootless(err error) string {
	for {
		switch e := err.(type) { //nolint:errorlint // it unwraps one error at a time
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
