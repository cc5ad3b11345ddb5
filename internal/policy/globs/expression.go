package globs

import (
	"strings"
	"unicode"
)

// Expression is a glob that a call has in the place of a path. It means the names at which it is [Aimed].
type Expression struct {
	Text string

	fold       bool
	begin, end string // of each path that it means
	means      Language
	read       bool // means is set
}

// NewExpression reads a glob. With fold set it means the names as a file system that ignores case has them.
func NewExpression(glob string, fold bool) Expression {
	if fold {
		glob = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) { // HFS+ ignores these
				return -1
			}
			return unicode.ToLower(r)
		}, glob)
	}
	e := Expression{Text: glob, fold: fold}
	e.begin, e.end = ends(glob)
	return e
}

// Meets reports whether the expression may mean a path that a glob matches.
func (e *Expression) Meets(glob string) bool {
	begin, end := ends(glob)
	if !strings.HasPrefix(e.begin, begin) && !strings.HasPrefix(begin, e.begin) ||
		!strings.HasSuffix(e.end, end) && !strings.HasSuffix(end, e.end) {
		return false
	}
	return e.Language().Meets(Of(glob, e.fold))
}

// Language is the set of the paths that the expression means.
func (e *Expression) Language() Language {
	if !e.read {
		e.means, e.read = Aimed(e.Text, e.fold), true
	}
	return e.means
}

// ends returns the text with which each match of a glob begins, and the one with which each ends. "a/**" matches "a", and "**/b" matches
// "b".
func ends(glob string) (begin, end string) {
	const special = `*?[]{}\`
	first, last := strings.IndexAny(glob, special), strings.LastIndexAny(glob, special)
	if first < 0 {
		return glob, glob
	}
	if glob[last] == '\\' {
		last++ // the next character may be a special one
	}
	return strings.TrimSuffix(glob[:first], "/"), strings.TrimPrefix(glob[min(last+1, len(glob)):], "/")
}

// Broad reports whether a name in a glob says nothing about the files that it means: it begins with a star, or it has no letter and no
// digit of its own. A name that begins with a dot is about the hidden files, and one that begins with a choice is about what stands in it.
func Broad(name string) bool {
	if !strings.ContainsAny(name, "*?[") || name[0] == '.' || name[0] == '{' {
		return false
	}
	return name[0] == '*' || Wild(name)
}

// Wild reports whether a name in a glob has wildcards, and no letter or digit of its own.
func Wild(name string) bool {
	if !strings.ContainsAny(name, "*?[") {
		return false
	}
	in := false
	for i := range len(name) {
		switch c := name[i] | 0x20; {
		case name[i] == '[':
			in = true
		case name[i] == ']':
			in = false
		case !in && (c >= 'a' && c <= 'z' || name[i] >= '0' && name[i] <= '9' || name[i] >= 0x80):
			return false
		}
	}
	return true
}
