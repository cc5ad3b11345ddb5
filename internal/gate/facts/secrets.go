package facts

import (
	"cmp"
	"errors"
	"io/fs"
	"os"

	"mycelium/internal/policy"
	"mycelium/internal/policy/secretfile"
)

// maxOpened bounds the files of one call of which the name says nothing and that are read. Past it only names count.
const maxOpened = 200

// secrets looks into the files that a call opens.
type secrets struct {
	at     Place
	opened int
}

// complete says of the files of a part what they hold, where that decides something.
func (s *secrets) complete(part *policy.Part) {
	for i := range part.Paths {
		if p := &part.Paths[i]; p.Content == "" && !p.Pattern {
			p.Content = s.of(p, p.Access != policy.Read && (p.Access != policy.Execute || part.Program != "." && part.Program != "source"))
		}
	}
}

// of says what the file of a path holds; "" if that decides nothing. With byName, a file is read only if its name says that it may hold a
// secret: the call reads a whole folder, or does not show what is in the file.
func (s *secrets) of(p *policy.Path, byName bool) policy.Content {
	name := cmp.Or(p.Resolved, p.Clean)
	switch {
	case name == "" || p.Only == policy.Looks || p.Only == policy.Keeps:
		return ""
	case p.Only == policy.Makes:
		if absent(p.Clean) && absent(name) {
			return policy.Absent
		}
		return ""
	}
	row, known := secretfile.Of(name, s.at.Home)
	if byRow, ok := secretfile.Of(p.Clean, s.at.Home); ok && byRow.Grade > row.Grade {
		row, known = byRow, true
	}
	switch {
	case row.Grade == secretfile.Named:
		return "" // the name decides
	case !known && (byName || s.opened >= maxOpened):
		return ""
	case !known:
		s.opened++
	}
	is := s.at.Held.Of(name, row.Grade)
	if is == policy.HoldsSecret || is == policy.HoldsNone && row.Grade == secretfile.Public {
		return is
	}
	return ""
}

// absent reports whether there is nothing at a path, and no link either.
func absent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
