// Package globs answers one question for every language of patterns: is there a text that two patterns match both?
//
// A pattern becomes a [Language], which is a program of package regexp/syntax, and two programs are walked side by side. The walk is pure,
// it ends after at most the product of the two lengths, and what it cannot know, it answers with yes.
package globs

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// Language is the set of the texts that a pattern matches. The zero Language has every text.
type Language struct{ prog *syntax.Prog }

// Regex is the language of a regular expression that matches a whole text. fold ignores case.
func Regex(expr string, fold bool) Language {
	flags := syntax.Perl | syntax.DotNL
	if fold {
		flags |= syntax.FoldCase
	}
	re, err := syntax.Parse(expr, flags)
	if err != nil {
		return Language{}
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return Language{}
	}
	return Language{prog}
}

// Of is the language of a glob: "*" and "?" match no slash, "**" matches any text, [a-z] and {a,b} are choices, a backslash takes the
// meaning from the next character.
func Of(pattern string, fold bool) Language {
	t := translator{in: pattern}
	return Regex(t.regex(), fold)
}

// Aimed is the language of the names that a glob means: a name in it that is [Broad], and "**", match only names that are nobody's.
// "*.json" and "**/x" are about files that somebody has to look for on the disk; "se*.json" and ".cl*" are about one name.
func Aimed(pattern string, fold bool) Language {
	t := translator{in: pattern, aimed: true}
	return Regex(t.regex(), fold)
}

// Meets reports whether both languages may have one text in common.
func (l Language) Meets(o Language) bool {
	if l.prog == nil || o.prog == nil {
		return true
	}
	w := walk{a: l.prog, b: o.prog, seen: map[[2]uint32]bool{}}
	w.reach(uint32(l.prog.Start), uint32(o.prog.Start))
	for len(w.todo) > 0 {
		at := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		if w.step(at[0], at[1]) {
			return true
		}
	}
	return false
}

// maxPairs bounds a walk. Two patterns that need more may meet.
const maxPairs = 200_000

// walk is the way through two programs side by side.
type walk struct {
	a, b *syntax.Prog
	seen map[[2]uint32]bool
	todo [][2]uint32
}

func (w *walk) reach(i, j uint32) {
	at := [2]uint32{i, j}
	if !w.seen[at] {
		w.seen[at] = true
		w.todo = append(w.todo, at)
	}
}

// step follows one pair of instructions. It reports whether both programs match there.
func (w *walk) step(i, j uint32) bool {
	if len(w.seen) > maxPairs {
		return true
	}
	x, y := &w.a.Inst[i], &w.b.Inst[j]
	if next, free := withoutText(x); free {
		for _, n := range next {
			w.reach(n, j)
		}
		return false
	}
	if next, free := withoutText(y); free {
		for _, n := range next {
			w.reach(i, n)
		}
		return false
	}
	if x.Op == syntax.InstMatch || y.Op == syntax.InstMatch {
		return x.Op == y.Op
	}
	if overlap(runes(x), runes(y)) {
		w.reach(x.Out, y.Out)
	}
	return false
}

// withoutText returns where an instruction leads that takes no text. An assertion, such as \b, is taken to hold.
func withoutText(in *syntax.Inst) (next []uint32, free bool) {
	switch in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return []uint32{in.Out, in.Arg}, true
	case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
		return []uint32{in.Out}, true
	case syntax.InstFail:
		return nil, true
	default:
		return nil, false
	}
}

// runes returns the ranges of the characters that an instruction takes, as pairs.
func runes(in *syntax.Inst) []rune {
	switch in.Op {
	case syntax.InstRuneAny:
		return []rune{0, unicode.MaxRune}
	case syntax.InstRuneAnyNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	default:
	}
	if len(in.Rune) != 1 {
		return in.Rune
	}
	r := in.Rune[0]
	list := []rune{r, r}
	if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			list = append(list, f, f)
		}
	}
	return list
}

func overlap(a, b []rune) bool {
	for i := 0; i+1 < len(a); i += 2 {
		for j := 0; j+1 < len(b); j += 2 {
			if a[i] <= b[j+1] && b[j] <= a[i+1] {
				return true
			}
		}
	}
	return false
}

// Quote returns the glob that matches only the text.
func Quote(text string) string {
	if !strings.ContainsAny(text, `*?[]{}\`) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(`*?[]{}\`, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// Has reports whether a text has a character that means something in a glob.
func Has(text string) bool { return strings.ContainsAny(text, `*?[{\`) }

// Alternatives returns the globs that a glob with a choice over a slash stands for. What it cannot take apart, it returns as it is.
func Alternatives(glob string) []string {
	begin := strings.IndexByte(glob, '{')
	if begin < 0 {
		return []string{glob}
	}
	end := strings.IndexByte(glob[begin:], '}')
	if end < 0 || strings.Contains(glob[begin+1:begin+end], "{") || !strings.Contains(glob[begin:begin+end], "/") {
		return []string{glob}
	}
	var list []string
	for one := range strings.SplitSeq(glob[begin+1:begin+end], ",") {
		list = append(list, Alternatives(glob[:begin]+one+glob[begin+end+1:])...)
	}
	return list
}
