package rawjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Scanner steps through the members of an object or the elements of an array, in order:
//
//	for s := rawjson.ScanObject(raw); s.Next(); {
//		use(s.Name(), s.Value())
//	}
type Scanner struct {
	raw      []byte
	closing  byte // the bracket that ends it
	complete bool // the closing bracket was reached
	i        int  // where reading goes on
	open     int  // the byte after the opening bracket
	name     int  // where the current name begins, with its quote
	nameEnd  int
	from, to int // the current value; to is 0 before the first
	previous int // the end of the value before the current one; 0: there is none
}

// ScanObject returns a Scanner of the members of an object. It finds none in anything else.
func ScanObject(raw []byte) Scanner { return scan(raw, '{', '}') }

// ScanArray returns a Scanner of the elements of an array. It finds none in anything else.
func ScanArray(raw []byte) Scanner { return scan(raw, '[', ']') }

func scan(raw []byte, opening, closing byte) Scanner {
	s := Scanner{raw: raw, closing: closing, i: space(raw, 0)}
	if s.i >= len(raw) || raw[s.i] != opening {
		s.i = len(raw)
		return s
	}
	s.i++
	s.open = s.i
	return s
}

// Next moves to the next member or element. It returns false after the last one, and where the text is not as it should be.
func (s *Scanner) Next() bool {
	i := space(s.raw, s.i)
	switch {
	case s.complete || i >= len(s.raw):
		return false
	case s.raw[i] == s.closing:
		s.complete, s.i = true, i+1
		return false
	case s.to == 0:
	case s.raw[i] == ',':
		i = space(s.raw, i+1)
	default:
		return s.stop()
	}
	from := i
	if s.closing == '}' {
		if i >= len(s.raw) || s.raw[i] != '"' {
			return s.stop()
		}
		end, _ := stringEnd(s.raw, i)
		colon := space(s.raw, end)
		if colon >= len(s.raw) || s.raw[colon] != ':' {
			return s.stop()
		}
		s.name, s.nameEnd, from = i, end, space(s.raw, colon+1)
	}
	to := valueEnd(s.raw, from)
	if to == from {
		return s.stop()
	}
	s.previous, s.from, s.to, s.i = s.to, from, to, to
	return true
}

func (s *Scanner) stop() bool {
	s.i = len(s.raw)
	return false
}

// Complete reports, after Next has returned false, whether it came to the closing bracket and only white space follows it.
func (s *Scanner) Complete() bool { return s.complete && space(s.raw, s.i) == len(s.raw) }

// Name returns the decoded name of the current member.
func (s *Scanner) Name() []byte { return Unquote(s.raw[s.name:s.nameEnd]) }

// Value returns the current value. Appending to it does not write into the text around it.
func (s *Scanner) Value() []byte { return s.raw[s.from:s.to:s.to] }

// End returns the offset after the current value.
func (s *Scanner) End() int { return s.to }

// find moves to the next member that has the name.
func (s *Scanner) find(name string) bool {
	for s.Next() {
		if string(s.Name()) == name {
			return true
		}
	}
	return false
}

// space returns the offset of the first byte from i on that is not white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// stringEnd returns the offset after the string that begins at i; len(b) and false if it does not end.
func stringEnd(b []byte, i int) (int, bool) {
	for j := i + 1; j < len(b); j++ {
		n := quoteIndex(b[j:])
		if n < 0 {
			break
		}
		start := j
		j += n
		slashes := 0
		for j-1-slashes >= start && b[j-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return j + 1, true
		}
	}
	return len(b), false
}

// quoteIndex is bytes.IndexByte for a quote that is mostly near, as most strings are short.
func quoteIndex(b []byte) int {
	const near = 16
	if len(b) < near {
		return bytes.IndexByte(b, '"')
	}
	for n := 0; n < near; n += 8 {
		x := binary.LittleEndian.Uint64(b[n:]) ^ each*'"'
		if zero := (x - each) &^ x & high; zero != 0 { // the lowest bit is that of the first quote
			return n + bits.TrailingZeros64(zero)/8
		}
	}
	n := bytes.IndexByte(b[near:], '"')
	if n < 0 {
		return -1
	}
	return near + n
}

// valueEnd returns the offset after the value that begins at i: i if none does, len(b) if it does not end.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return i
	}
	switch b[i] {
	case '"':
		i, _ = stringEnd(b, i)
		return i
	case '{', '[':
		return nestedEnd(b, i)
	}
	for i < len(b) {
		switch b[i] {
		case ',', ':', '}', ']', ' ', '\n', '\r', '\t':
			return i
		}
		i++
	}
	return i
}

// nestedEnd returns the offset after the object or array that begins at i. It counts brackets without telling the two kinds apart.
func nestedEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		c := b[i]
		if c == '"' {
			i, _ = stringEnd(b, i)
			continue
		}
		i++
		switch c | 0x20 { // { and [ differ in this bit only, and so do } and ]
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return i
}
