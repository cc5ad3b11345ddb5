package audit

import (
	"bytes"
	"slices"

	"mycelium/internal/credential"
	"mycelium/internal/lazy"
	"mycelium/internal/rawjson"
)

// Redact returns raw JSON with the values of secret keys replaced by "[REDACTED]", at any depth. It replaces a value of any type, objects
// and arrays whole. Everything else keeps its bytes: the order of keys, white space, the digits of numbers.
//
// A key is secret if [credential.Sensitive] says so, or if one of more is among its words: "ssn" matches user_ssn and userSSN, but not
// "lessn". In all other strings, Redact replaces what has the form of a secret; see [credential.Mask]. Input that is not JSON is redacted
// as text, and the result is not JSON either.
func Redact(raw []byte, more []string) []byte {
	if len(bytes.TrimSpace(raw)) == 0 {
		return raw
	}
	if !rawjson.WellFormed(raw) {
		out := []byte(redactLoose(string(raw)))
		if rawjson.WellFormed(out) {
			return []byte(credential.Redacted)
		}
		return out
	}
	return appendRedacted(nil, raw, moreWords(more), false)
}

// appendRedacted appends well-formed JSON with its secrets replaced. If compact, it omits the white space between tokens.
func appendRedacted(dst, raw []byte, more [][]string, compact bool) []byte {
	out, ok := rawjson.Rewrite(dst, raw, struct{}{}, &rawjson.Visitor[struct{}]{
		Member: func(_ struct{}, key []byte, first byte) (struct{}, bool) {
			return struct{}{}, secretKey(string(key), first == '-' || first >= '0' && first <= '9', more)
		},
		String:  func(_ struct{}, token []byte) []byte { return redactedToken(token) },
		Value:   func(struct{}, []byte) []byte { return []byte(`"` + credential.Redacted + `"`) },
		Compact: compact,
	})
	if !ok { // raw is not well-formed after all
		return append(dst, `"`+credential.Redacted+`"`...)
	}
	return out
}

func moreWords(more []string) (out [][]string) {
	for _, m := range more {
		if w := credential.Words(m); len(w) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// redactedToken returns the replacement for a string token that contains a secret, or nil.
func redactedToken(token []byte) []byte {
	if bytes.IndexByte(token, '\\') < 0 && !credential.Possible(token) { // nearly every string
		return nil
	}
	s := string(rawjson.Unquote(token))
	clean := credential.Mask(s)
	if clean == s {
		return nil
	}
	return rawjson.Quote(clean)
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

// containsRun reports whether run is a contiguous part of all.
func containsRun(all, run []string) bool {
	for i := 0; i+len(run) <= len(all); i++ {
		if slices.Equal(all[i:i+len(run)], run) {
			return true
		}
	}
	return false
}

var looseKey = lazy.Regexp(`(?i)((?:` + credential.NamePattern + `|authorization|\bauth)[A-Za-z0-9_-]*["']?\s*[:=]\s*)` +
	`("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;}&]+)`)

// redactLoose redacts text that may contain keys and values: JSON that does not parse, a query, a header.
func redactLoose(s string) string {
	return looseKey().ReplaceAllString(credential.Mask(s), "${1}"+credential.Redacted)
}
