package filter

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// sed edits in place with -i, and its scripts may write, read and execute.
func sed(c *program.Call) {
	files := c.Operands
	if !c.Has("e") && !c.Has("f") && len(files) > 0 {
		sedScript(c, files[0])
		files = files[1:]
	}
	for _, o := range c.Options {
		if o.Name == "e" {
			sedScript(c, o.Value)
		}
	}
	for _, name := range [...]string{"i", "I"} {
		if c.Has(name) {
			suffix, _ := c.Value(name)
			program.InPlace(c, files, suffix)
		}
	}
}

// sedScript takes what a script reads, writes and runs.
func sedScript(c *program.Call, t program.Word) {
	if t.Unknown {
		c.Does |= effect.InlineCode
		c.Unclear("the script of sed is not known")
		return
	}
	s := sedReader{script: t.Text}
	for s.next() {
		switch s.command {
		case 'r', 'R':
			c.File(policy.Read, program.Known(s.file))
		case 'w', 'W':
			c.File(policy.Write, program.Known(s.file))
		case 'e':
			c.Does |= effect.InlineCode
		}
	}
	if s.failed {
		c.Unclear("the script of sed was not understood")
	}
}

// sedReader finds the commands of a sed script that touch files or run programs.
type sedReader struct {
	script  string
	i       int // where it reads
	command byte
	file    string // that the command names
	failed  bool   // the script was not understood
}

// next goes to the next command that matters. It reports false at the end.
func (r *sedReader) next() bool {
	for r.i < len(r.script) && !r.failed {
		r.skip(" \t\n;{}!")
		if r.i >= len(r.script) {
			return false
		}
		if r.address() {
			continue
		}
		c := r.script[r.i]
		r.i++
		switch {
		case c == 's':
			if r.substitution() {
				return true
			}
		case c == 'y':
			r.delimited(2)
		case strings.IndexByte("rRwW", c) >= 0:
			r.command, r.file = c, strings.TrimSpace(r.line())
			return true
		case c == 'e':
			r.line()
			r.command = 'e'
			return true
		case strings.IndexByte("btT:", c) >= 0:
			r.until(";}\n")
		case strings.IndexByte("aci#v", c) >= 0:
			r.text()
		case strings.IndexByte("=dDgGhHlnNpPqQxzF", c) >= 0:
			r.skip("0123456789")
		default:
			r.failed = true
		}
	}
	return false
}

// skip skips the characters of a set.
func (r *sedReader) skip(set string) {
	for r.i < len(r.script) && strings.IndexByte(set, r.script[r.i]) >= 0 {
		r.i++
	}
}

// until skips to the next character of a set and returns what stands before it.
func (r *sedReader) until(set string) string {
	from := r.i
	for r.i < len(r.script) && strings.IndexByte(set, r.script[r.i]) < 0 {
		r.i++
	}
	return r.script[from:r.i]
}

// line skips the rest of the line and returns it.
func (r *sedReader) line() string { return r.until("\n") }

// text skips the text of a, c and i, which goes on after a backslash at the end of a line.
func (r *sedReader) text() {
	for {
		l := r.line()
		if !strings.HasSuffix(l, "\\") || r.i >= len(r.script) {
			return
		}
		r.i++
	}
}

// address skips one address, and reports whether there was one.
func (r *sedReader) address() bool {
	switch c := r.script[r.i]; {
	case c >= '0' && c <= '9' || c == '$' || c == ',' || c == '~' || c == '+':
		r.i++
		return true
	case c == '/':
		r.i++
		r.pattern('/')
	case c == '\\' && r.i+1 < len(r.script):
		r.i += 2
		r.pattern(r.script[r.i-1])
	default:
		return false
	}
	r.skip("IM")
	return true
}

// pattern skips the next delimiter that has no backslash, and what stands before it.
func (r *sedReader) pattern(delimiter byte) {
	for r.i < len(r.script) {
		switch r.script[r.i] {
		case '\\':
			r.i++
		case delimiter:
			r.i++
			return
		}
		r.i++
	}
	r.failed = true
}

// delimited skips n texts between delimiters.
func (r *sedReader) delimited(n int) {
	if r.i >= len(r.script) {
		r.failed = true
		return
	}
	d := r.script[r.i]
	r.i++
	for range n {
		r.pattern(d)
	}
}

// substitution skips s/…/…/ with its flags. It reports whether it writes a file or runs what it made.
func (r *sedReader) substitution() bool {
	r.delimited(2)
	for !r.failed && r.i < len(r.script) {
		c := r.script[r.i]
		switch {
		case strings.IndexByte("gpiImM0123456789", c) >= 0:
			r.i++
		case c == 'w':
			r.i++
			r.command, r.file = 'w', strings.TrimSpace(r.line())
			return true
		case c == 'e':
			r.i++
			r.command = 'e'
			return true
		default:
			return false
		}
	}
	return false
}
