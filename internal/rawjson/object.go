package rawjson

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
)

// Member returns the raw value of one top-level member of an object, nil if it is absent. The name is compared exactly, after
// escapes are read. Of several members with the name it is the first.
func Member(object []byte, name string) []byte {
	s := ScanObject(object)
	if !s.find(name) {
		return nil
	}
	return s.Value()
}

// Path is Member, nested: Path(params, "_meta", "progressToken").
func Path(object []byte, names ...string) []byte {
	for _, name := range names {
		if object = Member(object, name); object == nil {
			return nil
		}
	}
	return object
}

// TextAt returns the text of the string at a path of names; "" if there is none.
func TextAt(object []byte, names ...string) string {
	text, _ := Text(Path(object, names...))
	return text
}

// Members yields the members of an object in order: the decoded name and the raw value.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for s := ScanObject(object); s.Next(); {
			if !yield(string(s.Name()), s.Value()) {
				return
			}
		}
	}
}

// Elements yields the raw elements of an array in order.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for s := ScanArray(array); s.Next(); {
			if !yield(s.Value()) {
				return
			}
		}
	}
}

// List returns the raw elements of an array, which are parts of the text; false if it is not an array.
func List(array []byte) ([][]byte, bool) {
	var list [][]byte
	s := ScanArray(array)
	for s.Next() {
		list = append(list, s.Value())
	}
	return list, s.Complete()
}

// Set returns the object with the top-level member set to the raw value: replaced in place, or added at the end. A nil value
// removes the member. A nil object counts as {}; anything else that is not an object is returned as it is.
func Set(object []byte, name string, value []byte) []byte {
	if object == nil {
		if value == nil {
			return nil
		}
		object = []byte("{}")
	}
	s := ScanObject(object)
	if s.find(name) {
		c := s.cut(value)
		return join(object[:c.from], c.with, object[c.to:])
	}
	if value == nil || !s.Complete() {
		return object
	}
	member := append(append(Quote(name), ':'), value...)
	if s.to > 0 {
		return join(object[:s.to], []byte{','}, member, object[s.to:])
	}
	return join(object[:s.open], member, object[s.open:])
}

// Default returns the object with those of the members added at the end that it lacks. It reads the object once and copies it once, if at
// all. Anything that is not an object is returned as it is.
func Default(object []byte, members ...Field) []byte {
	s := ScanObject(object)
	for s.Next() {
		members = slices.DeleteFunc(members, func(f Field) bool { return f.Name == string(s.Name()) })
	}
	if len(members) == 0 || !s.Complete() {
		return object
	}
	added, at := Object(members...), s.open
	added = added[1 : len(added)-1]
	if s.to > 0 {
		return join(object[:s.to], []byte{','}, added, object[s.to:])
	}
	return join(object[:at], added, object[at:])
}

// SetBoth is Set of two members in one copy of the object, if it has both.
func SetBoth(object []byte, name string, value []byte, other string, otherValue []byte) []byte {
	s, t := ScanObject(object), ScanObject(object)
	if !s.find(name) || !t.find(other) || value == nil || name == other {
		return Set(Set(object, name, value), other, otherValue)
	}
	a, b := s.cut(value), t.cut(otherValue)
	if b.from < a.from {
		a, b = b, a
	}
	return join(object[:a.from], a.with, object[a.to:b.from], b.with, object[b.to:])
}

// Replace returns the object with the value at a path of names replaced. An object that has no such value is returned as it is.
func Replace(object, value []byte, names ...string) []byte {
	from, to := 0, len(object)
	for _, name := range names {
		s := ScanObject(object[from:to])
		if !s.find(name) {
			return object
		}
		from, to = from+s.from, from+s.to
	}
	return join(object[:from], value, object[to:])
}

// cut is a piece of an object and what replaces it.
type cut struct {
	from, to int
	with     []byte
}

// cut returns what replaces the value of the current member. With a nil value the member goes, and one comma with it. It may move
// the Scanner.
func (s *Scanner) cut(value []byte) cut {
	if value != nil {
		return cut{s.from, s.to, value}
	}
	if s.previous > 0 {
		return cut{s.previous, s.to, nil}
	}
	from, to := s.name, s.to
	if s.Next() {
		to = s.name
	}
	return cut{from, to, nil}
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// Field is one member of an object that is taken apart.
type Field struct {
	Name  string
	Value []byte
	Token []byte // the name as it stands in the object, with its quotes; nil: AppendObject quotes Name
}

// Fields returns the members of an object; false if raw is not an object. It keeps members of the same name.
func Fields(raw []byte) ([]Field, bool) {
	var list []Field
	s := ScanObject(raw)
	for s.Next() {
		list = append(list, Field{string(s.Name()), s.Value(), raw[s.name:s.nameEnd:s.nameEnd]})
	}
	return list, s.Complete()
}

// Object puts members together.
func Object(fields ...Field) []byte {
	out := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			out = append(out, ',')
		}
		if f.Token != nil {
			out = append(out, f.Token...)
		} else {
			out = AppendQuote(out, f.Name)
		}
		out = append(append(out, ':'), f.Value...)
	}
	return append(out, '}')
}

// Array puts elements together.
func Array(elements [][]byte) []byte {
	return join([]byte{'['}, bytes.Join(elements, []byte{','}), []byte{']'})
}

// LastMember cuts the last member off a text that ends with members of an object, of which the beginning may be missing. It returns
// the text before the comma, the quoted name and the value. It reads only a value that is an integer or a string without escapes,
// because from its end no other value can be told from a part of a longer one; the name is nil for any other.
func LastMember(members []byte) (rest, name, value []byte) {
	members = Trim(members)
	from := 0
	if n := len(members); n > 0 && members[n-1] == '"' {
		from = bytes.LastIndexByte(members[:n-1], '"')
	} else {
		from = bytes.LastIndexAny(members, ": \t\r\n,") + 1
	}
	if from <= 0 {
		return nil, nil, nil
	}
	value = members[from:]
	if _, err := strconv.ParseInt(string(value), 10, 64); err != nil && !bytes.HasPrefix(value, []byte{'"'}) ||
		bytes.IndexByte(value, '\\') >= 0 {
		return nil, nil, nil
	}
	before, ok := bytes.CutSuffix(Trim(members[:from]), []byte{':'})
	before = Trim(before)
	if !ok || len(before) < 2 || before[len(before)-1] != '"' {
		return nil, nil, nil
	}
	at := bytes.LastIndexByte(before[:len(before)-1], '"')
	if at < 0 {
		return nil, nil, nil
	}
	if rest, ok = bytes.CutSuffix(Trim(before[:at]), []byte{','}); !ok {
		return nil, nil, nil
	}
	return rest, before[at:], value
}

// Trim returns the text without the white space around it.
func Trim(raw []byte) []byte { return bytes.Trim(raw, " \t\r\n") }
