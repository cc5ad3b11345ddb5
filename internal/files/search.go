package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"mycelium/internal/builtin"
	"mycelium/internal/credential/held"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// The bounds of one search besides MaxMatches.
const (
	maxVisited   = 200_000   // files and folders
	maxDepth     = 100       // nesting of folders
	maxContent   = 512 << 20 // bytes read in total
	maxExpr      = 1000      // bytes of a pattern or text
	maxLine      = 1 << 20   // bytes of a line that are searched
	maxLineShown = 300       // bytes of a line that are shown
)

type searchArgs struct {
	Path       string `json:"path"`
	Pattern    string `json:"pattern"`
	Text       string `json:"text"`
	Regex      bool   `json:"regex"`
	IgnoreCase bool   `json:"ignoreCase"`
}

// match is a result. Line and Text are set for a match in the content of a file.
type match struct {
	Path string `json:"path"`
	Type string `json:"type,omitempty"`
	Line int    `json:"line,omitzero"` // from 1
	Text string `json:"text,omitempty"`
}

type found struct {
	Matches   []match `json:"matches"`
	Truncated bool    `json:"truncated"`
	Note      string  `json:"note,omitempty"`
}

// search is a running search.
type search struct {
	s       *Server
	scope   policy.Scope
	base    string
	pattern string
	text    *regexp.Regexp
	literal []byte // the text, if no expression is needed to find it
	found   found
	visited int
	read    int64
}

// errEnough ends a walk early; the note in the search says why.
var errEnough = errors.New("enough")

func searchFiles(ctx context.Context, s *Server, scope policy.Scope, a searchArgs) (builtin.Answer, error) {
	if a.Path == "" {
		a.Path = "."
	}
	base, err := s.local(a.Path)
	if err != nil {
		return builtin.Answer{}, err
	}
	w := &search{s: s, scope: scope, base: base, found: found{Matches: []match{}}}
	if err := w.compile(a); err != nil {
		return builtin.Answer{}, err
	}
	info, err := s.root.Stat(base)
	if err != nil {
		return builtin.Answer{}, explain("search", a.Path, err)
	}
	if info.IsDir() {
		err = w.folder(ctx, base, 0)
	} else {
		err = w.file(ctx, base, fs.FileInfoToDirEntry(info))
	}
	if err != nil && !errors.Is(err, errEnough) {
		return builtin.Answer{}, explain("search", a.Path, err)
	}
	return w.answer(), nil
}

// compile checks and compiles the pattern and the text.
func (w *search) compile(a searchArgs) error {
	switch {
	case a.Pattern == "" && a.Text == "":
		return errors.New("give a pattern (for names), a text (for contents), or both")
	case len(a.Pattern) > maxExpr, len(a.Text) > maxExpr:
		return fmt.Errorf("pattern and text may have at most %d bytes", maxExpr)
	case a.Text == "" && a.Regex:
		return errors.New("regex needs a text")
	}
	if w.pattern = strings.TrimPrefix(a.Pattern, "./"); w.pattern != "" {
		if !doublestar.ValidatePattern(w.pattern) {
			return fmt.Errorf("pattern %q is not a valid glob: * and ? match inside a name, ** any folders, {a,b} either", a.Pattern)
		}
		if !strings.Contains(w.pattern, "/") {
			w.pattern = "**/" + w.pattern
		}
	}
	if a.Text == "" {
		return nil
	}
	expr := a.Text
	if !a.Regex {
		expr = regexp.QuoteMeta(expr)
		if !a.IgnoreCase {
			w.literal = []byte(a.Text)
		}
	}
	if a.IgnoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return fmt.Errorf("text %q is not a valid regular expression (RE2): %w", a.Text, err)
	}
	w.text = re
	return nil
}

func (w *search) folder(ctx context.Context, dir string, depth int) error {
	if depth > maxDepth {
		w.found.Note = "folders below a depth of 100 were left out"
		return nil
	}
	entries, err := w.s.entries(dir)
	if err != nil {
		if depth == 0 {
			return err
		}
		return nil // it cannot be read, or is gone
	}
	for _, d := range entries {
		if err := w.visit(ctx); err != nil {
			return err
		}
		name := path.Join(dir, d.Name())
		switch {
		case w.skipped(d.Name()):
		case d.IsDir():
			if w.text == nil && w.named(name) {
				if err := w.add(match{Path: name, Type: "directory"}); err != nil {
					return err
				}
			}
			if err := w.folder(ctx, name, depth+1); err != nil {
				return err
			}
		default:
			if err := w.file(ctx, name, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// skipped reports whether a file or folder is left out because it is hidden: version control, our own state, hidden files. If the pattern
// names hidden files, their names are found.
func (w *search) skipped(name string) bool {
	return name == ".git" || name == ".mycelium" || (strings.HasPrefix(name, ".") && !strings.Contains("/"+w.pattern, "/."))
}

func (w *search) visit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		w.stop("the search was cancelled")
		return errEnough
	}
	if w.visited++; w.visited > maxVisited {
		w.stop(fmt.Sprintf("the search ended after %d files; narrow it with path", maxVisited))
		return errEnough
	}
	return nil
}

func (w *search) stop(why string) { w.found.Truncated, w.found.Note = true, why }

// named reports whether the glob matches a name relative to the start of the search.
func (w *search) named(name string) bool {
	if w.pattern == "" {
		return true
	}
	return doublestar.MatchUnvalidated(w.pattern, w.below(name))
}

// below is a name relative to the start of the search; for the start itself, its last part.
func (w *search) below(name string) string {
	switch w.base {
	case ".":
		return name
	case name:
		return path.Base(name)
	}
	return strings.TrimPrefix(name, w.base+"/")
}

func (w *search) add(m match) error {
	if len(w.found.Matches) == MaxMatches {
		w.stop(fmt.Sprintf("the first %d matches; narrow the search", MaxMatches))
		return errEnough
	}
	w.found.Matches = append(w.found.Matches, m)
	return nil
}

func (w *search) file(ctx context.Context, name string, d fs.DirEntry) error {
	if !w.named(name) {
		return nil
	}
	if w.text == nil {
		return w.add(match{Path: name, Type: kindOf(d.Type())})
	}
	if !d.Type().IsRegular() || !w.readable(name) { // links are not followed: a target in the folder is searched in its place
		return nil
	}
	f, _, err := w.s.open(name)
	if err != nil {
		return nil //nolint:nilerr // it is gone or may not be read: a search shows the rest
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	if head, _ := r.Peek(headSize); !isText(head) {
		return nil
	}
	for n := 1; ; n++ {
		line, err := readLine(r)
		if w.read += int64(len(line)); w.read > maxContent {
			w.stop("the search ended after 512 MiB; narrow it with path or pattern")
			return errEnough
		}
		if len(line) > 0 && w.contains(line) {
			if err := w.add(match{Path: name, Line: n, Text: shown(line, w.text)}); err != nil {
				return err
			}
		}
		if err != nil || ctx.Err() != nil {
			return nil //nolint:nilerr // the end of the file, or a cancellation, which visit reports
		}
	}
}

// readLine returns the next line without its end, at most maxLine bytes. At the end of the file it returns an error.
func readLine(r *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		part, err := r.ReadSlice('\n')
		if out == nil && !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(part, "\r\n"), err
		}
		out = append(out, part[:min(len(part), maxLine-len(out))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(out, "\r\n"), err
		}
	}
}

func (w *search) contains(line []byte) bool {
	if w.literal != nil {
		return bytes.Contains(line, w.literal)
	}
	return w.text.Match(line)
}

// shown is a line, or the part around the match of a long line.
func shown(line []byte, re *regexp.Regexp) string {
	if len(line) > maxLineShown {
		at := 0
		if loc := re.FindIndex(line); loc != nil {
			at = max(0, min(loc[0]-maxLineShown/4, len(line)-maxLineShown))
		}
		for at > 0 && !utf8.RuneStart(line[at]) {
			at--
		}
		line = line[at:]
	}
	return strings.ToValidUTF8(text.Prefix(string(line), maxLineShown), "�")
}

// readable reports whether the search may read a file. Without a guard it reads no file with secrets; read_file can if the policy allows it.
func (w *search) readable(name string) bool {
	if w.s.readable != nil {
		return w.s.readable(w.scope, filepath.Join(w.s.real, filepath.FromSlash(name)))
	}
	for part := range strings.SplitSeq(w.below(name), "/") {
		if strings.HasPrefix(part, ".") {
			return false
		}
	}
	return !(*held.Reader)(nil).Secret(filepath.Join(w.s.real, filepath.FromSlash(name)), "")
}

func (w *search) answer() builtin.Answer {
	var b strings.Builder
	for _, m := range w.found.Matches {
		b.WriteString(quoteName(m.Path))
		switch {
		case m.Line > 0:
			fmt.Fprintf(&b, ":%d: %s", m.Line, m.Text)
		case m.Type == "directory":
			b.WriteByte('/')
		}
		b.WriteByte('\n')
	}
	if len(w.found.Matches) == 0 {
		b.WriteString("[nothing found]\n")
	}
	if w.found.Note != "" {
		fmt.Fprintf(&b, "[%s]", w.found.Note)
	}
	for i := range w.found.Matches {
		w.found.Matches[i].Path = strings.ToValidUTF8(w.found.Matches[i].Path, "�")
	}
	out := builtin.Text("%s", strings.TrimSuffix(b.String(), "\n"))
	out.Structured = w.found
	return out
}
