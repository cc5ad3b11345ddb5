package filter

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// awk may run commands and write files from its program.
func awk(c *program.Call) {
	if v, ok := c.Value("W"); ok && !program.Named("posix|version|interactive|i|v|p", v.Text) {
		c.Unclear("an option of awk takes its program from elsewhere")
	}
	var code program.Word
	if v, ok := c.Value("e"); ok {
		code = v
	} else if !c.Has("f") && !c.Has("E") && len(c.Operands) > 0 {
		code = c.Operands[0]
	}
	switch {
	case code.Unknown:
		c.Does |= effect.InlineCode
		c.Unclear("the program of awk is not known")
	case strings.Contains(code.Text, "ARGV") || strings.Contains(code.Text, "ARGC"):
		c.Does |= effect.InlineCode
		c.Unclear("awk itself says which files it reads")
	case strings.Contains(code.Text, "system") || strings.Contains(code.Text, "getline") || strings.Contains(code.Text, "@") ||
		strings.Contains(strings.ReplaceAll(code.Text, "||", ""), "|"):
		c.Does |= effect.InlineCode
	case awkWrites(code.Text):
		c.Does |= effect.Write | effect.InlineCode
	}
}

// awkWrites reports whether a print of an awk program may go to a file.
func awkWrites(s string) bool {
	code, ok := awkCode(s)
	if !ok {
		return strings.Contains(s, ">")
	}
	for {
		i := strings.Index(code, "print")
		if i < 0 {
			return false
		}
		code = code[i+len("print"):]
		end := strings.IndexAny(code, ";}\n")
		if end < 0 {
			end = len(code)
		}
		if strings.Contains(code[:end], ">") {
			return true
		}
	}
}

// awkCode returns an awk program without the contents of its texts and regular expressions. ok is false if one of them has no end, and
// with comments, in which both may begin.
func awkCode(s string) (code string, ok bool) {
	var b strings.Builder
	before := byte('{') // the last character that is no blank
	for i := 0; i < len(s); i++ {
		c := s[i]
		if b.WriteByte(c); c == '#' {
			return "", false
		}
		// After a name, a number or a bracket, "/" divides.
		if c == '"' || c == '/' && strings.IndexByte("({,;!&|~\n}=?:", before) >= 0 {
			end := awkEnd(s[i+1:], c)
			if end < 0 {
				return "", false
			}
			i += end + 1
			b.WriteByte(c)
		}
		if c != ' ' && c != '\t' {
			before = c
		}
	}
	return b.String(), true
}

// awkEnd returns where a text or a regular expression ends.
func awkEnd(s string, mark byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case mark:
			return i
		}
	}
	return -1
}

// grep looks into the working directory if it is recursive and names no folder.
func grep(c *program.Call) {
	if c.HasAny("r", "R") && (len(c.Part.Paths) == 0 || perhapsNone(c.Operands[min(1, len(c.Operands)):])) {
		c.Role('r', program.Known("."))
	}
	action, _ := c.Value("d")
	recursive := c.HasAny("r", "R") || strings.HasPrefix(action.Text, "rec")
	if !recursive && !program.Named("ag|ack", c.Part.Program) {
		return
	}
	files := c.Operands
	if !c.HasAny("e", "f") && len(files) > 0 {
		files = files[1:]
	}
	below(c, files, !recursive)
}

// ripgrep reads what git does not ignore and what is not hidden, unless it is told otherwise.
func ripgrep(c *program.Call) {
	files := c.Operands
	if !c.HasAny("e", "f", "files", "type-list") && len(files) > 0 {
		files = files[1:]
	}
	if !c.HasAny("files", "type-list", "t") {
		below(c, files, !c.HasAny("hidden", "u"))
	}
}

// below reads everything below the operands, or below the working directory, but for what the options leave out. Where an option names the
// files that are read, those are meant.
func below(c *program.Call, files []program.Word, skipsHidden bool) {
	if len(files) == 0 || perhapsNone(files) {
		files = append(files[:len(files):len(files)], program.Known("."))
	}
	var except, names []string
	if skipsHidden {
		except = append(except, "**/.*", "**/.*/**")
	}
	for _, o := range c.Options {
		name, negated := strings.CutPrefix(o.Value.Text, "!")
		name = strings.Trim(name, "/")
		switch {
		case o.Value.Unknown || !o.HasValue:
		case program.Named("exclude|exclude-dir|ignore-dir", o.Name), program.Named("g|iglob", o.Name) && negated:
			except = append(except, "**/"+name, "**/"+name+"/**")
		case program.Named("include|g|iglob", o.Name):
			names = append(names, name)
		}
	}
	for _, f := range files {
		if f.Unknown || f.Text == "-" {
			continue
		}
		if len(names) == 0 {
			program.Everything(c, f, except...)
		}
		for _, name := range names {
			to := f
			to.Text, to.Pattern, to.Except = strings.TrimSuffix(f.Text, "/")+"/**/"+name, true, except
			c.File(policy.Read, to)
		}
	}
}

// perhapsNone reports whether there are words of which each may be none.
func perhapsNone(words []program.Word) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w program.Word) bool { return !w.Vanishes })
}

// query is jq and yq, whose programs can show the environment and read files.
func query(c *program.Call) {
	for _, t := range c.Operands[:min(1, len(c.Operands))] {
		for _, word := range [...]string{"$ENV", "env", "strenv", "envsubst"} {
			if hasWord(t.Text, word) {
				c.Does |= effect.Secrets
			}
		}
		if hasWord(t.Text, "load") || hasWord(t.Text, "load_str") || hasWord(t.Text, "import") || hasWord(t.Text, "include") {
			c.Unclear("which files the filter reads is not known")
		}
	}
}

// yqRow is yq behind the name of its subcommand.
var yqRow = program.Row{Name: "yq", Options: "i|inplace f|front-matter=v o|output-format=v p|input-format=v from-file=r s|split-exp=v " +
	"split-exp-file=r arg=2 argjson=2 slurpfile=3 rawfile=3 P|prettyPrint", Plain: plainYq, Operands: "vr*",
	Instead: "i vb*", Handle: query}

// yq takes the name of a subcommand before its program, which is no file: yq eval '.key' x.yaml.
func yq(c *program.Call, args []program.Word) {
	if len(args) > 0 && program.Named("eval|e|eval-all|ea", args[0].Text) {
		args = args[1:]
	}
	if len(args) > 0 && slices.ContainsFunc(args, func(w program.Word) bool {
		return strings.HasPrefix(w.Text, "-s") || strings.HasPrefix(w.Text, "--split")
	}) {
		c.Unclear("the names of the files that it writes are computed")
	}
	c.Apply(&yqRow, args)
}

// hasWord reports whether a word stands in the program of a filter, neither as a key nor in a text.
func hasWord(s, word string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return false
		}
		at := from + i
		from = at + len(word)
		before := at == 0 || strings.IndexByte(" |(,;[{:", s[at-1]) >= 0
		after := from == len(s) || strings.IndexByte(" |(),;]}.", s[from]) >= 0
		if before && after {
			return true
		}
	}
}

// hexDump is xxd. Its options are whole words, but a number may stand behind one.
func hexDump(c *program.Call, args []program.Word) {
	words := make([]program.Word, 0, len(args))
	for _, w := range args {
		counts := len(w.Text) > 2 && program.Named("-c|-g|-l|-o|-s", w.Text[:2]) &&
			strings.Trim(w.Text[2:], "0123456789abcdefxABCDEF+-") == ""
		if counts && !w.Unknown {
			words = append(words, program.Known(w.Text[:2]), w.Tail(2))
			continue
		}
		words = append(words, w)
	}
	c.Scan(words)
	c.Spread()
	c.Finish()
}

// count handles wc, which shows numbers of what it reads, from standard input too.
func count(c *program.Call) {
	if c.Files == nil || c.Has("files0-from") {
		return
	}
	for i := range c.Files.Paths {
		if p := &c.Files.Paths[i]; p.Access == policy.Read {
			p.Only = policy.Looks
		}
	}
}
