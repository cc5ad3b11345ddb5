package rpc

import (
	"bytes"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// Member returns the raw value of one top-level member of a JSON object (nil if absent) without decoding the rest. The key is
// compared exactly, after escapes are read.
//
// Member, Path and Set expect valid JSON, as Parse has checked it. Of anything else they make nothing sensible, but never panic.
func Member(object []byte, key string) []byte {
	s := scan(object)
	for s.next() {
		if string(s.name()) == key {
			return s.value()
		}
	}
	return nil
}

// Path is Member, nested: Path(params, "_meta", "progressToken").
func Path(object []byte, keys ...string) []byte {
	for _, key := range keys {
		if object = Member(object, key); object == nil {
			return nil
		}
	}
	return object
}

// Members yields the top-level members of a JSON object in order: the name, decoded, and the raw value.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		s := scan(object)
		for s.next() {
			if !yield(string(s.name()), s.value()) {
				return
			}
		}
	}
}

// Set returns the object with the top-level member set to the raw value (replaced in place, or added at the end); every other
// byte stays as it is. A nil value removes the member. The object itself is not changed; a nil one counts as {}, and what is
// no object is returned as it is.
func Set(object []byte, key string, value []byte) []byte {
	if object == nil {
		if value == nil {
			return nil
		}
		object = []byte("{}")
	}
	if c, ok := place(object, key, value); ok {
		return join(object[:c.from], c.with, object[c.to:])
	}
	s := scan(object)
	for s.next() {
	}
	if value == nil || !s.whole {
		return object
	}
	member := append(append(Quote(key), ':'), value...)
	if s.to > 0 {
		return join(object[:s.to], []byte{','}, member, object[s.to:])
	}
	return join(object[:s.open], member, object[s.open:])
}

// SetBoth is Set of two members, the first of which is there, in one copy of the object.
func SetBoth(object []byte, key string, value []byte, other string, otherValue []byte) []byte {
	a, found := place(object, key, value)
	b, both := place(object, other, otherValue)
	if !found || !both || value == nil || key == other {
		return Set(Set(object, key, value), other, otherValue)
	}
	if b.from < a.from {
		a, b = b, a
	}
	return join(object[:a.from], a.with, object[a.to:b.from], b.with, object[b.to:])
}

// cut is a piece of an object and what comes in its place.
type cut struct {
	from, to int
	with     []byte
}

// place finds what Set replaces; false: the member is not there.
func place(object []byte, key string, value []byte) (cut, bool) {
	s := scan(object)
	for s.next() {
		if string(s.name()) != key {
			continue
		}
		if value != nil {
			return cut{s.from, s.to, value}, true
		}
		if s.prev > 0 {
			return cut{s.prev, s.to, nil}, true
		}
		keyAt, to := s.at, s.to
		if s.next() {
			to = s.at
		}
		return cut{keyAt, to, nil}, true
	}
	return cut{}, false
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// scanner walks the top-level members of a JSON object. It trusts the JSON, yet stays inside of it.
type scanner struct {
	b     []byte
	open  int  // just after the brace
	i     int  // where reading goes on
	at    int  // the current name, with quotes
	end   int  // its end
	from  int  // the current value
	to    int  // its end; 0: no member yet
	prev  int  // end of the value before; 0: none
	whole bool // the closing brace was reached
}

func scan(object []byte) scanner {
	s := scanner{b: object, i: space(object, 0)}
	if s.i >= len(object) || object[s.i] != '{' {
		s.i = len(object)
		return s
	}
	s.i++
	s.open = s.i
	return s
}

// next moves to the next member.
func (s *scanner) next() bool {
	i := space(s.b, s.i)
	if s.to > 0 && i < len(s.b) && s.b[i] == ',' {
		i = space(s.b, i+1)
	}
	if i < len(s.b) && s.b[i] == '}' {
		s.whole, s.i = true, len(s.b)
		return false
	}
	if i >= len(s.b) || s.b[i] != '"' {
		s.i = len(s.b)
		return false
	}
	end := skipString(s.b, i)
	colon := space(s.b, end)
	from := space(s.b, colon+1)
	if colon >= len(s.b) || s.b[colon] != ':' || from >= len(s.b) {
		s.i = len(s.b)
		return false
	}
	s.prev = s.to
	s.at, s.end, s.from = i, end, from
	s.to = skipValue(s.b, from)
	s.i = s.to
	return s.to > from
}

// name is the decoded name of the current member.
func (s *scanner) name() []byte {
	raw := s.b[s.at:s.end]
	if len(raw) < 2 {
		return nil
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	name, _ := jsontext.AppendUnquote(nil, raw)
	return name
}

// value is the raw value of the current member; appending to it does not write into the object.
func (s *scanner) value() []byte { return s.b[s.from:s.to:s.to] }

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

func trim(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }

// skipString returns the index after the string that begins at i.
func skipString(b []byte, i int) int {
	for j := i + 1; j < len(b); j++ {
		n := bytes.IndexByte(b[j:], '"')
		if n < 0 {
			return len(b)
		}
		start := j
		j += n
		slashes := 0
		for j-1-slashes >= start && b[j-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return j + 1
		}
	}
	return len(b)
}

// skipValue returns the index after the value that begins at i.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\n', '\r', '\t':
			return i
		}
		i++
	}
	return i
}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return i
}
