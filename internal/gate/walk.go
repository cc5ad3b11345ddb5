package gate

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// walker goes through the strings of a JSON object, and copies it where one of them changes.
type walker struct {
	in     []byte
	at     int
	out    []byte // what is copied so far
	copied int    // how much of in stands in out
	failed bool
	member func(p part, key string, depth int) part
	text   func(s string, p part) (string, bool)
}

// errShape means that something is no JSON that could be gone through.
var errShape = errors.New("it is not valid JSON")

// maxNesting is that of package jsontext, by which everything that comes from a server was read.
const maxNesting = 10_000

// walk goes through a JSON object and returns it, changed where text says so. member tells what each member of an object is, by
// what the object is, the key and how deep it stands.
func walk(in []byte, member func(p part, key string, depth int) part, text func(s string, p part) (string, bool)) ([]byte, error) {
	w := &walker{in: in, member: member, text: text}
	w.value(prose, 0)
	if w.failed {
		return nil, errShape
	}
	if w.copied == 0 {
		return in, nil
	}
	return append(w.out, in[w.copied:]...), nil
}

// next moves past white space, colons and commas; 0 at the end.
func (w *walker) next() byte {
	for ; w.at < len(w.in); w.at++ {
		switch c := w.in[w.at]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return c
		}
	}
	w.failed = true
	return 0
}

// token moves past a string and returns where it was.
func (w *walker) token() (from, to int) {
	from = w.at
	end := stringEnd(w.in, from)
	if w.in[from] != '"' || end < 0 {
		w.failed, w.at = true, len(w.in)
		return from, from
	}
	w.at = end + 1
	return from, w.at
}

func (w *walker) value(p part, depth int) {
	if depth > maxNesting {
		w.failed = true
	}
	switch w.next() {
	case '{':
		w.at++
		for c := w.next(); c != '}' && !w.failed; c = w.next() {
			key := unquoted(w.slice(w.token()))
			w.next()
			member := w.member(p, key, depth)
			if p == schema && key == "enum" && w.next() == '[' {
				w.enum()
				continue
			}
			w.value(member, depth+1)
		}
		w.at++
	case '[':
		w.at++
		for c := w.next(); c != ']' && !w.failed; c = w.next() {
			w.value(p, depth+1)
		}
		w.at++
	case '"':
		w.replace(p)
	default:
		from := w.at
		for w.at < len(w.in) && strings.IndexByte(",]} \t\r\n", w.in[w.at]) < 0 {
			w.at++
		}
		w.failed = w.failed || w.at == from // a bracket that nothing opened
	}
}

func (w *walker) slice(from, to int) []byte { return w.in[from:to] }

// replace shows a string to text.
func (w *walker) replace(p part) {
	from, to := w.token()
	if p == keep || w.failed {
		return
	}
	if s, changed := w.text(unquoted(w.in[from:to]), p); changed {
		w.put(from, to, quoted(s))
	}
}

// put writes something in the place of a piece.
func (w *walker) put(from, to int, what []byte) {
	w.out = append(append(w.out, w.in[w.copied:from]...), what...)
	w.copied = to
}

// enum leaves out the values that name something hidden: of what remains each is one that the server takes. An enum of
// nothing would be no schema, so where none remains a word stands that no server takes.
func (w *walker) enum() {
	w.at++
	start := w.at
	var kept [][]byte
	dropped := false
	for c := w.next(); c != ']' && !w.failed; c = w.next() {
		from := w.at
		hidden := false
		if c == '"' {
			_, hidden = w.text(unquoted(w.slice(w.token())), data)
		} else {
			w.value(keep, 1)
		}
		if dropped = dropped || hidden; !hidden {
			kept = append(kept, w.in[from:w.at])
		}
	}
	if dropped && !w.failed {
		if kept == nil {
			kept = [][]byte{quoted(anotherTool)}
		}
		w.put(start, w.at, bytes.Join(kept, []byte(",")))
	}
	w.at++
}

// unquoted is the text of a JSON string.
func unquoted(token []byte) string {
	if len(token) < 2 {
		return ""
	}
	if bytes.IndexByte(token, '\\') < 0 {
		return string(token[1 : len(token)-1])
	}
	s, _ := jsontext.AppendUnquote(nil, token)
	return string(s)
}

// quoted is a text as a JSON string.
func quoted(s string) []byte {
	out, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		out, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD")) // the one thing that can fail
	}
	return out
}
