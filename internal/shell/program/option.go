package program

import (
	"path"
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// Option is an option that was given and that the row names.
type Option struct {
	Name     string // the first of its names
	Value    Word
	HasValue bool
}

// Scan reads the arguments: it finds the options of the row, gives their values the roles that the row says, and leaves the operands.
func (c *Call) Scan(args []Word) {
	row := c.Row
	args = filled(c, args)
	c.Operands = c.Operands[:0:0]
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case row.Listed && len(w.Text) > 1 && w.Text[0] == '@':
			arguments(c, w)
		case len(w.Text) < 2 || w.Text[0] != '-':
			if w.Unquoted || w.Unknown && w.Text == "" {
				c.maybeOption = true
			}
			if row.Style == First || row.Style == SingleFirst || row.Subs != nil {
				c.Operands = append(c.Operands, args[i:]...)
				return
			}
			c.Operands = append(c.Operands, w)
		case w.Text == "--" && !w.Unknown:
			for _, rest := range args[i+1:] {
				if row.Listed && strings.HasPrefix(rest.Text, "@") {
					arguments(c, rest)
				}
			}
			c.Operands = append(c.Operands, args[i+1:]...)
			return
		case row.Style == Single || row.Style == SingleFirst || w.Text[1] == '-':
			i += c.long(w, args[i+1:])
		default:
			i += c.short(w, args[i+1:])
		}
	}
}

// arguments takes a word that stands for the arguments in a file: @file.
func arguments(c *Call, w Word) {
	c.Role('x', w.Tail(1))
	c.Unclear("which arguments the file has is not known")
}

// long reads --name, --name=value or --name value. It returns how many of the following words belong to the option.
func (c *Call) long(w Word, next []Word) int {
	start := 1
	if w.Text[1] == '-' {
		start = 2
	}
	name, attached := w.Text[start:], false
	if i := strings.IndexByte(name, '='); i >= 0 {
		name, attached = name[:i], true
	} else if w.Unknown {
		c.Unclear("an option is not known")
		return 0
	}
	mayBeShort := start == 2 || len(name) > 2
	canonical, role, exact := findOption(c.Row.Options, name, mayBeShort)
	if !exact {
		if known, takes, same := c.Row.plain(name, mayBeShort); same || canonical == "" {
			if positive, negated := strings.CutPrefix(name, "no-"); negated && known {
				if given, _, whole := findOption(c.Row.Options, positive, false); whole {
					revoke(c, given)
				}
			}
			return longPlain(c, w, start+len(name), attached, known, takes, next)
		}
	}
	o := Option{Name: canonical}
	used := 0
	switch {
	case role == 0 && attached && exact && Named("false|False|FALSE|f|F|0|no|off", w.Text[start+len(name)+1:]):
		revoke(c, canonical)
		return 0
	case role == 0:
	case attached:
		o.Value, o.HasValue = w.Tail(start+len(name)+1), true
	case onlyAttached(role):
	case (role == '2' || role == '3') && len(next) > 1:
		o.Value, o.HasValue, used = next[1], true, 2
	case len(next) > 0:
		o.Value, o.HasValue, used = next[0], true, 1
	}
	c.take(o, role)
	return used
}

// plain finds an option among those that do nothing. --no-NAME does nothing either, if the row has NAME. takes is the role of its value.
func (r *Row) plain(name string, mayBeShort bool) (known bool, takes byte, exact bool) {
	found, takes, exact := findOption(r.Plain, name, mayBeShort)
	if positive, ok := strings.CutPrefix(name, "no-"); ok && found == "" && r.Plain != "" {
		found, _, exact = findOption(r.Plain, positive, mayBeShort)
		if found == "" {
			found, _, exact = findOption(r.Options, positive, mayBeShort)
		}
		takes = 0
	}
	return found != "", takes, exact
}

// longPlain goes on with a long option that Options does not name, whose name ends at end. It returns how many of the following words
// belong to the option.
func longPlain(c *Call, w Word, end int, attached, known bool, takes byte, next []Word) int {
	switch {
	case attached && !known:
		c.Role('g', w.Tail(end+1))
		unnamed(c, w.Text[:end])
	case attached:
	case known && takes == 'v' && len(next) > 0:
		return 1
	case !known:
		maybeWritten(c, next)
		unnamed(c, w.Text[:end])
	}
	return 0
}

// unnamed makes the command unclear because of an option, if the row names all that the manual has.
func unnamed(c *Call, option string) {
	if c.Row.Plain != "" {
		c.Unclear("what the option " + option + " does is not known")
	}
}

// short reads -abc, -ovalue or -o value. It returns how many of the following words belong to the option.
func (c *Call) short(w Word, next []Word) int {
	for j := 1; j < len(w.Text); j++ {
		canonical, role, _ := findOption(c.Row.Options, w.Text[j:j+1], false)
		if canonical == "" {
			if used, done := shortPlain(c, w, j, next); done {
				return used
			}
			continue
		}
		o := Option{Name: canonical}
		if role == 0 {
			c.take(o, role)
			continue
		}
		used := 0
		switch {
		case j+1 < len(w.Text) || w.Unknown:
			o.Value, o.HasValue = w.Tail(j+1), true
			if strings.HasPrefix(o.Value.Text, "=") && role != 'v' && role != '?' {
				o.Value = o.Value.Tail(1)
			}
		case onlyAttached(role):
		case len(next) > 0:
			o.Value, o.HasValue, used = next[0], true, 1
		}
		c.take(o, role)
		return used
	}
	if w.Unknown {
		c.Unclear("an option is not known")
	}
	return 0
}

// shortPlain goes on with the letter at j, which Options does not name. done is whether the word ends with it; used is how many of the
// following words belong to it.
func shortPlain(c *Call, w Word, j int, next []Word) (used int, done bool) {
	letter := w.Text[j : j+1]
	if (letter == "/" || letter == "=") && j > 1 { // the value of an option that is not listed
		c.Role('g', w.Tail(j))
		return 0, true
	}
	if letter[0] >= '0' && letter[0] <= '9' {
		if found, _, _ := findOption(c.Row.Plain, "#", false); found != "" {
			return 0, false
		}
	}
	known, takes, _ := findOption(c.Row.Plain, letter, false)
	switch {
	case known == "":
		unnamed(c, "-"+letter)
		return 0, false
	case takes == 0:
		return 0, false
	case j+1 < len(w.Text) || w.Unknown || takes == '?' || len(next) == 0:
		return 0, true
	}
	return 1, true
}

// maybeWritten takes the word behind an option that the row does not list. It may be the value, and what a program writes. Most often it is
// an operand, so only a file with the settings of hooks counts, and only for a program whose options are whole words.
func maybeWritten(c *Call, next []Word) {
	if len(next) == 0 || next[0].Unknown || c.Row.Style != Single {
		return
	}
	dir, file := path.Split(next[0].Text)
	for _, b := range policy.BasePaths() {
		if in, name := path.Split(b.Path); MayBe(path.Base(dir), path.Base(in)) && (name == "**" || MayBe(file, name)) {
			c.File(policy.Write, next[0])
			return
		}
	}
}

// take records an option and gives its value its role.
func (c *Call) take(o Option, role byte) {
	c.Options = append(c.Options, o)
	if o.Value.Vanishes {
		c.Unclear(perhapsNothing)
	}
	if o.HasValue {
		if onlyAttached(role) && role != '?' {
			role += 'a' - 'A'
		}
		c.Role(role, o.Value)
	}
}

// onlyAttached reports whether a role is that of a value which is never the next word. Such a role of a file is a capital letter.
func onlyAttached(role byte) bool { return role == '?' || role >= 'A' && role <= 'Z' }

// Names reports whether the row names an option by its whole name, and the role of its value.
func (r *Row) Names(option string) (role byte, named bool) {
	if _, role, named = findOption(r.Options, option, false); !named {
		_, role, named = findOption(r.Plain, option, false)
	}
	return role, named
}

// revoke takes an option without a value back: --dry-run=false, or --no-dry-run, behind --dry-run. Only whole names count, because a
// program may take a shortened one for another option.
func revoke(c *Call, name string) {
	c.Options = slices.DeleteFunc(c.Options, func(o Option) bool { return o.Name == name && !o.HasValue })
}

// findOption finds an option in the options of a row. A name that mayBeShort may also be the beginning of one; exact reports that it is a
// whole one. findOption works byte by byte, because it runs for each letter of each option.
func findOption(options, name string, mayBeShort bool) (canonical string, role byte, exact bool) {
	if name == "" {
		return "", 0, false
	}
	prefixed, prefixedRole := "", byte(0)
	for i := 0; i < len(options); {
		first, same, begins, end := "", false, false, i
		for {
			for end < len(options) && options[end] != '|' && options[end] != '=' && options[end] != ' ' {
				end++
			}
			one := options[i:end]
			if first == "" {
				first = one
			}
			same = same || one == name
			begins = begins || mayBeShort && strings.HasPrefix(one, name)
			if end == len(options) || options[end] != '|' {
				break
			}
			end++
			i = end
		}
		if i, role = end+1, 0; end+1 < len(options) && options[end] == '=' {
			if i, role = end+3, options[end+1]; role == '?' && end+2 < len(options) && options[end+2] != ' ' {
				i, role = end+4, options[end+2]-'a'+'A'
			}
		}
		switch {
		case same:
			return first, role, true
		case begins && prefixed == "":
			prefixed, prefixedRole = first, role
		}
	}
	return prefixed, prefixedRole, false
}

// Has reports whether an option was given. The name is the first of its names.
func (c *Call) Has(name string) bool {
	for i := range c.Options {
		if c.Options[i].Name == name {
			return true
		}
	}
	return false
}

// HasAny reports whether one of the options was given.
func (c *Call) HasAny(names ...string) bool {
	for _, name := range names {
		if c.Has(name) {
			return true
		}
	}
	return false
}

// Value returns the last value of an option. ok is false if the option was not given with a value.
func (c *Call) Value(name string) (value Word, ok bool) {
	for i := len(c.Options) - 1; i >= 0; i-- {
		if c.Options[i].Name == name && c.Options[i].HasValue {
			return c.Options[i].Value, true
		}
	}
	return Word{}, false
}

// Said reports whether a long option is given, possibly abbreviated to no fewer than least letters.
func (c *Call) Said(name string, least int) bool {
	for _, w := range c.Words {
		if w.Text == "--" {
			return false
		}
		word, ok := strings.CutPrefix(w.Text, "--")
		if word, _, _ = strings.Cut(word, "="); ok && len(word) >= least && strings.HasPrefix(name, word) {
			return true
		}
	}
	return false
}
