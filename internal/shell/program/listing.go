package program

import (
	"path"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
)

// Listed returns the files whose names the commands from a part on write: find, ls, git ls-files and grep -l, and filters behind them. It
// returns nil if the names are not known.
func (w *Walk) Listed(from int) []Word {
	if from >= len(w.Parts) {
		return nil
	}
	for i := range w.Parts[from:] {
		p := &w.Parts[from+i]
		if i > 0 && (!IsFilter(p.Program) || len(p.Paths) > 0) {
			return nil
		}
	}
	p := &w.Parts[from]
	switch p.Program {
	case "find":
		return w.Found
	case "ls", "git", "fd", "rg", "grep":
		if names := pathspecs(p.Argv); names != nil {
			return names
		}
		if p.Program == "git" && (len(p.Argv) < 2 || p.Argv[1] != "ls-files" && p.Argv[1] != "diff" && p.Argv[1] != "grep") {
			return nil
		}
	case "go":
		if len(p.Argv) > 1 && p.Argv[1] == "list" {
			return []Word{Known("./...")}
		}
		return nil
	default:
		return nil
	}
	given := func(letters string) bool {
		return p.Program == "ls" && slices.ContainsFunc(p.Argv[1:], func(arg string) bool {
			return strings.HasPrefix(arg, "-") && strings.ContainsAny(arg, letters)
		})
	}
	hidden, themselves := given("aAf"), given("d")
	var names []Word
	for _, at := range p.Paths {
		switch {
		case at.Access != policy.Read || at.Clean == "":
		case p.Program == "ls" && !themselves: // of a folder the names alone, which mean other files where the reader of the list is
			if at.Raw != "." {
				names = append(names, Word{Text: at.Raw, Pattern: at.Pattern})
			}
			if path.Ext(path.Base(at.Raw)) != "" && at.Raw != "." && at.Raw != ".." && !hidden && !w.makesFolders() { // most likely a file
				names[len(names)-1].File = true
				continue
			}
			if names = append(names, Word{Text: "*", Pattern: true}); hidden {
				names = append(names, Word{Text: ".*", Pattern: true})
			}
		case themselves:
			names = append(names, Word{Text: at.Clean, Pattern: at.Pattern, Except: at.Except})
		default:
			everything := func(o policy.Path) bool { return o.Pattern && o.Raw == strings.TrimSuffix(at.Raw, "/")+"/**" }
			if slices.ContainsFunc(p.Paths, everything) { // that names the folder, or the file, too
				continue
			}
			if path.Clean(at.Raw) != "." { // a file, or the matches of a pattern
				names = append(names, Word{Text: at.Raw, Pattern: at.Pattern, Except: at.Except})
			}
			if !at.Pattern { // whatever lies below a folder, hidden or not
				names = append(names, Word{Text: path.Join(globs.Quote(at.Raw), "**"), Pattern: true})
			}
		}
	}
	return names
}

// pathspecs returns the names that git ls-files lists if it is told which ones; nil: it is not, or with options that change their meaning.
// A star of a pathspec stands for slashes, too.
func pathspecs(argv []string) (names []Word) {
	if len(argv) < 3 || argv[0] != "git" || argv[1] != "ls-files" {
		return nil
	}
	for _, arg := range argv[2:] {
		switch {
		case Named("-z|-c|-o|-m|-d|-s|-co|-oc|--cached|--others|--modified|--deleted|--stage|--exclude-standard|--", arg):
		case arg == "" || strings.ContainsAny(arg[:1], "-:/~") || strings.Contains(arg, ".."):
			return nil
		case globs.Has(arg):
			folder, last := path.Split(arg)
			if globs.Has(folder) {
				return nil
			}
			names = append(names, Word{Text: path.Join(folder, "**", last), Pattern: true})
		default:
			names = append(names, Word{Text: arg}, Word{Text: path.Join(arg, "**"), Pattern: true})
		}
	}
	return names
}

// makesFolders reports whether a part may have made a folder.
func (w *Walk) makesFolders() bool {
	return slices.ContainsFunc(w.Parts, func(p policy.Part) bool {
		return Named("mkdir|install|cp|mv|ln|rsync|tar|unzip|git", p.Program)
	})
}

// Expansions reads the folders in which the shell looks for the names of the patterns among the words: who prints them sees the names. A
// pattern that the command takes for a path is one already.
func Expansions(c *Call, words []Word) {
	for i := range words {
		w := words[i]
		if w.Unknown {
			w.Text, w.Pattern = w.Default, globs.Has(w.Default)
		}
		for _, one := range globs.Alternatives(w.Text) {
			named := func(p policy.Path) bool { return strings.HasSuffix(p.Raw, one) }
			if !w.Pattern || !globs.Has(one) || slices.ContainsFunc(c.Part.Paths, named) {
				continue
			}
			w.Text = one
			if folder, some := lookedInto(w); some {
				c.File(policy.Read, folder)
			}
		}
	}
}

// lookedInto returns the folder in which the last name of a pattern is looked for. The way there ends before a name that says nothing
// about the folders that it means. some is false for the working directory.
func lookedInto(w Word) (folder Word, some bool) {
	names := strings.Split(strings.TrimRight(w.Text, "/"), "/")
	last := len(names) - 1
	for last > 0 && !globs.Has(names[last]) {
		last--
	}
	for i, name := range names[:last] {
		if globs.Broad(name) {
			last = i
			break
		}
	}
	folder = Word{Text: strings.Join(names[:last], "/"), Raw: w.Raw}
	folder.Pattern = globs.Has(folder.Text)
	if folder.Text == "" && strings.HasPrefix(w.Text, "/") {
		folder.Text = "/"
	}
	return folder, folder.Text != "" && folder.Text != "."
}

// IsFilter reports whether a program only writes some of what it reads.
func IsFilter(name string) bool {
	switch name {
	case "grep", "egrep", "fgrep", "rg", "head", "tail", "sort", "uniq", "tac", "shuf":
		return true
	}
	return false
}

// Text returns the text that comes from standard input, if it is known.
func (in Input) Text() (text string, known bool) {
	switch {
	case in.Document != nil:
		return in.Document.Text, !in.Document.Unknown
	case in.Output != nil:
		w, ok := in.Output()
		return w.Text, ok && !w.Unknown
	}
	return "", false
}

// List returns the words that come from standard input, as far as they are known.
func (in Input) List() []Word {
	if text, known := in.Text(); known {
		return fields(text)
	}
	if len(in.Names) > 0 {
		return in.Names
	}
	return UnknownWords
}

func fields(s string) []Word {
	var words []Word
	for f := range strings.FieldsSeq(s) {
		words = append(words, Known(f))
	}
	if len(words) > MaxWords {
		return UnknownWords
	}
	return words
}
