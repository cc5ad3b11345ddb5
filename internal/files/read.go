package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"
	"unicode/utf8"

	"mycelium/internal/builtin"
	"mycelium/internal/policy"
)

// headSize is the number of bytes at the start of a file that decide whether it is text. http.DetectContentType reads as many.
const headSize = 512

type readArgs struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset"`
	Limit  *int64 `json:"limit"`
}

// open opens a regular file for reading. O_NONBLOCK keeps the call from blocking at a FIFO without a writer, which is then refused.
func (s *Server) open(name string) (*os.File, fs.FileInfo, error) {
	info, err := s.root.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() { // before open, because opening a device may have an effect
		return nil, nil, notRegular(info)
	}
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = notRegular(info)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func notRegular(info fs.FileInfo) error {
	if info.IsDir() {
		return errors.New("it is a folder; list_directory shows what is in it")
	}
	return fmt.Errorf("it is not a regular file but a %s", kindOf(info.Mode()))
}

// kindOf names the type of a file.
func kindOf(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "file"
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "symlink"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

func readFile(_ context.Context, s *Server, _ policy.Scope, a readArgs) (builtin.Answer, error) {
	name, err := s.local(a.Path)
	if err != nil {
		return builtin.Answer{}, err
	}
	f, info, err := s.open(name)
	if err != nil {
		return builtin.Answer{}, explain("read", a.Path, err)
	}
	defer f.Close()
	limit := int64(MaxRead)
	if a.Limit != nil {
		limit = min(*a.Limit, MaxRead)
	}
	size := info.Size()
	if a.Offset > size || (a.Offset == size && size > 0) {
		return builtin.Answer{}, fmt.Errorf("cannot read %q at offset %d: the file has %d bytes", a.Path, a.Offset, size)
	}
	head := make([]byte, headSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return builtin.Answer{}, explain("read", a.Path, err)
	}
	head = head[:n]
	// Read up to utf8.UTFMax-1 bytes more: a page that begins inside a character is extended to the start of the character.
	start := max(0, a.Offset-utf8.UTFMax+1)
	buf, err := io.ReadAll(io.NewSectionReader(f, start, a.Offset-start+limit))
	if err != nil {
		return builtin.Answer{}, explain("read", a.Path, err)
	}
	page := buf[min(int64(len(buf)), a.Offset-start):]
	if isText(head) {
		if lead := buf[:len(buf)-len(page)]; len(page) > 0 && !utf8.RuneStart(page[0]) {
			if i := lastRuneStart(lead); i >= 0 {
				a.Offset -= int64(len(lead) - i)
				page = buf[i:]
			}
		}
		more := a.Offset+int64(len(page)) < size
		if t := wholeCharacters(page, more); isText(t) && (len(t) > 0 || len(page) == 0) {
			return textPage(t, a.Offset, size, limit), nil
		}
	}
	out := builtin.Answer{Content: []builtin.Block{{Type: "resource", Resource: &builtin.Resource{
		URI:      (&url.URL{Scheme: "file", Path: filepath.Join(s.dir, filepath.FromSlash(name))}).String(),
		MIMEType: http.DetectContentType(head),
		Blob:     page,
	}}}}
	return paged(out, a.Offset, int64(len(page)), size), nil
}

// textPage is a page of text. It ends at the end of a line if it has one, so that the next page begins with a line.
func textPage(t []byte, offset, size, limit int64) builtin.Answer {
	if size == 0 {
		return builtin.Text("[the file is empty]")
	}
	if limit == 0 {
		return builtin.Text("[nothing was asked for: the file has %d bytes]", size)
	}
	if offset+int64(len(t)) < size {
		if i := bytes.LastIndexByte(t, '\n'); i >= 0 {
			t = t[:i+1]
		}
	}
	return paged(builtin.Answer{Content: []builtin.Block{builtin.TextBlock(string(t))}}, offset, int64(len(t)), size)
}

// paged adds how to continue if a page is not the whole file.
func paged(a builtin.Answer, offset, n, size int64) builtin.Answer {
	switch {
	case offset+n < size:
		a.Content = append(a.Content, builtin.TextBlock(fmt.Sprintf("[bytes %d to %d of %d; read on with offset %d]", offset, offset+n, size,
			offset+n)))
	case offset > 0:
		a.Content = append(a.Content, builtin.TextBlock(fmt.Sprintf("[bytes %d to %d of %d; this is the end]", offset, offset+n, size)))
	}
	return a
}

// isText reports whether bytes can be shown as text: UTF-8 without NUL, and with few control characters, each of which takes six bytes in
// JSON.
func isText(b []byte) bool {
	if bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(wholeCharacters(b, true)) {
		return false
	}
	control := 0
	for _, c := range b {
		if c < 0x20 && c != '\n' && c != '\r' && c != '\t' {
			control++
		}
	}
	return control*20 <= len(b)
}

// wholeCharacters removes an incomplete character at the end of b if more bytes follow.
func wholeCharacters(b []byte, more bool) []byte {
	if !more {
		return b
	}
	if i := lastRuneStart(b); i >= 0 && !utf8.FullRune(b[i:]) {
		return b[:i]
	}
	return b
}

// lastRuneStart is the index of the last character of b; -1 if no character begins in the last four bytes.
func lastRuneStart(b []byte) int {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	return -1
}

type pathArgs struct {
	Path string `json:"path"`
}

// stat is the answer of stat_file.
type stat struct {
	Path     string    `json:"path"`
	Type     string    `json:"type"` // file, directory, symlink, pipe, socket, device
	Size     int64     `json:"size"` // bytes
	Mode     string    `json:"mode"` // octal permissions
	Modified time.Time `json:"modified"`
	Target   string    `json:"target,omitempty"` // of a symlink: the type of its target, or why it cannot be followed
}

func statFile(_ context.Context, s *Server, _ policy.Scope, a pathArgs) (builtin.Answer, error) {
	name, err := s.local(a.Path)
	if err != nil {
		return builtin.Answer{}, err
	}
	info, err := s.root.Lstat(name)
	if err != nil {
		return builtin.Answer{}, explain("look at", a.Path, err)
	}
	st := stat{Path: name, Type: kindOf(info.Mode()), Size: info.Size(), Mode: fmt.Sprintf("%04o", info.Mode().Perm()),
		Modified: info.ModTime().UTC()}
	if st.Type == "symlink" {
		switch target, err := s.root.Stat(name); {
		case err == nil:
			st.Target = kindOf(target.Mode())
		case isEscape(err):
			st.Target = "outside of the folder"
		default:
			st.Target = "cannot be followed"
		}
	}
	line := fmt.Sprintf("%s: %s, %d bytes, mode %s, modified %s", quoteName(path.Clean(name)), st.Type, st.Size, st.Mode,
		st.Modified.Format(time.RFC3339))
	if st.Target != "" {
		line += ", leads to: " + st.Target
	}
	out := builtin.Text("%s", line)
	out.Structured = st
	return out, nil
}
