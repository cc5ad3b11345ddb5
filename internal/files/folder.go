package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"mycelium/internal/builtin"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// maxNames bounds the names that are read of a folder. All of them are sorted before the list is cut.
const maxNames = 100_000

// entry is one line of a listing.
type entry struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Size int64  `json:"size,omitzero"` // bytes; only of a file
}

type listing struct {
	Path      string  `json:"path"`
	Entries   []entry `json:"entries"`
	Total     int     `json:"total"`
	Truncated bool    `json:"truncated"`
}

func listDirectory(_ context.Context, s *Server, _ policy.Scope, a pathArgs) (builtin.Answer, error) {
	if a.Path == "" {
		a.Path = "."
	}
	name, err := s.local(a.Path)
	if err != nil {
		return builtin.Answer{}, err
	}
	entries, err := s.entries(name)
	if err != nil {
		return builtin.Answer{}, explain("list", a.Path, err)
	}
	l := listing{Path: name, Entries: []entry{}, Total: len(entries)}
	var b strings.Builder
	for _, d := range entries[:min(len(entries), MaxEntries)] {
		e := entry{Name: strings.ToValidUTF8(d.Name(), "�"), Type: kindOf(d.Type())}
		b.WriteString(quoteName(d.Name()))
		if info, err := s.root.Lstat(name + "/" + d.Name()); err == nil && info.Mode().IsRegular() {
			e.Size = info.Size()
			fmt.Fprintf(&b, "  %d bytes", e.Size)
		} else if e.Type == "directory" {
			b.WriteString("/")
		} else {
			fmt.Fprintf(&b, "  (%s)", e.Type)
		}
		b.WriteByte('\n')
		l.Entries = append(l.Entries, e)
	}
	switch {
	case len(entries) == 0:
		b.WriteString("[the folder is empty]")
	case len(entries) >= maxNames:
		l.Truncated = true
		fmt.Fprintf(&b, "[the first %d of more than %d entries; search_files with a pattern finds others]", MaxEntries, maxNames)
	case len(entries) > MaxEntries:
		l.Truncated = true
		fmt.Fprintf(&b, "[the first %d of %d entries; search_files with a pattern finds others]", MaxEntries, len(entries))
	}
	out := builtin.Text("%s", strings.TrimSuffix(b.String(), "\n"))
	out.Structured = l
	return out, nil
}

// entries reads the names in a folder, at most maxNames, sorted.
func (s *Server) entries(name string) ([]fs.DirEntry, error) {
	info, err := s.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("it is not a folder but a %s", kindOf(info.Mode()))
	}
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(maxNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// quoteName writes a name in a list of lines. It quotes a name with line breaks or hidden characters.
func quoteName(name string) string {
	if text.OneLine(name) != name || strings.ContainsRune(name, unicode.ReplacementChar) {
		return text.OneLine(strconv.Quote(name)) // Quote keeps invisible letters
	}
	return name
}

type moveArgs struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
}

func moveFile(_ context.Context, s *Server, _ policy.Scope, a moveArgs) (builtin.Answer, error) {
	from, err := s.local(a.Source)
	if err != nil {
		return builtin.Answer{}, err
	}
	to, err := s.local(a.Destination)
	if err != nil {
		return builtin.Answer{}, err
	}
	switch {
	case from == ".":
		return builtin.Answer{}, errors.New("the folder itself cannot be moved")
	case s.inside(from, to):
		return builtin.Answer{}, fmt.Errorf("cannot move %q into itself", a.Source)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.root.Lstat(from); err != nil {
		return builtin.Answer{}, explain("move", a.Source, err)
	}
	if _, err := s.root.Lstat(to); err == nil {
		return builtin.Answer{}, fmt.Errorf("cannot move to %q: it exists already, and nothing is overwritten; name the new path in full",
			a.Destination)
	}
	if err := s.parents(to); err != nil {
		return builtin.Answer{}, explain("move to", a.Destination, err)
	}
	if err := s.renameNew(from, to); err != nil {
		return builtin.Answer{}, explain("move to", a.Destination, err)
	}
	return builtin.Text("moved %s to %s", quoteName(from), quoteName(to)), nil
}

func deleteFile(_ context.Context, s *Server, _ policy.Scope, a pathArgs) (builtin.Answer, error) {
	name, err := s.local(a.Path)
	if err != nil {
		return builtin.Answer{}, err
	}
	if name == "." {
		return builtin.Answer{}, errors.New("the folder itself cannot be deleted")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.root.Remove(name); err != nil {
		return builtin.Answer{}, explain("delete", a.Path, err)
	}
	return builtin.Text("deleted %s", quoteName(name)), nil
}
