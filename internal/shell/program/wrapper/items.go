package wrapper

import (
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/shell/program"
)

// Programs that run a command for the items of a list: each item may be a program for a shell, so that it matters where one ends.

// xargs runs a command with arguments that come from standard input.
func xargs(c *program.Call, args []program.Word) {
	c.Scan(args)
	words := c.Operands
	if len(words) == 0 {
		words = []program.Word{program.Known("echo")}
	}
	replaces := c.HasAny("I", "i")
	for _, items := range xargsItems(c, replaces) {
		c.RunProcess(program.Fill(words, hole(c), items, replaces, !replaces))
	}
}

// hole returns the placeholder for an argument: the value of the last of -I and -i, or {}.
func hole(c *program.Call) string {
	for i := len(c.Options) - 1; i >= 0; i-- {
		o := c.Options[i]
		switch {
		case o.Name != "I" && o.Name != "i":
		case o.Value.Unknown:
			c.Unclear("which text stands for an argument is not known")
			return "{}"
		case o.Value.Text != "":
			return o.Value.Text
		default:
			return "{}"
		}
	}
	return "{}"
}

// xargsItems returns the items for each run of the command of xargs.
func xargsItems(c *program.Call, replaces bool) [][]program.Word {
	if v, ok := c.Value("a"); ok {
		c.Role('r', v)
		return [][]program.Word{program.UnknownWords}
	}
	text, known := c.Input.Text()
	if !known {
		names := slices.Clone(c.Input.List())
		for i := range names {
			splits := !replaces && !c.HasAny("0", "d")
			names[i].Split = names[i].Pattern && splits
			names[i].Vanishes = names[i].Vanishes || len(names) > 1 // which of them come first is not known
			names[i].Unknown = names[i].Unknown || splits && strings.ContainsAny(names[i].Text, " \t\n'\"\\")
		}
		return [][]program.Word{names}
	}
	items, known := splitItems(c, text, replaces)
	size := len(items)
	switch n, counts := c.Value("n"); {
	case !known, len(items) > program.MaxWords, c.HasAny("L", "l", "s", "E", "e"):
		return [][]program.Word{program.UnknownWords}
	case replaces:
		size = 1
	case counts:
		var err error
		if size, err = strconv.Atoi(n.Text); err != nil || size < 1 || n.Unknown {
			return [][]program.Word{program.UnknownWords}
		}
	}
	groups := [][]program.Word{}
	for len(items) > size {
		groups = append(groups, items[:size])
		items = items[size:]
	}
	return append(groups, items)
}

// splitItems splits a text as xargs does. known is false if it is not clear how.
func splitItems(c *program.Call, text string, lines bool) (items []program.Word, known bool) {
	v, delimited := c.Value("d")
	switch {
	case c.Has("0"):
		return split(text, "\x00"), true
	case delimited && (v.Text == "\\n" || v.Text == "\n"):
		return split(text, "\n"), true
	case delimited && len(v.Text) == 1 && !v.Unknown:
		return split(text, v.Text), true
	case delimited:
		return nil, false
	}
	return unquoted(text, lines)
}

func split(text, by string) (items []program.Word) {
	for item := range strings.SplitSeq(strings.TrimSuffix(text, by), by) {
		items = append(items, program.Known(item))
	}
	return items
}

// unquoted splits a text at blanks, or only at the ends of lines. Quotes and backslashes keep what they hold together. known is false if a
// quote is not closed.
func unquoted(text string, lines bool) (items []program.Word, known bool) {
	var b strings.Builder
	some, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case quote != 0 && ch == quote:
			quote = 0
		case quote != 0:
			b.WriteByte(ch)
		case ch == '\'' || ch == '"':
			quote, some = ch, true
		case ch == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
			some = true
		case ch == '\n' || !lines && (ch == ' ' || ch == '\t'):
			if some {
				items = append(items, program.Known(b.String()))
			}
			b.Reset()
			some = false
		case lines && !some && (ch == ' ' || ch == '\t'): // before the item
		default:
			b.WriteByte(ch)
			some = true
		}
	}
	if some {
		items = append(items, program.Known(b.String()))
	}
	return items, quote == 0
}

// parallel runs a command with each of the arguments after ::: or of the lines from standard input.
func parallel(c *program.Call, args []program.Word) {
	c.Scan(args)
	if v, ok := c.Value("a"); ok {
		c.Role('r', v)
	}
	words, names := parallelItems(c)
	for i := range names {
		name := names[i : i+1]
		filled := program.Fill(words, hole(c), name, true, !c.HasAny("I", "i"))
		if len(words) < 2 { // a command line
			c.RunWords(filled)
			continue
		}
		c.RunProcess(filled)
	}
}

// parallelItems returns the words of the command of parallel, and the items.
func parallelItems(c *program.Call) (words, items []program.Word) {
	words = c.Operands
	for i, w := range words {
		if strings.HasPrefix(w.Text, ":::") {
			words, items = words[:i], words[i+1:]
			if strings.HasPrefix(w.Text, "::::") {
				items = program.UnknownWords
			}
			break
		}
	}
	text, known := c.Input.Text()
	switch {
	case c.HasAny("a", "N", "n", "L", "C", "d"), c.Walk.Exceeded, len(items) > program.MaxWords:
		items = program.UnknownWords
	case items == nil && known:
		items = split(text, "\n")
	case items == nil:
		items = c.Input.List()
	}
	return words, items
}
