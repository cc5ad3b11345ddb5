package shell

import (
	"strings"

	"mycelium/internal/policy"
)

// program is what the table says of one program, or of one subcommand.
//
// A role is one letter: what is done with a word.
//
//	v  nothing: it is a text
//	r  read    w  written    d  deleted    x  executed    b  read and written    m  read and deleted (moved away)
//	f  formatted: read and written, where the whole working directory is meant file by file
//	h  a host or an address     c  a command line for a shell     k  a folder where the program works
//	u  a path or an address, read     g  it may be a path, read and written
//	?  an option whose value, a text, can only be attached to it
//	i  code of the interpreter's own language     s  a statement for a database
//	2  two words that are texts     3  a text, and a file that is read
//
// Options are "f|force r|R|recursive o|output=w": the names of one option, short and long, then "=" and the role of its value, if
// it has one. The first name is the one by which it is asked for. What is not listed is an option without a value. Operands are the
// roles of the words that are no options: "vr*" is a text and then any number of files that are read, "r*w" files and at the end
// one that is written.
type program struct {
	name     string
	same     string // the row that this one is another name of
	opts     string
	operands string
	instead  string // "e r* f r*": with the option e, or f, these are the operands
	does     effects
	alone    effects // of a program with subcommands that is given none
	rest     effects // of a subcommand that is not listed; none: it is not known
	shows    string  // "l version": with one of these options it only shows something
	here     string  // roles of the working directory, when no operand names a path
	style    style
	subs     []program
	do       act // what the rest cannot say
	raw      act // it reads its arguments itself, and ends the call
	other    act // for a subcommand that is not listed
}

// style says how options are written.
type style uint8

const (
	gnu    style = iota // -rf, --force, --output=x, --outp x; operands anywhere
	first               // likewise, but the first operand ends them
	single              // -name value: one hyphen and a whole word; the first operand does not end them
)

// scan finds the options and leaves the operands.
func (c *call) scan(p *program, args []text) {
	c.operands = c.operands[:0:0]
	for i := 0; i < len(args); i++ {
		t := args[i]
		switch {
		case len(t.s) < 2 || t.s[0] != '-':
			if t.bare || t.unknown && t.s == "" {
				c.options = true
			}
			if p.style == first || p.subs != nil || p.raw == asWrapper {
				c.operands = append(c.operands, args[i:]...)
				return
			}
			c.operands = append(c.operands, t)
		case t.s == "--" && !t.unknown:
			c.operands = append(c.operands, args[i+1:]...)
			return
		case p.style == single || t.s[1] == '-':
			i += c.long(p, t, args[i+1:])
		default:
			i += c.short(p, t, args[i+1:])
		}
	}
}

// long takes --name, --name=value, --name value. It returns how many of the following words belong to it.
func (c *call) long(p *program, t text, next []text) int {
	start := 1
	if len(t.s) > 1 && t.s[1] == '-' {
		start = 2
	}
	name, attached := t.s[start:], false
	if i := strings.IndexByte(name, '='); i >= 0 {
		name, attached = name[:i], true
	} else if t.unknown {
		c.unclear("an option is not known")
		return 0
	}
	canonical, role := lookup(p.opts, name, true)
	if canonical == "" {
		if attached {
			c.role('g', t.from(start+len(name)+1))
		}
		return 0
	}
	o := option{name: canonical}
	used := 0
	switch {
	case role == 0:
	case attached:
		o.val, o.has = t.from(start+len(name)+1), true
	case role == '?':
	case (role == '2' || role == '3') && len(next) > 1:
		o.val, o.has, used = next[1], true, 2
	case len(next) > 0:
		o.val, o.has, used = next[0], true, 1
	}
	c.took(o, role)
	return used
}

// short takes -abc, -ovalue, -o value.
func (c *call) short(p *program, t text, next []text) int {
	for j := 1; j < len(t.s); j++ {
		canonical, role := lookup(p.opts, t.s[j:j+1], false)
		if canonical == "" {
			if (t.s[j] == '/' || t.s[j] == '=') && j > 1 { // the value of an option that is not listed
				c.role('g', t.from(j))
				return 0
			}
			continue
		}
		o := option{name: canonical}
		if role == 0 {
			c.took(o, role)
			continue
		}
		used := 0
		switch {
		case j+1 < len(t.s) || t.unknown:
			o.val, o.has = t.from(j+1), true
			if strings.HasPrefix(o.val.s, "=") && role != 'v' && role != '?' {
				o.val = o.val.from(1)
			}
		case role == '?':
		case len(next) > 0:
			o.val, o.has, used = next[0], true, 1
		}
		c.took(o, role)
		return used
	}
	if t.unknown {
		c.unclear("an option is not known")
	}
	return 0
}

func (c *call) took(o option, role byte) {
	c.found = append(c.found, o)
	if o.has {
		c.role(role, o.val)
	}
}

// lookup finds an option in a list. A long name may be the beginning of the one that is listed.
func lookup(opts, name string, long bool) (canonical string, role byte) {
	if name == "" {
		return "", 0
	}
	short, shortRole := "", byte(0) // the first option that begins with the name; one that has it stands before
	for opts != "" {
		var entry string
		entry, opts, _ = strings.Cut(opts, " ")
		names, value, _ := strings.Cut(entry, "=")
		role = 0
		if value != "" {
			role = value[0]
		}
		first := ""
		for names != "" {
			var one string
			one, names, _ = strings.Cut(names, "|")
			if first == "" {
				first = one
			}
			if one == name {
				return first, role
			}
			if short == "" && long && len(name) > 2 && len(one) > len(name) && one[:len(name)] == name {
				short, shortRole = first, role
			}
		}
	}
	return short, shortRole
}

// spread gives the operands their roles.
func (c *call) spread(p *program) {
	roles := p.operands
	for alt := p.instead; alt != ""; {
		var name, other string
		name, alt, _ = strings.Cut(alt, " ")
		other, alt, _ = strings.Cut(alt, " ")
		if c.has(name) {
			roles = other
		}
	}
	before := len(c.part.Paths) + len(c.part.Hosts)
	lead, tail, repeated := roles, "", byte(0)
	if i := strings.IndexByte(roles, '*'); i > 0 {
		lead, repeated, tail = roles[:i-1], roles[i-1], roles[i+1:]
	}
	n := len(c.operands)
	for i, t := range c.operands {
		switch {
		case i < len(lead):
			c.role(lead[i], t)
		case n-i <= len(tail) && n > len(lead)+len(tail)-1 && (i > 0 || n == len(tail)):
			c.role(tail[len(tail)-(n-i)], t)
		case repeated != 0:
			c.role(repeated, t)
		}
	}
	if p.here != "" && len(c.part.Paths)+len(c.part.Hosts) == before {
		c.works(p.here)
	}
	if c.options && len(c.part.Unclear) == 0 && !isHarmless(p.name) {
		c.unclear("an argument is not known")
	}
}

// works says that the program works on the working directory. What it writes there, below it, has no name: the folder itself stands
// for it, unless that is the project, whose every folder it is not.
func (c *call) works(roles string) {
	for i := range roles {
		if roles[i] == 'w' && c.inProject() {
			c.does |= doesWrite
			continue
		}
		c.role(roles[i], known("."))
	}
}

// inProject reports whether the working directory is known to be the project.
func (c *call) inProject() bool {
	for _, d := range c.st.dirs {
		if d != c.r.o.Dir {
			return false
		}
	}
	return !c.st.lost
}

// role does with a word what its role says.
func (c *call) role(role byte, t text) {
	switch role {
	case 'r', '3':
		if t.s != "-" || t.unknown {
			c.file(policy.Read, t)
		}
	case 'w':
		if t.s != "-" || t.unknown {
			c.file(policy.Write, t)
		}
	case 'd':
		c.file(policy.Delete, t)
	case 'x':
		c.script(t)
		c.does |= doesProjectCode
	case 'b':
		c.file(policy.Read, t)
		c.file(policy.Write, t)
	case 'm':
		c.file(policy.Read, t)
		c.file(policy.Delete, t)
	case 'f':
		c.file(policy.Read, t)
		if t.s != "." || !c.inProject() {
			c.file(policy.Write, t)
		}
		c.does |= doesWrite
	case 'i':
		c.does |= doesInlineCode
	case 's':
		c.sql(t)
	case 'h':
		c.host(t)
	case 'c':
		c.nested(t)
	case 'k':
		c.enter(t)
		c.file(policy.Read, known("."))
	case 'u':
		if !c.address(t) {
			c.role('r', t)
		}
	case 'g':
		if t.unknown {
			c.unclear("an argument is not known")
			return
		}
		c.maybePath(t)
	}
}

// nested reads a command line that the program will run; its parts are added before the one of the program.
func (c *call) nested(t text) {
	inner := call{r: c.r, st: c.st, words: c.words, env: c.env}
	inner.line(t, nil)
	for _, why := range inner.part.Unclear {
		c.unclear(why)
	}
	c.does |= inner.does
}

// enter makes a folder the working directory of this command.
func (c *call) enter(t text) {
	if t.unknown || t.glob {
		c.unclear("the folder where it works is not known")
		c.st = c.st.at(nil, true)
		return
	}
	dirs := make([]string, 0, len(c.st.dirs))
	for _, d := range c.st.dirs {
		if to := joinPath(d, t.s); !contains(dirs, to) {
			dirs = append(dirs, to)
		}
	}
	if len(dirs) == 0 && strings.HasPrefix(t.s, "/") {
		c.st = c.st.at([]string{joinPath("", t.s)}, false)
		return
	}
	c.st = c.st.at(dirs, c.st.lost && !strings.HasPrefix(t.s, "/"))
}
