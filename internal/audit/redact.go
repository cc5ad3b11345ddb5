package audit

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"mycelium/internal/rawjson"
)

const redacted = "[REDACTED]"

// Redact returns the raw JSON with the values of secret keys replaced by "[REDACTED]", at any depth; arrays stay arrays, the
// order of keys, white space and the digits of numbers stay as they are. A value of any type is replaced, objects and arrays
// whole.
//
// A key is secret if it contains, in any case and with or without separators, one of: password, passwd, passphrase, secret, token,
// apikey, credential, privatekey, authorization; or if auth is one of its words (auth, x-auth, basicAuth; not author). A key
// that counts tokens (max_tokens, tokenCount, totalTokens) keeps a value that is a number; a key about a tokenizer is not
// secret. Each of more makes keys secret that have it among their words: "ssn" hits user_ssn and userSSN, not "lessn".
//
// In all other strings, what looks like a credential by its form is replaced: keys of well-known services, bearer tokens,
// JSON web tokens, private keys, passwords in URLs. Raw that is no JSON stays no JSON, and is redacted as text.
func Redact(raw []byte, more []string) []byte {
	if len(bytes.TrimSpace(raw)) == 0 {
		return raw
	}
	if !rawjson.WellFormed(raw) {
		out := []byte(redactLoose(string(raw)))
		if rawjson.WellFormed(out) {
			return []byte(redacted)
		}
		return out
	}
	return appendRedacted(nil, raw, moreWords(more), false)
}

// appendRedacted appends well-formed JSON with its secrets replaced, without the white space between tokens if it is to be compact.
func appendRedacted(dst, raw []byte, more [][]string, compact bool) []byte {
	out, ok := rawjson.Rewrite(dst, raw, struct{}{}, &rawjson.Visitor[struct{}]{
		Member: func(_ struct{}, key []byte, first byte) (struct{}, bool) {
			return struct{}{}, secretKey(string(key), first == '-' || first >= '0' && first <= '9', more)
		},
		String:  func(_ struct{}, token []byte) []byte { return redactedToken(token) },
		Value:   func(struct{}, []byte) []byte { return []byte(`"` + redacted + `"`) },
		Compact: compact,
	})
	if !ok { // it was not checked
		return append(dst, `"`+redacted+`"`...)
	}
	return out
}

func moreWords(more []string) (out [][]string) {
	for _, m := range more {
		if w := words(m); len(w) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// redactedToken returns the string token that replaces one in which a secret stands; nil if there is none.
func redactedToken(token []byte) []byte {
	if bytes.IndexByte(token, '\\') < 0 && !mayBeShaped(token) { // nearly every string
		return nil
	}
	s := string(rawjson.Unquote(token))
	clean := redactShapes(s)
	if clean == s {
		return nil
	}
	return rawjson.Quote(clean)
}

// secretParts make a key secret wherever they stand in it, separators and case left aside.
var secretParts = []string{"password", "passwd", "passphrase", "secret", "apikey", "credential", "privatekey", "authorization"}

// countWords make a key that speaks of tokens a number of tokens.
var countWords = []string{"tokens", "count", "max", "min", "limit", "num", "number", "total", "budget", "used", "usage"}

func secretKey(key string, number bool, more [][]string) bool {
	w, flat := []string{key}, key
	if !plain(key) {
		w = words(key)
		flat = strings.Join(w, "")
	}
	for _, p := range secretParts {
		if strings.Contains(flat, p) {
			return true
		}
	}
	if strings.Contains(flat, "token") && strings.Contains(strings.NewReplacer("tokeniz", "", "tokenis", "").Replace(flat), "token") {
		counts := slices.ContainsFunc(w, func(s string) bool { return slices.Contains(countWords, s) })
		return !number || !counts
	}
	if slices.Contains(w, "auth") || slices.Contains(w, "oauth") {
		return true
	}
	return slices.ContainsFunc(more, func(m []string) bool { return containsRun(w, m) })
}

// plain reports whether a key is one word in small letters, as most are.
func plain(key string) bool {
	for i := range len(key) {
		if c := key[i]; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
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

// words splits a key at separators and at changes of case (maxTokens, HTTPAuth, user_ssn, x-auth), in lower case.
func words(key string) []string {
	var out []string
	var cur []rune
	flush := func() {
		if len(cur) > 0 {
			out = append(out, strings.ToLower(string(cur)))
			cur = cur[:0]
		}
	}
	rs := []rune(key)
	for i, c := range rs {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			flush()
			continue
		}
		afterLower := i > 0 && !unicode.IsUpper(rs[i-1])
		lastOfCapitals := i+1 < len(rs) && unicode.IsLower(rs[i+1])
		if unicode.IsUpper(c) && (afterLower || lastOfCapitals) {
			flush()
		}
		cur = append(cur, c)
	}
	flush()
	return out
}

// shape is a form by which a credential is known. Looking for one of the literals first keeps the regular expression away from
// nearly every string.
type shape struct {
	literals []string
	re       func() *regexp.Regexp
	with     string
}

// lazy compiles on first use: every start of the program would pay for ten patterns that it seldom needs.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var shapes = []shape{
	{[]string{"PRIVATE KEY"}, lazy(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)`), redacted},
	{[]string{"sk-"}, lazy(`\bsk-(?:ant-[A-Za-z0-9_-]{6,}|[A-Za-z0-9_-]{20,})`), redacted},
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, lazy(`\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,})`), redacted},
	{[]string{"glpat-"}, lazy(`\bglpat-[A-Za-z0-9_-]{16,}`), redacted},
	{[]string{"AKIA", "ASIA"}, lazy(`\b(?:AKIA|ASIA)[0-9A-Z]{16}`), redacted},
	{[]string{"xox"}, lazy(`\bxox[abeoprs]-[A-Za-z0-9-]{8,}`), redacted},
	{[]string{"eyJ"}, lazy(`\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*`), redacted},
	{[]string{"earer ", "EARER "}, lazy(`(?i)\b(bearer +)[A-Za-z0-9._~+/=-]{8,}`), "${1}" + redacted},
	{[]string{"asic ", "ASIC "}, lazy(`(?i)(authorization:? *basic +)[A-Za-z0-9+/=]{4,}`), "${1}" + redacted},
	{[]string{"://"}, lazy(`([A-Za-z][A-Za-z0-9+.-]*://[^/\s:@"]*):[^/\s@"]+@`), "${1}:" + redacted + "@"},
}

// shortest is the length of the shortest text that a shape matches: x://:p@.
const shortest = 7

// mayBeShaped reports whether a text has what every form of a credential has.
func mayBeShaped(b []byte) bool {
	if len(b) < shortest {
		return false
	}
	for _, sh := range shapes {
		for _, l := range sh.literals {
			if bytes.Contains(b, []byte(l)) {
				return true
			}
		}
	}
	return false
}

// redactShapes replaces what looks like a credential in a text.
func redactShapes(s string) string {
	if len(s) < shortest {
		return s
	}
	for _, sh := range shapes {
		if slices.ContainsFunc(sh.literals, func(l string) bool { return strings.Contains(s, l) }) {
			s = sh.re().ReplaceAllString(s, sh.with)
		}
	}
	return s
}

var looseKey = lazy(`(?i)((?:password|passwd|passphrase|secret|token|api[_-]?key|credentials?|private[_-]?key|authorization|\bauth)[A-Za-z0-9_-]*["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;}&]+)`)

// redactLoose redacts a text that may be a piece of something with keys: JSON that does not parse, a query, a header.
func redactLoose(s string) string {
	return looseKey().ReplaceAllString(redactShapes(s), "${1}"+redacted)
}
