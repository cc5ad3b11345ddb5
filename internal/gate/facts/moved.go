package facts

import (
	"maps"
	"os"
	"path/filepath"

	"github.com/bmatcuk/doublestar/v4"

	"mycelium/internal/policy"
)

// maxMoved bounds the files that are looked at for links in the folders that one call moves.
const maxMoved = 5000

// made are the links that the parts of a call make before another part goes through them: each path with what the link holds. They are not
// on the disk yet.
type made struct {
	links map[string]string
	seen  int
	all   bool // there may be more: they were too many to look at
}

// moved notes the links that a part moves or copies. A relative link leads elsewhere from its new place.
func (m *made) moved(part *policy.Part) {
	for _, move := range part.Moves {
		sources := []string{move.From}
		if move.Pattern {
			sources, _ = doublestar.FilepathGlob(move.From)
		}
		for at, text := range maps.Clone(m.links) { // what the call made or moved before
			for top := at; len(top) > 1; top = filepath.Dir(top) {
				if is, _ := doublestar.Match(move.From, top); top == move.From || move.Pattern && is {
					m.to(move, top, at, text)
				}
			}
		}
		for _, from := range sources {
			_ = filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
				switch m.seen++; {
				case err != nil:
					return nil //nolint:nilerr // what cannot be read now holds no link that can be followed
				case m.seen > maxMoved:
					m.all = true
					return filepath.SkipAll
				case d.Type()&os.ModeSymlink == 0:
					return nil
				}
				if text, err := readLink(path); err == nil {
					m.to(move, from, path, text)
				}
				return nil
			})
		}
	}
}

// to notes a link that comes along when from, which is the link or a folder above it, is moved.
func (m *made) to(move policy.Move, from, link, text string) {
	m.note(move.To+link[len(from):], text)
	m.note(filepath.Join(move.To, filepath.Base(from))+link[len(from):], text)
}

// at returns what the link at a path holds.
func (m *made) at(path string) (text string, ok bool) {
	if m == nil {
		return "", false
	}
	text, ok = m.links[path]
	return text, ok
}

// note adds a link.
func (m *made) note(at, text string) {
	if m.links == nil {
		m.links = map[string]string{}
	}
	m.links[at] = text
}

// uses makes a part ask that may go through a link that was not looked at.
func (m *made) uses(part *policy.Part) {
	if m.all && len(part.Paths) > 0 {
		unclear(part, "the command moves more files than can be looked at, and there may be links among them")
	}
}
