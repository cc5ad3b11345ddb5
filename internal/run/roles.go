package run

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mycelium/internal/text"
)

// maxPrompt bounds how much of a prompt is searched for roles, in bytes. A prompt that gives a role does so at its start.
const maxPrompt = 64 << 10

// rolesNamed returns the roles that a prompt gives to its reader, in the order of the prompt. It recognizes role: x, as x role, with x
// role (also with an article or in quotes), ロール: x, 役割: x, xロールで and xの役割で. It ignores words that are not the
// name of a role.
func rolesNamed(prompt string, known []string) []string {
	prompt = strings.ToLower(text.Prefix(prompt, maxPrompt))
	type found struct {
		at   int
		name string
	}
	var all []found
	for _, name := range known {
		word := strings.ToLower(name)
		if word == "" {
			continue
		}
		for at := 0; ; {
			i := strings.Index(prompt[at:], word)
			if i < 0 {
				break
			}
			at += i
			if before, after := prompt[:at], prompt[at+len(word):]; givesRole(before, after) {
				all = append(all, found{at, name})
				break
			}
			at += len(word)
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.at - b.at })
	var out []string
	for _, f := range all {
		out = append(out, f.name)
	}
	return out
}

// quotes may stand around the name of a role.
const quotes = "\"'`“”‘’「」『』*<>"

// givesRole reports whether the text before and after a name says to take that role.
func givesRole(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	if wordRune(last) || wordRune(next) && next < 0x80 {
		return false // inside of a longer word
	}
	if after != "" {
		if rest := strings.TrimLeft(after, quotes); strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "_") {
			return false
		}
	}
	before, after = strings.TrimRight(before, quotes+" \t"), strings.TrimLeft(after, quotes+" \t")
	for _, colon := range [...]string{":", "：", "="} {
		if head, ok := strings.CutSuffix(before, colon); ok {
			head = strings.TrimRight(head, quotes+" \t")
			return endsWithWord(head, "role") || strings.HasSuffix(head, "ロール") || strings.HasSuffix(head, "役割")
		}
	}
	for _, tail := range [...]string{"ロールで", "ロールとして", "の役割で", "の役割として", "のロールで",
		"のロールとして"} {
		if strings.HasPrefix(after, tail) {
			return true
		}
	}
	if rest, ok := strings.CutPrefix(after, "role"); ok {
		if r, _ := utf8.DecodeRuneInString(rest); wordRune(r) {
			return false
		}
		for _, article := range [...]string{"the", "a", "an"} {
			if endsWithWord(before, article) {
				before = strings.TrimRight(strings.TrimSuffix(before, article), " \t")
				break
			}
		}
		return endsWithWord(before, "as") || endsWithWord(before, "with")
	}
	return false
}

// wordRune reports whether a rune is part of a Latin word or name.
func wordRune(r rune) bool {
	return r != utf8.RuneError && (r == '_' || r == '-' || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)))
}

// endsWithWord reports whether a text ends with a whole word.
func endsWithWord(s, word string) bool {
	head, ok := strings.CutSuffix(s, word)
	last, _ := utf8.DecodeLastRuneInString(head)
	return ok && !wordRune(last)
}
