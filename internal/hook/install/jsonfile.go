package install

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

// The configuration of agents is JSON that belongs to people. It is changed where our entries stand and nowhere else: order, spaces,
// comments and what we do not know stay as they are, byte for byte.

// jsonNode is one value of a JSON text, with where it stands.
type jsonNode struct {
	kind       byte // { [ " and for all the rest the first byte
	start, end int
	members    []jsonMember // of an object
	elems      []jsonNode   // of an array
}

// jsonMember is a member of an object; start is that of its name.
type jsonMember struct {
	name  string
	start int
	value jsonNode
}

// maxJSONDepth bounds nesting: nobody's settings come near it.
const maxJSONDepth = 200

// jsonReader reads a text with comments, and commas before a closing bracket, where the agent does too.
type jsonReader struct {
	text     []byte
	at       int
	comments bool
}

// parseJSON reads a whole text. An empty one has a zero kind. Names that stand twice are refused: nobody knows which one the agent reads.
func parseJSON(text []byte, comments bool) (jsonNode, error) {
	r := jsonReader{text: text, comments: comments}
	if err := r.space(); err != nil {
		return jsonNode{}, err
	}
	if r.at == len(text) {
		return jsonNode{}, nil
	}
	n, err := r.value(0)
	if err == nil {
		err = r.space()
	}
	if err == nil && r.at < len(text) {
		err = r.fault("something stands behind the end")
	}
	return n, err
}

// fault is an error with the line.
func (r *jsonReader) fault(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", 1+bytes.Count(r.text[:min(r.at, len(r.text))], []byte("\n")), fmt.Sprintf(format, args...))
}

// peek is the next byte; 0 at the end.
func (r *jsonReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// space skips what has no meaning.
func (r *jsonReader) space() error {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			r.at++
		case r.at == 0 && bytes.HasPrefix(rest, []byte("\xef\xbb\xbf")):
			r.at += 3
		case r.comments && bytes.HasPrefix(rest, []byte("//")):
			if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				r.at += i
			} else {
				r.at = len(r.text)
			}
		case r.comments && bytes.HasPrefix(rest, []byte("/*")):
			i := bytes.Index(rest, []byte("*/"))
			if i < 2 {
				return r.fault("a comment does not end")
			}
			r.at += i + 2
		default:
			return nil
		}
	}
	return nil
}

func (r *jsonReader) value(depth int) (jsonNode, error) {
	if depth > maxJSONDepth {
		return jsonNode{}, r.fault("nested too deeply")
	}
	n := jsonNode{kind: r.peek(), start: r.at}
	var err error
	switch n.kind {
	case '{':
		err = r.object(&n, depth)
	case '[':
		err = r.array(&n, depth)
	case '"':
		_, err = r.string()
	default:
		err = r.literal()
	}
	n.end = r.at
	return n, err
}

// list reads what stands between brackets; item reads one of them.
func (r *jsonReader) list(closing byte, item func() error) error {
	r.at++
	for first := true; ; first = false {
		if err := r.space(); err != nil {
			return err
		}
		if r.peek() == closing {
			r.at++
			return nil
		}
		if !first {
			if r.peek() != ',' {
				return r.fault("a comma or %q is missing", string(closing))
			}
			r.at++
			if err := r.space(); err != nil {
				return err
			}
			if r.comments && r.peek() == closing {
				r.at++
				return nil
			}
		}
		if err := item(); err != nil {
			return err
		}
	}
}

func (r *jsonReader) object(n *jsonNode, depth int) error {
	seen := map[string]bool{}
	return r.list('}', func() error {
		m := jsonMember{start: r.at}
		var err error
		if m.name, err = r.string(); err != nil {
			return err
		}
		if seen[m.name] {
			return r.fault("%q stands there twice", m.name)
		}
		seen[m.name] = true
		if err := r.space(); err != nil {
			return err
		}
		if r.peek() != ':' {
			return r.fault("a colon is missing behind %q", m.name)
		}
		r.at++
		if err := r.space(); err != nil {
			return err
		}
		m.value, err = r.value(depth + 1)
		n.members = append(n.members, m)
		return err
	})
}

func (r *jsonReader) array(n *jsonNode, depth int) error {
	return r.list(']', func() error {
		v, err := r.value(depth + 1)
		n.elems = append(n.elems, v)
		return err
	})
}

func (r *jsonReader) string() (string, error) {
	if r.peek() != '"' {
		return "", r.fault("a text in double quotes is missing")
	}
	for i := r.at + 1; i < len(r.text); i++ {
		switch r.text[i] {
		case '\\':
			i++
		case '"':
			var s string
			if err := json.Unmarshal(r.text[r.at:i+1], &s); err != nil {
				return "", r.fault("a text cannot be read")
			}
			r.at = i + 1
			return s, nil
		}
	}
	return "", r.fault("a text does not end")
}

// literal reads a number, true, false or null.
func (r *jsonReader) literal() error {
	i := r.at
	for i < len(r.text) && strings.IndexByte(" \t\r\n,]}/", r.text[i]) < 0 {
		i++
	}
	if word := jsontext.Value(r.text[r.at:i]); len(word) == 0 || !word.IsValid() || strings.IndexByte(`{["`, word[0]) >= 0 {
		return r.fault("%.40q is no value", string(word))
	}
	r.at = i
	return nil
}

// get is a member of an object; nil if it has none of that name.
func (n *jsonNode) get(name string) *jsonNode {
	for i := range n.members {
		if n.members[i].name == name {
			return &n.members[i].value
		}
	}
	return nil
}

// raw is the text of a value.
func (n *jsonNode) raw(text []byte) jsontext.Value { return jsontext.Value(text[n.start:n.end]) }

// str is the text that a string holds; "" for anything else.
func (n *jsonNode) str(text []byte) string {
	var s string
	if n == nil || n.kind != '"' || json.Unmarshal(n.raw(text), &s) != nil {
		return ""
	}
	return s
}

// errShape is the error of a file in which something else stands where our entries belong.
var errShape = errors.New("holds something else than expected")

// addElement appends a value to the array at a path of names, and makes the containers on the way where they are missing.
func addElement(text []byte, comments bool, path []string, value jsontext.Value) ([]byte, error) {
	root, err := parseJSON(text, comments)
	if err != nil {
		return nil, err
	}
	if root.kind == 0 {
		return append(bytes.TrimRight(nested(path, value, "", "  "), "\n"), '\n'), nil
	}
	unit := indentOf(text, &root)
	at := &root
	for depth, name := range path {
		if at.kind != '{' {
			return nil, fmt.Errorf("%s: %w: no object", strings.Join(path[:depth], "."), errShape)
		}
		next := at.get(name)
		if next == nil {
			raw := nested(path[depth+1:], value, strings.Repeat(unit, depth+1), unit)
			return insert(text, at, depth, unit, append(append(rawjson.Quote(name), ": "...), raw...)), nil
		}
		at = next
	}
	if at.kind != '[' {
		return nil, fmt.Errorf("%s: %w: no list", strings.Join(path, "."), errShape)
	}
	return insert(text, at, len(path), unit, indented(value, strings.Repeat(unit, len(path)+1), unit)), nil
}

// insert puts a member or an element at the end of a container that stands at a depth.
func insert(text []byte, n *jsonNode, depth int, unit string, item []byte) []byte {
	inner, outer := "\n"+strings.Repeat(unit, depth+1), "\n"+strings.Repeat(unit, depth)
	var out []byte
	last := -1
	switch {
	case len(n.members) > 0:
		last = n.members[len(n.members)-1].value.end
	case len(n.elems) > 0:
		last = n.elems[len(n.elems)-1].end
	}
	if last < 0 {
		inside := bytes.TrimRight(text[n.start+1:n.end-1], " \t\r\n") // a comment stays
		out = append(append(out, text[:n.start+1]...), inside...)
		return append(append(append(append(out, inner...), item...), outer...), text[n.end-1:]...)
	}
	// A comma may stand there already; what is between the last item and the bracket stays behind ours.
	out = append(append(out, text[:last]...), ',')
	out = append(append(out, inner...), item...)
	return append(out, text[last:]...)
}

// nested is a value inside an array inside the objects of a path, laid out.
func nested(path []string, value jsontext.Value, prefix, unit string) []byte {
	out := []byte("[" + string(value) + "]")
	for i := len(path) - 1; i >= 0; i-- {
		out = []byte("{" + string(rawjson.Quote(path[i])) + ":" + string(out) + "}")
	}
	return indented(out, prefix, unit)
}

// indented lays a value out as the lines of a file whose first line stands already behind a prefix.
func indented(value jsontext.Value, prefix, unit string) []byte {
	v := bytes.Clone(value)
	j := jsontext.Value(v)
	if err := j.Indent(jsontext.WithIndentPrefix(prefix), jsontext.WithIndent(unit)); err != nil {
		return value
	}
	return j
}

// indentOf is what one level of a file is indented by: what stands before its first member, if that begins a line.
func indentOf(text []byte, root *jsonNode) string {
	first := -1
	switch {
	case len(root.members) > 0:
		first = root.members[0].start
	case len(root.elems) > 0:
		first = root.elems[0].start
	}
	if first < 0 {
		return "  "
	}
	line := text[bytes.LastIndexByte(text[:first], '\n')+1 : first]
	if len(line) == 0 || len(line) > 8 || strings.Trim(string(line), " \t") != "" || bytes.Count(text[:first], []byte("\n")) == 0 {
		return "  "
	}
	return string(line)
}

// cut removes the i-th item of a container, with one comma and the space on its side.
func cut(text []byte, n *jsonNode, i int) []byte {
	type span struct{ start, end int }
	var spans []span
	for _, m := range n.members {
		spans = append(spans, span{m.start, m.value.end})
	}
	for _, e := range n.elems {
		spans = append(spans, span{e.start, e.end})
	}
	from, to := spans[i].start, spans[i].end
	switch {
	case i > 0:
		from = spans[i-1].end // the comma before it, and the lines between, go with it
	case len(spans) > 1:
		to = spans[1].start
	default:
		from, to = n.start+1, n.end-1
		if bytes.Contains(text[from:to], []byte("//")) || bytes.Contains(text[from:to], []byte("/*")) {
			from, to = spans[i].start, spans[i].end
		}
	}
	return append(append([]byte{}, text[:from]...), text[to:]...)
}
