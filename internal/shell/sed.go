package shell

import (
	"strings"

	"mycelium/internal/policy"
)

// sed edits in place with -i, and its scripts may write, read and execute.
func sed(c *call) {
	files := c.operands
	if !c.has("e") && !c.has("f") && len(files) > 0 {
		c.sedScript(files[0])
		files = files[1:]
	}
	for _, o := range c.found {
		if o.name == "e" {
			c.sedScript(o.val)
		}
	}
	if c.has("i") || c.has("I") {
		for _, f := range files {
			c.file(policy.Write, f)
		}
	}
}

func (c *call) sedScript(t text) {
	if t.unknown {
		c.does |= doesInlineCode
		c.unclear("the script of sed is not known")
		return
	}
	s := sedReader{s: t.s}
	for s.next() {
		switch s.command {
		case 'r', 'R':
			c.file(policy.Read, known(s.file))
		case 'w', 'W':
			c.file(policy.Write, known(s.file))
		case 'e':
			c.does |= doesInlineCode
		}
	}
	if s.lost {
		c.unclear("the script of sed was not understood")
	}
}

// sedReader finds the commands of a sed script that touch files or run programs.
type sedReader struct {
	s       string
	i       int
	command byte
	file    string
	lost    bool
}

// next goes to the next command that matters.
func (r *sedReader) next() bool {
	for r.i < len(r.s) && !r.lost {
		r.skip(" \t\n;{}!")
		if r.i >= len(r.s) {
			return false
		}
		if r.address() {
			continue
		}
		c := r.s[r.i]
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
		case strings.IndexByte("aci#:btTv", c) >= 0:
			if c == 'b' || c == 't' || c == 'T' || c == ':' {
				r.until(";}\n")
			} else {
				r.text()
			}
		case strings.IndexByte("=dDgGhHlnNpPqQxzF", c) >= 0:
			r.skip("0123456789")
		default:
			r.lost = true
		}
	}
	return false
}

func (r *sedReader) skip(set string) {
	for r.i < len(r.s) && strings.IndexByte(set, r.s[r.i]) >= 0 {
		r.i++
	}
}

func (r *sedReader) until(set string) string {
	from := r.i
	for r.i < len(r.s) && strings.IndexByte(set, r.s[r.i]) < 0 {
		r.i++
	}
	return r.s[from:r.i]
}

func (r *sedReader) line() string { return r.until("\n") }

// text is the text of a, c and i: it goes on after a backslash at the end of a line.
func (r *sedReader) text() {
	for {
		l := r.line()
		if !strings.HasSuffix(l, "\\") || r.i >= len(r.s) {
			return
		}
		r.i++
	}
}

// address skips one address, and reports whether there was one.
func (r *sedReader) address() bool {
	switch c := r.s[r.i]; {
	case c >= '0' && c <= '9' || c == '$' || c == ',' || c == '~' || c == '+':
		r.i++
		return true
	case c == '/':
		r.i++
		r.pattern('/')
	case c == '\\' && r.i+1 < len(r.s):
		r.i += 2
		r.pattern(r.s[r.i-1])
	default:
		return false
	}
	r.skip("IM")
	return true
}

// pattern skips to behind the next delimiter that has no backslash and stands in no brackets.
func (r *sedReader) pattern(delimiter byte) {
	for r.i < len(r.s) {
		switch r.s[r.i] {
		case '\\':
			r.i++
		case delimiter:
			r.i++
			return
		}
		r.i++
	}
	r.lost = true
}

func (r *sedReader) delimited(n int) {
	if r.i >= len(r.s) {
		r.lost = true
		return
	}
	d := r.s[r.i]
	r.i++
	for range n {
		r.pattern(d)
	}
}

// substitution is s/…/…/ with its flags; true: it writes a file or runs what it made.
func (r *sedReader) substitution() bool {
	r.delimited(2)
	for !r.lost && r.i < len(r.s) {
		c := r.s[r.i]
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
