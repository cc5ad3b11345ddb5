package program

import (
	"strings"

	"mycelium/internal/shell/effect"
)

// Word is one word of a command after the shell has expanded it, as far as its value is known.
type Word struct {
	Text     string     // the value; the known beginning of it if Unknown is set
	Raw      string     // the word as it was written
	Default  string     // the value of an unknown word if its variable is not set: the d of ${X:-d}
	Unknown  bool       // Text is not the whole value
	Pattern  bool       // it holds a pattern that the shell, or the program, expands
	Expanded bool       // the shell has expanded the Pattern: the word is a name that matches it, also where it is quoted
	Split    bool       // the name that matches the Pattern is not quoted: it becomes several words if it has a space
	File     bool       // it is taken for a file: of a folder, other names would stand here
	Except   []string   // patterns of what a Pattern leaves out
	Unquoted bool       // an unknown part is not quoted: the word may become several words, or no word
	Stream   bool       // it names the output of a command: <(…)
	From     effect.Set // the effects of the commands whose output it holds

	// Filled is the text of an unknown word with a name in the place of each unknown part, if all of them are names of things, such as
	// hashes and numbers. Otherwise it is empty.
	Filled string
	// MayBeEmpty is set if the word is what a command lists, perhaps nothing: what stands beside it would be all of the word.
	MayBeEmpty bool
	Vanishes   bool // it may be no word: it MayBeEmpty and is not quoted
}

// Known returns a word with the given value.
func Known(value string) Word { return Word{Text: value, Raw: value} }

// UnknownWords are the values of a variable of which nothing is known.
var UnknownWords = []Word{{Unknown: true}}

// Renames are the flags of declare with which a variable has another value than the one that it is given: another variable's (-n), or a
// changed one.
const Renames = "nluci"

// Named reports whether s is one of the names in "a|b|c".
func Named(names, s string) bool {
	for names != "" {
		var one string
		one, names, _ = strings.Cut(names, "|")
		if one == s {
			return true
		}
	}
	return false
}

// ContainsAny reports whether s contains one of the parts.
func ContainsAny(s string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

// ContainsText reports whether one of the words has the given text.
func ContainsText(words []Word, text string) bool {
	for i := range words {
		if words[i].Text == text {
			return true
		}
	}
	return false
}

// Tail returns the word without its first n bytes.
func (w Word) Tail(n int) Word {
	w.Text = w.Text[n:]
	return w
}
