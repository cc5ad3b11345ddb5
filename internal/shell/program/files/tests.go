package files

import (
	"path"
	"strings"
	"unicode"

	"mycelium/internal/policy/globs"
	"mycelium/internal/shell/program"
)

// tests are the tests of find on the names of files, as globs for the paths below a starting point.
type tests struct {
	names  []string // one of them matches; none: every name
	except []string // none of them matches
}

// findTests reads the tests among the arguments of find.
func findTests(c *program.Call, args []program.Word) tests {
	var t tests
	choices, negated, basic := 0, false, true
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch test := strings.TrimPrefix(w.Text, "-"); {
		case w.Unknown && w.Unquoted:
			c.Unclear("an argument of find is not known")
		case program.Named("!|-not", w.Text):
			negated = true
			continue
		case program.Named("-o|-or|,", w.Text):
			choices++
		case w.Text == "-regextype":
			i++
			basic = i < len(args) && program.Named("emacs|findutils-default|posix-basic|grep|ed|sed", args[i].Text)
		case strings.HasPrefix(w.Text, "-") && program.Named("name|iname|path|wholename|ipath|iwholename|regex|iregex", test):
			if i++; i == len(args) {
				break
			}
			name := below(test, args[i], basic)
			switch pruned := i+1 < len(args) && args[i+1].Text == "-prune"; {
			case pruned:
				t.except = append(t.except, name, name+"/**")
				choices--
			case negated:
				t.except = append(t.except, name)
			default:
				t.names = append(t.names, name)
			}
		case program.Named("-exec|-execdir|-ok|-okdir", w.Text):
			for i+1 < len(args) && args[i].Text != ";" && (args[i].Text != "+" || args[i-1].Text != "{}") {
				i++
			}
		}
		negated = false
	}
	if choices > 0 && choices != len(t.names)-1 {
		t.names = nil // some branch may have no name
	}
	if choices > 0 && len(t.except) > 0 && len(t.names) > 0 {
		t.except = nil // a branch that leaves something out, and one that does not
	}
	if choices <= 0 && len(t.names) > 1 {
		t.names = t.names[:1] // all of them match
	}
	return t
}

// below returns the value of a test as a glob: "**/x" for a name below a starting point, and a whole path as it is. "**" is what is not
// known.
func below(test string, w program.Word, basic bool) string {
	pattern := strings.ReplaceAll(strings.ReplaceAll(w.Text, "{", "?"), "}", "?") // a brace means nothing to find
	switch {
	case w.Unknown:
		return "**"
	case strings.HasSuffix(test, "regex"):
		pattern = ofRegex(w.Text, basic)
	case strings.HasSuffix(test, "path") || strings.HasSuffix(test, "wholename"):
		pattern = overSlashes(pattern)
	}
	if strings.HasPrefix(test, "i") {
		pattern = anyCase(pattern)
	}
	if strings.HasSuffix(test, "name") && !strings.HasSuffix(test, "wholename") {
		return "**/" + pattern
	}
	return pattern
}

// overSlashes returns the glob for a pattern in which a star matches slashes too.
func overSlashes(pattern string) string {
	var b strings.Builder
	for i := range len(pattern) {
		switch begins, ends := i == 0 || pattern[i-1] == '/', i+1 == len(pattern); {
		case pattern[i] != '*':
			b.WriteByte(pattern[i])
		case begins && (ends || pattern[i+1] == '/'):
			b.WriteString("**")
		case begins:
			b.WriteString("**/*")
		case ends:
			b.WriteString("{*,*/**}")
		default:
			b.WriteString("{*,*/**/*}")
		}
	}
	return b.String()
}

// anyCase returns the glob that matches in lower case and in upper case.
func anyCase(pattern string) string {
	var b strings.Builder
	in := false
	for _, r := range pattern {
		low, up := unicode.ToLower(r), unicode.ToUpper(r)
		switch r {
		case '[':
			in = true
		case ']':
			in = false
		}
		switch {
		case low == up:
			b.WriteRune(r)
		case in:
			b.WriteString(string(low) + string(up))
		default:
			b.WriteString("[" + string(low) + string(up) + "]")
		}
	}
	return b.String()
}

// ofRegex returns a glob that matches at least what a regular expression of find matches, if the expression is a simple one.
func ofRegex(expr string, basic bool) string {
	open, bar, shut := "(", "|", ")"
	if basic {
		open, bar, shut = `\(`, `\|`, `\)`
	}
	glob := strings.NewReplacer(open, "{", bar, ",", shut, "}", `\.`, ".", `\/`, "/", "[^/]*", "*", "[^/]+", "*", ".*", "**", ".+", "**",
		".", "?").Replace(expr)
	if strings.ContainsAny(glob, `\+^$()|[`) || strings.Contains(glob, "?*") || strings.Count(expr, "*") != strings.Count(glob, "*") &&
		strings.Count(expr, ".*")+strings.Count(expr, "[^/]*") != strings.Count(expr, "*") || !globs.Has(glob) && strings.Contains(expr, "?") {
		return "**"
	}
	return glob
}

// found returns what find finds below the starting points.
func (t tests) found(roots []program.Word) []program.Word {
	names := t.names
	if len(names) == 0 {
		names = []string{"**"}
	}
	var all []program.Word
	for _, r := range roots {
		for _, name := range names {
			all = append(all, under(r, name, t.except))
			if meets(name, r) {
				all = append(all, r)
			}
		}
	}
	for _, name := range t.names {
		if last := name[strings.LastIndexByte(name, '/')+1:]; !globs.Broad(last) {
			all = append(all, governed(roots, last)...)
		}
	}
	return all
}

// meets reports whether a glob may match a starting point itself: it may be a file.
func meets(name string, root program.Word) bool {
	base := path.Base(root.Text)
	if !root.Pattern {
		base = globs.Quote(base)
	}
	last := name[strings.LastIndexByte(name, '/')+1:]
	return last != "**" && !root.Unknown && globs.Of(last, true).Meets(globs.Of(base, true))
}

// under returns what a glob matches below a starting point.
func under(root program.Word, name string, except []string) program.Word {
	root.Pattern = true
	dir := strings.TrimSuffix(root.Text, "/")
	for _, e := range except {
		if !strings.HasPrefix(e, "**") {
			e = strings.TrimPrefix(e, "./")
		}
		root.Except = append(root.Except, e)
	}
	switch {
	case strings.HasPrefix(name, "**"):
		root.Text = dir + "/" + name
	case name == root.Text || strings.HasPrefix(name, dir+"/"): // a whole path begins with the starting point
		root.Text = name
	default:
		root.Text = dir + "/**" // it matches no path below the starting point, or its beginning is a pattern
	}
	return root
}
