package program

import "mycelium/internal/shell/effect"

// Word is one word of a command after the shell has expanded it, as far as its value is known.
type Word struct {
	Text     string     // the value; the known beginning of it if Unknown is set
	Raw      string     // the word as it was written
	Default  string     // the value of an unknown word if its variable is not set: the d of ${X:-d}
	Unknown  bool       // Text is not the whole value
	Pattern  bool       // it holds a pattern that the shell expands
	Unquoted bool       // an unknown part is not quoted: the word may become several words, or no word
	Stream   bool       // it names the output of a command: <(…)
	From     effect.Set // the effects of the commands whose output it holds
}

// Known returns a word with the given value.
func Known(value string) Word { return Word{Text: value, Raw: value} }

// UnknownWords are the values of a variable of which nothing is known.
var UnknownWords = []Word{{Unknown: true}}

// Tail returns the word without its first n bytes.
func (w Word) Tail(n int) Word {
	w.Text = w.Text[n:]
	return w
}
