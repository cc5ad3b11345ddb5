package intent

import (
	"strings"
	"unicode"
)

// quoted stands for what someone else said, in the text that is read.
const quoted = '\ufffc'

// closing returns the quotation mark that closes r, and 0 if r opens none.
func closing(r rune) rune {
	switch r {
	case '"', '\'', '`':
		return r
	case '“':
		return '”'
	case '‘':
		return '’'
	case '「':
		return '」'
	case '『':
		return '』'
	case '«':
		return '»'
	}
	return 0
}

// mask replaces quotations with one character each: what is quoted is said by someone else. A line that begins with ">" is a quotation.
// A command between backquotes stays if it is to be run.
func mask(said string) []rune {
	var out []rune
	fenced := false
	for line := range strings.Lines(said) {
		bare := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(bare, "```"):
			fenced = !fenced
			out = append(out, quoted, '\n')
		case fenced || strings.HasPrefix(bare, ">"):
			out = append(out, quoted, '\n')
		default:
			out = maskLine(out, []rune(line))
		}
	}
	return out
}

func maskLine(out, line []rune) []rune {
	for i := 0; i < len(line); i++ {
		end := 0
		if c := closing(line[i]); c != 0 && opens(line, i) {
			end = closes(line, i, c)
		}
		switch {
		case end == 0:
			out = append(out, line[i])
		case line[i] == '`' && toRun(line[:i], line[end+1:]):
			out = append(out, ' ')
			out = append(out, line[i+1:end]...)
			out = append(out, ' ')
			i = end
		default:
			out = append(out, ' ', quoted, ' ')
			i = end
		}
	}
	return out
}

// opens reports whether the mark at i can open a quotation: an apostrophe inside of a word does not.
func opens(line []rune, i int) bool {
	return line[i] != '\'' && line[i] != '‘' || i == 0 || !unicode.IsLetter(line[i-1]) && !unicode.IsDigit(line[i-1])
}

// closes returns the place of the mark that closes the quotation at i, and 0 if there is none.
func closes(line []rune, i int, mark rune) int {
	for j := i + 1; j < len(line); j++ {
		if line[j] == mark && (mark != '\'' && mark != '’' || j+1 == len(line) || !unicode.IsLetter(line[j+1])) {
			return j
		}
	}
	return 0
}

// toRun reports whether what stands around a quoted command says to run it.
func toRun(before, after []rune) bool {
	b := strings.ToLower(strings.TrimSpace(string(before)))
	for _, verb := range [...]string{"run", "execute", "try", "running", "start", "use"} {
		if b == verb || strings.HasSuffix(b, " "+verb) {
			return true
		}
	}
	a := strings.TrimLeft(strings.TrimSpace(string(after)), "を")
	for _, verb := range [...]string{"実行", "走らせ", "流し", "回し"} {
		if strings.HasPrefix(a, verb) {
			return true
		}
	}
	return false
}
