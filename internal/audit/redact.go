package audit

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/credential"
)

// Redact returns the raw JSON with the values of secret keys replaced by "[REDACTED]", at any depth; arrays stay arrays, the
// order of keys, white space and the digits of numbers stay as they are. A value of any type is replaced, objects and arrays
// whole.
//
// A key is secret if [credential.Sensitive] says so, or if one of more is among its words: "ssn" hits user_ssn and userSSN, not
// "lessn". In all other strings, what has the form of a secret is replaced; see [credential.Mask]. Raw that is no JSON stays no
// JSON, and is redacted as text.
func Redact(raw []byte, more []string) []byte {
	if len(bytes.TrimSpace(raw)) == 0 {
		return raw
	}
	if !jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true)) {
		out := []byte(redactLoose(string(raw)))
		if jsontext.Value(out).IsValid(jsontext.AllowDuplicateNames(true)) {
			return []byte(credential.Redacted)
		}
		return out
	}
	r := redactor{in: raw, out: make([]byte, 0, len(raw)+16), more: moreWords(more)}
	r.value()
	return append(r.out, r.in[r.at:]...)
}

// appendRedacted appends valid JSON, redacted and without white space.
func appendRedacted(dst, valid []byte, more []string) []byte {
	r := redactor{in: valid, out: dst, more: moreWords(more), compact: true}
	r.value()
	return r.out
}

func moreWords(more []string) (out [][]string) {
	for _, m := range more {
		if w := credential.Words(m); len(w) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// redactor copies valid JSON from in to out. It need not check anything: the input is known to be valid.
type redactor struct {
	in, out []byte
	at      int
	more    [][]string
	compact bool // leaves white space out
}

// space copies white space, colons and commas, and returns the byte after them.
func (r *redactor) space() byte {
	for ; ; r.at++ {
		switch c := r.in[r.at]; c {
		case ' ', '\t', '\r', '\n':
			if !r.compact {
				r.out = append(r.out, c)
			}
		case ',', ':':
			r.out = append(r.out, c)
		default:
			return c
		}
	}
}

// scalar copies a number or a literal.
func (r *redactor) scalar() {
	start := r.at
	for r.at < len(r.in) {
		switch r.in[r.at] {
		case ' ', '\t', '\r', '\n', ',', ']', '}':
			r.out = append(r.out, r.in[start:r.at]...)
			return
		}
		r.at++
	}
	r.out = append(r.out, r.in[start:r.at]...)
}

func (r *redactor) copyByte() {
	r.out = append(r.out, r.in[r.at])
	r.at++
}

// value copies one value. The depth is bounded by jsontext, which refuses more than 10,000 levels.
func (r *redactor) value() {
	switch r.space() {
	case '{':
		r.copyByte()
		for r.space() != '}' {
			key := r.stringToken()
			r.out = append(r.out, key...)
			next := r.space()
			if secretKey(unquote(key), next == '-' || next >= '0' && next <= '9', r.more) {
				r.skip()
				r.out = append(r.out, `"`+credential.Redacted+`"`...)
				continue
			}
			r.value()
		}
		r.copyByte()
	case '[':
		r.copyByte()
		for r.space() != ']' {
			r.value()
		}
		r.copyByte()
	case '"':
		r.out = appendRedactedToken(r.out, r.stringToken())
	default:
		r.scalar()
	}
}

// skip moves past one value.
func (r *redactor) skip() {
	keep, depth := len(r.out), 0
	for {
		switch c := r.space(); c {
		case '{', '[':
			depth++
			r.at++
		case '}', ']':
			depth--
			r.at++
		case '"':
			r.stringToken()
		default:
			r.scalar()
		}
		if depth == 0 {
			break
		}
	}
	r.out = r.out[:keep]
}

// stringToken moves past a string and returns it with its quotes.
func (r *redactor) stringToken() []byte {
	start := r.at
	for r.at++; r.in[r.at] != '"'; r.at++ {
		if r.in[r.at] == '\\' {
			r.at++
		}
	}
	r.at++
	return r.in[start:r.at]
}

func appendRedactedToken(dst, tok []byte) []byte {
	if bytes.IndexByte(tok, '\\') < 0 && !credential.Possible(tok) { // nearly every string
		return append(dst, tok...)
	}
	s := unquote(tok)
	clean := credential.Mask(s)
	if clean == s {
		return append(dst, tok...)
	}
	return appendString(dst, clean)
}

func unquote(tok []byte) string {
	if bytes.IndexByte(tok, '\\') < 0 {
		return string(tok[1 : len(tok)-1])
	}
	b, err := jsontext.AppendUnquote(nil, tok)
	if err != nil {
		return string(tok)
	}
	return string(b)
}

// appendString appends s as a JSON string; bytes that are no UTF-8 become the replacement character.
func appendString(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		out, _ = jsontext.AppendQuote(dst, strings.ToValidUTF8(s, "\uFFFD")) // valid now: the only thing that can fail
	}
	return out
}

func secretKey(key string, number bool, more [][]string) bool {
	if credential.Sensitive(key, number) {
		return true
	}
	if len(more) == 0 {
		return false
	}
	words := credential.Words(key)
	return slices.ContainsFunc(more, func(m []string) bool { return containsRun(words, m) })
}

// containsRun reports whether run stands in all, in one piece.
func containsRun(all, run []string) bool {
	for i := 0; i+len(run) <= len(all); i++ {
		if slices.Equal(all[i:i+len(run)], run) {
			return true
		}
	}
	return false
}

// lazy compiles on first use: every start of the program would pay for patterns that it seldom needs.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var looseKey = lazy(`(?i)((?:` + credential.NamePattern + `|authorization|\bauth)[A-Za-z0-9_-]*["']?\s*[:=]\s*)` +
	`("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;}&]+)`)

// redactLoose redacts a text that may be a piece of something with keys: JSON that does not parse, a query, a header.
func redactLoose(s string) string {
	return looseKey().ReplaceAllString(credential.Mask(s), "${1}"+credential.Redacted)
}
