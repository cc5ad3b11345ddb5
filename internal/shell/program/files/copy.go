package files

import (
	"path"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/secretfile"
	"mycelium/internal/shell/program"
)

// copyFiles handles cp.
func copyFiles(c *program.Call) {
	to, sources, ok := split(c)
	if !ok {
		return
	}
	for _, t := range sources {
		c.File(policy.Read, t)
	}
	if c.HasAny("l", "s") { // the links that it makes lead to the sources
		for _, t := range sources {
			c.File(policy.Write, t)
		}
		program.Link(c, to, sources, ".")
	}
	switch {
	case !ofExample(sources) || c.HasAny("l", "s", "R", "a"):
		destination(c, to, sources)
	case c.Has("n"):
		c.Only(policy.Keeps, func() { destination(c, to, sources) })
	default:
		c.Only(policy.Makes, func() { destination(c, to, sources) })
	}
	program.Backups(c, "S")
}

// ofExample reports whether one file is copied, and its name says that it is an example of another.
func ofExample(sources []program.Word) bool {
	return len(sources) == 1 && !sources[0].Unknown && !sources[0].Pattern && secretfile.Example(sources[0].Text)
}

// moveFiles handles mv.
func moveFiles(c *program.Call) {
	to, sources, ok := split(c)
	if !ok {
		return
	}
	for _, t := range sources {
		c.File(policy.Read, t)
		c.File(policy.Delete, t)
	}
	destination(c, to, sources)
	program.Backups(c, "S")
}

// split splits the operands of cp and mv into the destination and the sources. ok is false if there are too few.
func split(c *program.Call) (to program.Word, sources []program.Word, ok bool) {
	n := len(c.Operands)
	if to, fixed := c.Value("t"); fixed {
		return to, c.Operands, true
	}
	if n < 2 {
		c.Role('b', program.Known("."))
		return to, nil, false
	}
	return c.Operands[n-1], c.Operands[:n-1], true
}

// destination handles the path to which cp, mv and ln write: the path itself, and the paths in it if it is a folder.
func destination(c *program.Call, to program.Word, sources []program.Word) {
	folder := program.Named(".|..", to.Text) || strings.HasSuffix(to.Text, "/") || strings.HasSuffix(to.Text, "/.") ||
		strings.HasSuffix(to.Text, "/..") || len(sources) > 1 || c.Has("t")
	if !folder || to.Unknown || to.Pattern {
		c.File(policy.Write, to)
	}
	if to.Unknown {
		return
	}
	for i, from := range sources {
		name := path.Base(from.Text)
		switch {
		case i >= program.MaxWords:
			c.Walk.Exceed()
			return
		case from.Unknown || name == "." || name == ".." || name == "/":
			if folder {
				c.File(policy.Write, to)
			}
		case folder || !c.Has("T"):
			c.File(policy.Write, program.Word{Text: strings.TrimSuffix(to.Text, "/") + "/" + name, Pattern: from.Pattern || to.Pattern})
		}
	}
	program.WriteSettings(c, to)
}

// makeLink handles ln: it writes the link and reads its target. The target of a symbolic link is relative to the folder of the link.
func makeLink(c *program.Call) {
	targets := c.Operands
	to, fixed := c.Value("t")
	switch {
	case fixed:
	case len(targets) > 1:
		to, targets = targets[len(targets)-1], targets[:len(targets)-1]
	default:
		to = program.Known(".")
	}
	at := path.Dir(to.Text)
	if strings.HasSuffix(to.Text, "/") || to.Text == "." || to.Text == ".." || len(targets) > 1 || fixed {
		at = to.Text
	}
	for _, t := range targets {
		if c.Has("s") && !c.Has("r") && !t.Unknown && !strings.HasPrefix(t.Text, "/") {
			t.Text = strings.TrimSuffix(at, "/") + "/" + t.Text
		}
		c.File(policy.Read, t)
		c.File(policy.Write, t) // through the link: no later call can tell where a hard link leads
	}
	destination(c, to, targets)
	program.Backups(c, "S")
	if c.Has("s") {
		program.Link(c, to, targets, at)
	}
}
