// Package rawjson finds, replaces and checks parts of a JSON text without decoding the rest: every byte that is not changed stays
// as it is. It is the only walker of raw JSON in the program.
//
// The functions expect valid JSON, as [Valid] has checked it. Given anything else they return something meaningless, but they do
// not panic and do not read outside of the text.
package rawjson

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Valid reports whether raw is exactly one JSON value in UTF-8 without duplicate names at any depth, and not [TooDeep].
func Valid(raw []byte) bool { return !TooDeep(raw) && jsontext.Value(raw).IsValid() }

// WellFormed is Valid for a text in which an object may have several members of one name.
func WellFormed(raw []byte) bool {
	return !TooDeep(raw) && jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true))
}

// Text decodes a JSON string; false for any other value. Unlike [Unquote] it checks the string.
func Text(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; plain(inner) {
		return string(inner), true
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", false
	}
	return string(b), true
}

// Eight bytes are looked at as one number: each is 1 in every byte, high the high bit.
const each, high = 0x0101010101010101, 0x8080808080808080

// plain reports whether the bytes between two quotes stand for themselves: ASCII without escapes, quotes and control characters.
func plain(b []byte) bool {
	// For a byte x below 0x80, x-0x20 has its high bit set if x is a control character, and (x^c)-1 if x is c. Only such a byte
	// borrows from the next one.
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		if (x|(x-each*' ')|((x^each*'"')-each)|((x^each*'\\')-each))&high != 0 {
			return false
		}
	}
	for _, c := range b {
		if c < ' ' || c >= 0x80 || c == '\\' || c == '"' {
			return false
		}
	}
	return true
}

// Unquote returns what a string token of valid JSON stands for. The result is part of the token where that has no escapes.
func Unquote(token []byte) []byte {
	if len(token) < 2 {
		return nil
	}
	if bytes.IndexByte(token, '\\') < 0 {
		return token[1 : len(token)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, token)
	return text
}

// Edit returns the token of a string that edit changed, nil if edit returns false.
func Edit(token []byte, edit func(s string) (string, bool)) []byte {
	if s, changed := edit(string(Unquote(token))); changed {
		return Quote(s)
	}
	return nil
}

// Quote returns s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func Quote(s string) []byte {
	return AppendQuote(make([]byte, 0, len(s)+2+len(s)/8), s) // with room for some escapes
}

// AppendQuote appends s to b as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendQuote(b []byte, s string) []byte {
	out, err := jsontext.AppendQuote(b, s)
	if err != nil { // the only possible error: s is not UTF-8
		out, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}
