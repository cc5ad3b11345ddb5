package program

import (
	"path"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
)

// A link that the command makes cannot be resolved on the disk before the command runs. The walk keeps where each link is and what it
// holds, because a relative link leads elsewhere once it is moved. Of a link that was on the disk before, only the gate knows that it is
// one: the part says what it moves (policy.Part.Moves).

// link is a symbolic link that the command makes: its place and the path that it holds.
type link struct{ at, text string }

// target returns where the link leads. Dots behind another link on the way are kept.
func (l link) target() string {
	if strings.HasPrefix(l.text, "/") {
		return l.text
	}
	return path.Dir(l.at) + "/" + l.text
}

// addLink records a link, unless it is known.
func (w *Walk) addLink(l link) {
	if slices.Contains(w.links, l) {
		return
	}
	if len(w.links) >= MaxWords {
		w.Exceed()
		return
	}
	w.links = append(w.links, l)
}

// Link records symbolic links to the targets, because a later part of the same command may go through them. Each holds its target as it was
// written or, if relative is set, the way from the link to the target. to is the link, or the folder of the links.
func Link(c *Call, to Word, targets []Word, relative bool) {
	for _, t := range targets {
		if t.Unknown || to.Unknown {
			continue
		}
		for _, d := range c.State.Dirs {
			name := JoinPath(d, to.Text)
			for _, at := range [...]string{name, name + "/" + path.Base(t.Text)} {
				text := t.Text
				if relative {
					text = way(path.Dir(at), JoinPath(d, t.Text))
				}
				c.Walk.addLink(link{at, text})
			}
		}
	}
}

// way returns the relative path from a folder to a path.
func way(from, to string) string {
	for from != "/" && !strings.HasPrefix(to+"/", from+"/") {
		return "../" + way(path.Dir(from), to)
	}
	return strings.TrimPrefix(strings.TrimPrefix(to, strings.TrimSuffix(from, "/")), "/")
}

// Move records that the sources come to another place, as links if they are links: the command moves them, or copies them as they are. to
// is the place of one source, or the folder of all.
func Move(c *Call, to Word, sources []Word) {
	if to.Unknown || to.Pattern {
		return // the command is unclear
	}
	for _, from := range sources {
		if from.Unknown {
			continue
		}
		for _, d := range c.State.Dirs {
			source := from.Text
			if !strings.HasPrefix(source, "/") {
				source = d + "/" + source
			}
			c.move(source, from.Pattern, JoinPath(d, to.Text))
		}
	}
}

// move is Move for one source, whose path is absolute and may hold dots.
func (c *Call) move(source string, pattern bool, to string) {
	for _, p := range append(c.Walk.walked(source), path.Clean(source)) {
		m := policy.Move{From: p, To: to, Pattern: pattern}
		if len(c.Part.Moves) < MaxWords && !slices.Contains(c.Part.Moves, m) {
			c.Part.Moves = append(c.Part.Moves, m)
		}
		for _, l := range slices.Clone(c.Walk.links) {
			for _, at := range above(l.at, p, pattern) {
				rest := l.at[len(at):]
				c.Walk.addLink(link{to + rest, l.text})
				c.Walk.addLink(link{path.Join(to, path.Base(at)) + rest, l.text})
			}
		}
	}
}

// above returns the paths that a source names among a path and the folders above it.
func above(at, source string, pattern bool) (all []string) {
	for ; at != "/" && at != "."; at = path.Dir(at) {
		if at == source || pattern && globs.Of(source, false).Meets(globs.Of(globs.Quote(at), false)) {
			all = append(all, at)
		}
	}
	return all
}

// walked returns where an absolute path leads through the links that the command made. The path may hold patterns, and dots, which go up
// from where a link led. Each link may be one or not, so that there may be several places; the path itself is not among them.
func (w *Walk) walked(p string) (all []string) {
	type way struct {
		at, rest string
		linked   bool
	}
	ways := []way{{"/", p, false}}
	for n := 0; n < len(ways) && n < MaxWords; n++ {
		for at, rest, linked := ways[n].at, ways[n].rest, ways[n].linked; ; {
			var name string
			name, rest, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
			switch name {
			case "":
				if linked && !slices.Contains(all, at) {
					all = append(all, at)
				}
			case ".":
				continue
			case "..":
				at = path.Dir(at)
				continue
			default:
				folder := at
				at = path.Join(at, name)
				for _, l := range w.links {
					if l.at == at || globs.Has(name) && matches(l.at, folder, name) {
						ways = append(ways, way{"/", l.target() + "/" + rest, true})
					}
				}
				continue
			}
			break
		}
	}
	return all
}

// matches reports whether a link may be what a pattern matches in a folder.
func matches(at, folder, pattern string) bool {
	below, ok := strings.CutPrefix(at, strings.TrimSuffix(folder, "/")+"/")
	if !ok {
		return false
	}
	return pattern == "**" || globs.Has(folder) ||
		!strings.Contains(below, "/") && globs.Of(pattern, false).Meets(globs.Of(globs.Quote(below), false))
}

// follow appends where the paths from an index on lead through the links that the command made before. why says where that is not known.
func (w *Walk) follow(paths []policy.Path, from int) (all []policy.Path, why string) {
	if len(w.links) == 0 {
		return paths, ""
	}
	for _, p := range paths[from:len(paths):len(paths)] {
		if p.Clean == "" {
			continue
		}
		full := p.Raw
		switch {
		case p.Pattern:
			full = p.Clean
		case !strings.HasPrefix(full, "/"):
			full = w.Dir + "/" + full
		}
		places := w.walked(full)
		if len(places) >= MaxWords {
			w.Exceed()
		}
		for _, to := range places {
			paths = append(paths, policy.Path{Access: p.Access, Only: p.Only, Raw: to, Clean: to, Pattern: p.Pattern && globs.Has(to)})
		}
		for _, folder := range w.loose {
			if strings.HasPrefix(p.Clean+"/", strings.TrimSuffix(folder, "/")+"/") {
				why = "the command made links, unpacked files, and may come upon a link there"
			}
		}
	}
	return paths, why
}
