package program

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// Listed returns the files whose names the commands from a part on write: find, ls, git ls-files and grep -l, and filters behind them. It
// returns nil if the names are not known.
func (w *Walk) Listed(from int) []Word {
	if from >= len(w.Parts) {
		return nil
	}
	for i := range w.Parts[from:] {
		p := &w.Parts[from+i]
		if i > 0 && (!isFilter(p.Program) || len(p.Paths) > 0) {
			return nil
		}
	}
	p := &w.Parts[from]
	switch p.Program {
	case "find":
		return w.Found
	case "ls", "git", "fd", "rg", "grep":
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
	hidden := p.Program == "ls" && slices.ContainsFunc(p.Argv[1:], func(arg string) bool {
		return strings.HasPrefix(arg, "-") && strings.ContainsAny(arg, "aAf")
	})
	var names []Word
	for _, at := range p.Paths {
		if at.Access == policy.Read && at.Clean != "" {
			names = append(names, Word{Text: at.Clean + "/*", Pattern: true})
			if hidden {
				names = append(names, Word{Text: at.Clean + "/.*", Pattern: true})
			}
		}
	}
	return names
}

// isFilter reports whether a program only writes some of what it reads.
func isFilter(name string) bool {
	switch name {
	case "grep", "egrep", "fgrep", "rg", "head", "tail", "sort", "uniq", "tac", "shuf":
		return true
	}
	return false
}

// List returns the words that come from standard input, as far as they are known.
func (in Input) List() []Word {
	switch {
	case in.Document != nil && !in.Document.Unknown:
		return fields(in.Document.Text)
	case in.Output != nil:
		if text, ok := in.Output(); ok {
			return fields(text.Text)
		}
		if len(in.Names) > 0 {
			return in.Names
		}
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
