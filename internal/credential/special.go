package credential

import (
	"encoding/base64"
	"strings"
)

// The forms that no pattern of classes describes. Each function gets the offset of the mark and returns the place of the secret.

// keyHead is the largest distance between the beginning of a private key's head and its mark.
const keyHead = 64

// findPrivateKey finds a private key in PEM, up to its end line or, without one, to the end of the text.
func findPrivateKey(m *matcher, from, to int) (start, end int, ok bool) {
	head := max(0, from-keyHead)
	at := strings.LastIndex(m.s[head:from], "-----BEGIN ")
	if at < 0 || !capitals(m.s[head+at+len("-----BEGIN "):from]) {
		return 0, 0, false
	}
	start = head + at
	tail := strings.TrimPrefix(m.s[to:], " BLOCK")
	if !strings.HasPrefix(tail, "-----") {
		return start, to, true // only the head
	}
	for {
		_, after, found := strings.Cut(tail, "-----END ")
		m.cost += len(tail) - len(after)
		if !found {
			return start, len(m.s), true
		}
		tail = after
		kind, rest, found := strings.Cut(tail[:min(len(tail), 2*keyHead)], "PRIVATE KEY")
		if rest = strings.TrimPrefix(rest, " BLOCK"); found && capitals(kind) && strings.HasPrefix(rest, "-----") {
			line := len(kind) + len("PRIVATE KEY")
			line += strings.Index(tail[line:], "-----") + len("-----")
			return start, len(m.s) - len(tail) + line, true
		}
	}
}

func capitals(s string) bool {
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ") == ""
}

// findPassword finds the password in the authority of an address: scheme://user:password@host. A password may contain "@".
func findPassword(m *matcher, from, to int) (start, end int, ok bool) {
	at := from
	for at > 0 && (m.s[at-1] >= '0' && m.s[at-1] <= '9' || strings.IndexByte("+.-", m.s[at-1]) >= 0) {
		at--
	}
	if at == 0 || m.s[at-1]|0x20 < 'a' || m.s[at-1]|0x20 > 'z' {
		return 0, 0, false
	}
	rest := m.s[to:m.authority(to)]
	colon, sign := strings.IndexByte(rest, ':'), strings.LastIndexByte(rest, '@')
	if colon < 0 || sign <= colon+1 || strings.IndexByte(rest[:colon], '@') >= 0 || rest[colon+1:sign] == Redacted {
		return 0, 0, false
	}
	return to + colon + 1, to + sign, true
}

// authority returns the end of the authority that begins at an offset.
func (m *matcher) authority(at int) int {
	end := len(m.s)
	if n := strings.IndexAny(m.s[at:], "/\" \t\r\n\f"); n >= 0 {
		end = at + n
	}
	m.cost += end - at
	return end
}

// minBasic is the least length of a Basic credential without the header's name, in base64.
const minBasic = 16

// findBasic finds the user and password of a header "Authorization: Basic …". Without the header's name, the value must look like base64,
// because the word basic also precedes other words.
func findBasic(m *matcher, from, to int) (start, end int, ok bool) {
	for start = to; start < len(m.s) && m.s[start] == ' '; start++ {
	}
	for end = start; end < len(m.s) && base64Byte(m.s[end]); end++ {
	}
	m.cost += end - to
	value, before := m.s[start:end], m.s[max(0, from-24):from]
	name := strings.TrimRight(before, " :=\"'")
	if len(value) >= 4 && len(name) >= len("authorization") && strings.EqualFold(name[len(name)-len("authorization"):], "authorization") {
		return start, end, true
	}
	return start, end, len(value) >= minBasic && (strings.ContainsAny(value, "0123456789+/=") || pairInBase64(value))
}

// pairInBase64 reports whether a value is user:password in base64.
func pairInBase64(value string) bool {
	b, err := base64.RawStdEncoding.DecodeString(value)
	return err == nil && strings.Contains(string(b), ":")
}

func base64Byte(c byte) bool {
	return wordByte(c) && c != '_' || c == '+' || c == '/' || c == '='
}
