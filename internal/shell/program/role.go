package program

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
)

// Spread gives the operands the roles that the row says.
func (c *Call) Spread() {
	roles := c.Row.Operands
	for alternatives := c.Row.Instead; alternatives != ""; {
		var option, other string
		option, alternatives, _ = strings.Cut(alternatives, " ")
		other, alternatives, _ = strings.Cut(alternatives, " ")
		if c.Has(option) {
			roles = other
		}
	}
	before := len(c.Part.Paths) + len(c.Part.Hosts)
	lead, tail, repeated := roles, "", byte(0)
	if i := strings.IndexByte(roles, '*'); i > 0 {
		lead, repeated, tail = roles[:i-1], roles[i-1], roles[i+1:]
	}
	n := len(c.Operands)
	for i, w := range c.Operands {
		if w.Vanishes && (i < len(lead) || n-i <= len(tail)) {
			c.Unclear(perhapsNothing)
		}
		switch {
		case i < len(lead):
			c.Role(lead[i], w)
		case n-i <= len(tail) && n > len(lead)+len(tail)-1 && (i > 0 || n == len(tail)):
			c.Role(tail[len(tail)-(n-i)], w)
		case repeated != 0:
			c.Role(repeated, w)
		}
	}
	none := len(c.Operands) > 0 && !slices.ContainsFunc(c.Operands, func(w Word) bool { return !w.Vanishes }) // there may be no operand
	if c.Row.Here != "" && (none || len(c.Part.Paths)+len(c.Part.Hosts) == before) {
		c.WorkHere(c.Row.Here)
	}
	if c.maybeOption && len(c.Part.Unclear) == 0 && !hasNoOptions(c.Row.Name) {
		c.Unclear("an argument is not known")
	}
}

// hasNoOptions reports whether no option of the program does anything.
func hasNoOptions(name string) bool {
	switch name {
	case "echo", "printf", "test", "[", "true", "false", ":", "expr", "seq", "basename", "dirname", "sleep", "export", "kill", "exit",
		"return", "tr", "cd", "pushd", "unset", "shift", "wait":
		return true
	}
	return false
}

// WorkHere gives the roles to the working directory. The names of the files that a program writes below it are not known, so the folder
// stands for them. The exception is the project folder: a written project folder would mean that the project is replaced.
func (c *Call) WorkHere(roles string) {
	for i := range roles {
		if roles[i] == 'w' && c.State.only(c.Walk.Dir) {
			c.Does |= effect.Write
			continue
		}
		c.Role(roles[i], Known("."))
	}
}

// only reports whether the working directory is known to be the given folder.
func (s State) only(dir string) bool {
	return !s.Lost && !slices.ContainsFunc(s.Dirs, func(d string) bool { return d != dir })
}

// Role does with a word what the role says: see Row.
func (c *Call) Role(role byte, w Word) {
	switch role {
	case 'r', '3':
		if w.Text != "-" || w.Unknown {
			c.File(policy.Read, w)
		}
	case 'l':
		if w.Text != "-" || w.Unknown {
			c.Only(policy.Looks, func() { c.File(policy.Read, w) })
		}
	case 't':
		c.Only(policy.Makes, func() { c.File(policy.Write, w) })
	case 'w':
		if w.Text != "-" || w.Unknown {
			c.File(policy.Write, w)
		}
	case 'o':
		c.File(policy.Write, w)
		if !w.Unknown && w.Text != "." {
			WriteSettings(c, w)
		}
	case 'd':
		c.File(policy.Delete, w)
	case 'x':
		if w.Stream || w.Text == "-" || IsStream(w.Text) && w.Text != "/dev/null" {
			c.RunFile(w)
			return
		}
		c.Execute(w)
		c.Does |= effect.ProjectCode
	case 'n':
		c.Role('r', w)
		c.Unclear(listed)
	case 'e':
		within(c, w)
	case 'b':
		c.File(policy.Read, w)
		c.File(policy.Write, w)
	case 'm':
		c.File(policy.Read, w)
		c.File(policy.Delete, w)
	case 'f':
		c.File(policy.Read, w)
		if w.Text != "." || !c.State.only(c.Walk.Dir) {
			c.File(policy.Write, w)
		}
		c.Does |= effect.Write
	case 'i':
		c.Does |= effect.InlineCode
	case 's':
		Statement(c, w)
	case 'h':
		c.Host(w)
	case 'c':
		c.RunNested(w)
	case 'k':
		c.Enter(w)
		c.File(policy.Read, Known("."))
	case 'u':
		if !c.Address(w) {
			c.Role('r', w)
		}
	case 'g':
		if w.Unknown {
			c.Unclear("an argument is not known")
			return
		}
		c.MaybePath(w)
	}
}

// perhapsNothing is why a command is unclear in which a word has a place of its own that may be empty: the next word would take it.
const perhapsNothing = "a list of files that may be empty stands where one word has its own meaning"

// listed is why a command is unclear whose files stand in a list.
const listed = "which files the list names is not known"

// Enter makes a folder the working directory of this command.
func (c *Call) Enter(w Word) {
	if w.Unknown || w.Pattern && !w.Folders() {
		c.Unclear("the folder where it works is not known")
		c.State = c.State.At(nil, true)
		return
	}
	dirs := make([]string, 0, len(c.State.Dirs))
	for _, d := range c.State.Dirs {
		to := JoinPath(d, w.Text)
		if !slices.Contains(dirs, to) {
			dirs = append(dirs, to)
		}
		if w.Pattern {
			c.Walk.folders = append(c.Walk.folders, to)
		}
	}
	if len(dirs) == 0 && strings.HasPrefix(w.Text, "/") {
		c.State = c.State.At([]string{JoinPath("", w.Text)}, false)
		return
	}
	c.State = c.State.At(dirs, c.State.Lost && !strings.HasPrefix(w.Text, "/"))
}

// Statement judges a statement for a database.
func Statement(c *Call, w Word) {
	c.Does |= effect.Database
	if w.Unknown {
		c.Unclear("which statement runs is not known")
		return
	}
	upper := strings.ToUpper(w.Text)
	words := strings.FieldsFunc(upper, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' })
	reads := len(words) > 0
	for i, word := range words {
		switch word {
		case "DROP", "TRUNCATE", "DROPDATABASE", "DELETEMANY", "FLUSHALL", "FLUSHDB":
			c.Does |= effect.Destructive
			reads = false
		case "DELETE", "UPDATE":
			reads = false
			if !strings.Contains(upper, "WHERE") && (word == "DELETE" || i == 0) {
				c.Does |= effect.Destructive
			}
		case "INSERT", "ALTER", "CREATE", "GRANT", "REVOKE", "REPLACE", "COPY", "VACUUM", "ATTACH", "LOAD_EXTENSION", "IMPORT", "OUTFILE",
			"INTO":
			reads = false
		}
	}
	if ContainsAny(w.Text, "\\!", ".shell", ".system") || strings.Contains(upper, "PROGRAM") {
		c.Does |= effect.InlineCode
	}
	if reads {
		c.Does |= effect.Read
	} else {
		c.Does |= effect.Write
	}
}
