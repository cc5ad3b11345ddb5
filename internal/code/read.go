package code

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unicode/utf8"

	"mycelium/internal/approval"
)

// errBounds means that a bound of this package was met.
var errBounds = errors.New("there is more than is read for one question")

// file adds a file, and looks in it later for what it runs. A file that is not there is added too: it would run once it exists.
func (r *reader) file(path string, l language) {
	if r.known[path] || r.full || r.only != "" && !inside(path, r.only) {
		return
	}
	r.known[path] = true
	f, text, err := r.read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
	case errors.Is(err, errBounds):
		r.full = true
		r.unread(fmt.Sprintf("%s and what comes after it: more than %d files or %d MiB", path, r.most.files, r.most.bytes>>20))
		return
	case err != nil:
		r.unread(path + " cannot be read")
	default:
		r.there++
		if filepath.Base(path) == "package.json" {
			r.texts[path] = text
		}
		if l == byContent {
			l = languageIn(path, text)
		}
		if l != opaque {
			r.todo = append(r.todo, source{path, l, string(text), r.root})
		}
		if len(text) <= maxKept && r.kept+len(text) <= maxKeptAll && int64(len(text)) == f.Size && utf8.Valid(text) &&
			bytes.IndexByte(text, 0) < 0 {
			r.kept += len(text)
			f.Text = string(text)
		}
	}
	if r.out.Files = append(r.out.Files, f); len(r.out.Files) >= r.most.listed {
		r.full = true
		r.unread(fmt.Sprintf("more than %d names of files are looked for", r.most.listed))
	}
}

// read digests a file, and returns the beginning of its text: one byte more than maxText at most. The digest and the text are of the same
// bytes. It does not block at a FIFO.
func (r *reader) read(path string) (approval.CodeFile, []byte, error) {
	out := approval.CodeFile{Path: path}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // the call names it; its digest and changes are shown
	if err != nil {
		return out, nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return out, nil, err
	case !info.Mode().IsRegular():
		return out, nil, fmt.Errorf("read %s: not a regular file", path)
	case r.there >= r.most.files || info.Size() > r.most.bytes-r.bytes:
		return out, nil, errBounds
	}
	var text bytes.Buffer
	sum := sha256.New()
	left := r.most.bytes - r.bytes + 1
	from := io.TeeReader(io.LimitReader(f, left), sum)
	if _, err = io.CopyN(&text, from, maxText+1); err == nil {
		_, err = io.Copy(io.Discard, from)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return out, nil, err
	}
	if out.Size, err = f.Seek(0, io.SeekCurrent); err != nil {
		return out, nil, err
	}
	if out.Size >= left { // it grew while it was read
		return out, nil, errBounds
	}
	r.bytes += out.Size
	sum.Sum(out.Digest[:0])
	return out, text.Bytes(), nil
}
