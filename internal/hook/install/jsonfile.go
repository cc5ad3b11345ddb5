package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"mycelium/internal/rawjson"
)

// The configuration files of agents are JSON, and people own them. Only the places of our entries change: the order, white space,
// comments and unknown members stay, byte for byte.

// jsonNode is one value of a JSON text and its place.
type jsonNode struct {
	kind       byte // '{', '[', '"', or the first byte of any other value
	start, end int
	members    []jsonMember // of an object
	elems      []jsonNode   // of an array
}

// jsonMember is a member of an object; start is the offset of its name.
type jsonMember struct {
	name  string
	start int
	value jsonNode
}

// The bounds of a file. Real settings are far below.
const (
	maxJSONDepth = 200
	maxJSONLists = 50_000 // objects and arrays; the removal of comments has no bound on the nesting
)

// withoutMark replaces a byte order mark with spaces.
func withoutMark(text []byte) []byte {
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		return append([]byte("   "), text[3:]...)
	}
	return text
}

// parseJSON parses a whole text, with comments and trailing commas if the agent allows them. An empty text gives a zero kind. Duplicate
// names are an error, because it is not known which of them the agent reads.
func parseJSON(text []byte, comments bool) (jsonNode, error) {
	plain := withoutMark(text)
	if len(bytes.TrimSpace(plain)) == 0 {
		return jsonNode{}, nil
	}
	if comments { // comments become spaces, so offsets stay the same
		if bytes.Count(plain, []byte("[")) > maxJSONLists || bytes.Count(plain, []byte("{")) > maxJSONLists {
			return jsonNode{}, errors.New("it has too many lists")
		}
		var err error
		if plain, err = hujson.Standardize(append(bytes.Clone(plain), '\n')); err != nil {
			return jsonNode{}, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
		}
	}
	d := jsontext.NewDecoder(bytes.NewReader(plain))
	n, err := readNode(d, plain)
	if err == nil {
		if _, err = d.ReadToken(); err == io.EOF {
			return n, nil
		} else if err == nil {
			err = errors.New("there is text after the end")
		}
	}
	at := d.InputOffset()
	var fault *jsontext.SyntacticError
	if errors.As(err, &fault) {
		at = fault.ByteOffset
	}
	return n, fmt.Errorf("line %d: %s", 1+bytes.Count(plain[:min(int(at), len(plain))], []byte("\n")),
		strings.TrimPrefix(err.Error(), "jsontext: "))
}

// readNode parses the next value of a text.
func readNode(d *jsontext.Decoder, text []byte) (n jsonNode, err error) {
	n.kind = byte(d.PeekKind())
	switch {
	case d.StackDepth() > maxJSONDepth:
		return n, errors.New("nested too deeply")
	case n.kind != '{' && n.kind != '[':
		v, err := d.ReadValue()
		n.end = int(d.InputOffset())
		n.start = n.end - len(v)
		return n, err
	}
	if _, err = d.ReadToken(); err != nil {
		return n, err
	}
	n.start = int(d.InputOffset()) - 1
	for kind := d.PeekKind(); kind != '}' && kind != ']'; kind = d.PeekKind() {
		item, err := readNode(d, text)
		if err != nil {
			return n, err
		}
		if n.kind == '[' {
			n.elems = append(n.elems, item)
			continue
		}
		m := jsonMember{name: item.str(text), start: item.start}
		if m.value, err = readNode(d, text); err != nil {
			return n, err
		}
		n.members = append(n.members, m)
	}
	_, err = d.ReadToken()
	n.end = int(d.InputOffset())
	return n, err
}

// get returns a member of an object, or nil.
func (n *jsonNode) get(name string) *jsonNode {
	for i := range n.members {
		if n.members[i].name == name {
			return &n.members[i].value
		}
	}
	return nil
}

// raw returns the text of a value.
func (n *jsonNode) raw(text []byte) jsontext.Value { return jsontext.Value(text[n.start:n.end]) }

// str returns the value of a string, or "" for any other value.
func (n *jsonNode) str(text []byte) string {
	var s string
	if n == nil || n.kind != '"' || json.Unmarshal(n.raw(text), &s) != nil {
		return ""
	}
	return s
}

// errShape reports a value of another type where our entries belong.
var errShape = errors.New("has a value of an unexpected type")

// addElements appends values, at least one, to the array at a path of names. It creates containers that are missing.
func addElements(text []byte, comments bool, path []string, values ...jsontext.Value) ([]byte, error) {
	var first []byte
	for _, v := range values {
		first = append(append(first, ','), v...)
	}
	first = append(append([]byte{'['}, first[1:]...), ']')
	return change(text, comments, path, first, func(list *jsonNode, unit string) ([]byte, error) {
		if list.kind != '[' {
			return nil, fmt.Errorf("%s: %w: not a list", strings.Join(path, "."), errShape)
		}
		prefix := strings.Repeat(unit, len(path)+1)
		var items [][]byte
		for _, v := range values {
			items = append(items, indented(v, prefix, unit))
		}
		return insert(text, list, len(path), unit, bytes.Join(items, []byte(",\n"+prefix))), nil
	})
}

// setValue puts a value at a path of names, in the place of the one that is there. It creates objects that are missing.
func setValue(text []byte, comments bool, path []string, value jsontext.Value) ([]byte, error) {
	return change(text, comments, path, value, func(old *jsonNode, unit string) ([]byte, error) {
		return slices.Concat(text[:old.start], indented(value, strings.Repeat(unit, len(path)), unit), text[old.end:]), nil
	})
}

// change calls there with what stands at a path of names and the indentation of one level. If nothing stands there, it adds first, and
// the objects around it that are missing.
func change(text []byte, comments bool, path []string, first jsontext.Value,
	there func(at *jsonNode, unit string) ([]byte, error)) ([]byte, error) {
	root, err := parseJSON(text, comments)
	if err != nil {
		return nil, err
	}
	if root.kind == 0 {
		return append(bytes.TrimRight(nested(path, first, "", "  "), "\n"), '\n'), nil
	}
	unit := indentOf(text, &root)
	at := &root
	for depth, name := range path {
		if at.kind != '{' {
			return nil, fmt.Errorf("%s: %w: not an object", strings.Join(path[:depth], "."), errShape)
		}
		next := at.get(name)
		if next == nil {
			raw := nested(path[depth+1:], first, strings.Repeat(unit, depth+1), unit)
			return insert(text, at, depth, unit, append(append(rawjson.Quote(name), ": "...), raw...)), nil
		}
		at = next
	}
	return there(at, unit)
}

// addMember adds a member to the root of a text.
func addMember(text []byte, root *jsonNode, name, value string) ([]byte, error) {
	item := string(rawjson.Quote(name)) + ": " + value
	switch root.kind {
	case 0:
		return []byte("{\n  " + item + "\n}\n"), nil
	case '{':
		return insert(text, root, 0, indentOf(text, root), []byte(item)), nil
	default:
		return nil, fmt.Errorf("%w: not an object", errShape)
	}
}

// insert adds a member or an element at the end of a container at a nesting depth.
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
	// There may be a trailing comma. Text between the last item and the bracket stays, after our item.
	out = append(append(out, text[:last]...), ',')
	out = append(append(out, inner...), item...)
	return append(out, text[last:]...)
}

// nested returns the JSON text of a value at a path of objects.
func nested(path []string, value jsontext.Value, prefix, unit string) []byte {
	out := []byte(value)
	for _, name := range slices.Backward(path) {
		out = []byte("{" + string(rawjson.Quote(name)) + ":" + string(out) + "}")
	}
	return indented(out, prefix, unit)
}

// indented formats a value as lines of a file; the first line follows a prefix.
func indented(value jsontext.Value, prefix, unit string) []byte {
	v := bytes.Clone(value)
	j := jsontext.Value(v)
	if err := j.Indent(jsontext.WithIndentPrefix(prefix), jsontext.WithIndent(unit)); err != nil {
		return value
	}
	return j
}

// indentOf returns the indentation of one level: the space before the first member, if that begins a line.
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

// cut removes the items of a container from i up to, but not including, end, with a comma for each and the space beside them.
func cut(text []byte, n *jsonNode, i, end int) []byte {
	type span struct{ start, end int }
	var spans []span
	for _, m := range n.members {
		spans = append(spans, span{m.start, m.value.end})
	}
	for _, e := range n.elems {
		spans = append(spans, span{e.start, e.end})
	}
	from, to := spans[i].start, spans[end-1].end
	switch {
	case i > 0:
		from = spans[i-1].end // with the comma before it and the lines between them
	case end < len(spans):
		to = spans[end].start
	default:
		around := append(bytes.Clone(text[n.start+1:from]), text[to:n.end-1]...)
		if !bytes.Contains(around, []byte("//")) && !bytes.Contains(around, []byte("/*")) {
			from, to = n.start+1, n.end-1
		}
	}
	return append(append([]byte{}, text[:from]...), text[to:]...)
}
