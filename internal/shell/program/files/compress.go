package files

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
	"mycelium/internal/shell/program"
)

// compressed are the endings that programs put behind the name of what they compress, and take away again.
var compressed = [...]string{".gz", ".tgz", ".taz", ".z", "-gz", "-z", "_z", ".Z", ".bz2", ".bz", ".tbz2", ".tbz", ".xz", ".txz", ".lzma",
	".tlz", ".zst", ".tzst", ".lz4", ".lz", ".lzo", ".br"}

// compress handles gzip and its kin: each file is replaced by one with another name.
func compress(c *program.Call) {
	if c.HasAny("c", "l", "t") {
		return
	}
	if to, ok := c.Value("o"); ok {
		c.File(policy.Write, to)
	}
	if c.HasAny("files", "files0") {
		c.Unclear("which files it replaces stands in what it reads")
	}
	suffix, given := c.Value("S")
	unpacks := c.Has("d") || strings.HasPrefix(c.Part.Program, "un") || strings.HasPrefix(c.Part.Program, "gun") ||
		strings.HasPrefix(c.Part.Program, "bun")
	switch {
	case suffix.Unknown, unpacks && c.Has("N"):
		c.Unclear(unnamed)
		return
	case c.Has("r"):
		for _, f := range c.Operands {
			f.Text, f.Pattern = strings.TrimSuffix(f.Text, "/")+"/**", true
			c.File(policy.Write, f)
		}
	}
	for _, f := range c.Operands {
		ends := compressed[:]
		if given {
			ends = []string{suffix.Text}
		}
		if !unpacks {
			ends = ends[:1]
		}
		for _, end := range ends {
			to := f
			if unpacks {
				if to.Text = strings.TrimSuffix(f.Text, end); to.Text == f.Text {
					continue
				}
			} else {
				to.Text += end
			}
			if last := to.Text[strings.LastIndexByte(to.Text, '/')+1:]; to.Pattern && globs.Broad(last) && unpacks {
				c.Unclear("which files it writes is not known")
				continue
			}
			c.File(policy.Write, to)
		}
	}
}

// splitFile handles split: it writes files that begin with a prefix.
func splitFile(c *program.Call) {
	prefix := program.Known("x")
	if len(c.Operands) > 1 {
		prefix = c.Operands[1]
	}
	suffix, _ := c.Value("additional-suffix")
	program.Counted(c, prefix, suffix.Text)
}

// splitByContext handles csplit, where the end of a name has a format.
func splitByContext(c *program.Call) {
	prefix, ok := c.Value("f")
	if !ok {
		prefix = program.Known("xx")
	}
	if format, ok := c.Value("b"); ok {
		before, _, found := strings.Cut(format.Text, "%")
		if prefix.Text += before; !found {
			c.File(policy.Write, prefix)
		}
	}
	program.Counted(c, prefix, "")
}
