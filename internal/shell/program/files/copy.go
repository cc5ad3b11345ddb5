package files

import (
	"path"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
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
	}
	if c.Has("s") {
		program.Link(c, to, sources, false)
	} else if c.HasAny("r", "a", "l", "P", "d", "preserve") {
		program.Move(c, to, sources)
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
	program.Move(c, to, sources)
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
	written := slices.Clone(targets)
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
		program.Link(c, to, written, c.Has("r"))
	} else {
		program.Move(c, to, targets) // a hard link to a link is the same link
	}
}

// makeTemporary handles mktemp, which makes a file, or a folder, under the name of the template with other letters in the place of the X. In
// the folder for temporary files it is nothing to say.
func makeTemporary(c *program.Call) {
	template := program.Known("tmp.XXXXXXXXXX")
	folder, inTemp := program.Known("/tmp"), len(c.Operands) == 0 || c.HasAny("t", "tmpdir")
	if len(c.Operands) > 0 {
		template = c.Operands[0]
	}
	if v, ok := c.Value("tmpdir"); ok && v.Text != "" {
		folder = v
	}
	if v, ok := c.Value("p"); ok {
		folder, inTemp = v, true
	}
	if inside := c.Inside(); inTemp {
		if vals, ok := inside.Lookup("TMPDIR"); ok && len(vals) == 1 && vals[0].Text+vals[0].Default != "" && (folder.Text == "/tmp" || c.Has("t")) {
			c.File(policy.Write, vals[0])
		}
		if folder.Text == "/tmp" && !strings.Contains(template.Text, "/") && !folder.Unknown && !template.Unknown {
			return
		}
		folder.Text, folder.Unknown = strings.TrimSuffix(folder.Text, "/")+"/"+template.Text, folder.Unknown || template.Unknown
		template = folder
	}
	if v, ok := c.Value("suffix"); ok {
		template.Text, template.Unknown = template.Text+v.Text, template.Unknown || v.Unknown
	}
	if i := strings.Index(template.Text, "XXX"); i >= 0 && !template.Pattern {
		end := i + len(template.Text[i:]) - len(strings.TrimLeft(template.Text[i:], "X"))
		template.Text = globs.Quote(template.Text[:i]) + strings.Repeat("[0-9A-Za-z]", min(end-i, program.MaxDepth)) + globs.Quote(template.Text[end:])
		template.Pattern = true
	}
	c.File(policy.Write, template)
}
