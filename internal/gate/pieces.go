package gate

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Valid JSON, taken apart and put together again by pieces that stay as they are.

// objectMember is one member of a JSON object.
type objectMember struct {
	key   string
	raw   []byte // the key as it was written; nil: as it is
	value []byte
}

// membersOf are the members of a JSON object.
func membersOf(raw []byte) ([]objectMember, error) {
	var out []objectMember
	w := &walker{in: raw}
	if w.next() != '{' {
		return nil, errShape
	}
	w.at++
	for c := w.next(); c != '}' && !w.failed; c = w.next() {
		name := w.slice(w.token())
		out = append(out, objectMember{unquoted(name), name, w.piece()})
	}
	if w.failed {
		return nil, errShape
	}
	return out, nil
}

// elementsOf are the elements of a JSON array.
func elementsOf(raw []byte) [][]byte {
	var out [][]byte
	w := &walker{in: raw}
	if w.next() != '[' {
		return nil
	}
	w.at++
	for c := w.next(); c != ']' && !w.failed; c = w.next() {
		out = append(out, w.piece())
	}
	return out
}

// piece moves past one value and returns it.
func (w *walker) piece() []byte {
	w.next()
	from := w.at
	if w.member == nil {
		w.member = func(part, string, int) part { return keep }
	}
	w.value(keep, 1)
	return w.in[min(from, len(w.in)):min(w.at, len(w.in))]
}

// object puts members together.
func object(members []objectMember) []byte {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		if m.raw == nil {
			m.raw = quoted(m.key)
		}
		out = append(append(append(out, m.raw...), ':'), m.value...)
	}
	return append(out, '}')
}

// listOf puts elements together.
func listOf(elements [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(elements, []byte{','})...), ']')
}

// memberOf is the value of a member, nil where there is none.
func memberOf(raw []byte, key string) []byte {
	if jsontext.Value(raw).Kind() != '{' {
		return nil
	}
	members, _ := membersOf(raw)
	for _, m := range members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// textToken is where the text of a block stands in it: of a text, an embedded resource or a prompt's message. nil: it has none.
func textToken(block []byte) []byte {
	for _, inside := range [...][]byte{block, memberOf(block, "resource"), memberOf(block, "content")} {
		if t := memberOf(inside, "text"); len(t) > 0 && t[0] == '"' {
			return t
		}
	}
	return nil
}

// replaceToken puts another piece in the place of one that lies in raw.
func replaceToken(raw, token, by []byte) []byte {
	at := cap(raw) - cap(token) // both are slices of one array
	if at < 0 || at+len(token) > len(raw) {
		return raw
	}
	return append(append(append(make([]byte, 0, len(raw)+len(by)), raw[:at]...), by...), raw[at+len(token):]...)
}

// maxNote bounds a block that says what was left out, in bytes, and the URI in it.
const maxNote = 400

// noteBlock is a block of words of ours, in the place of another: of a tool's content, a resource's contents or a prompt's messages.
func noteBlock(key string, instead []byte, text string) []byte {
	words := quoted(text)
	switch key {
	case "contents":
		uri := memberOf(instead, "uri")
		if len(uri) == 0 || uri[0] != '"' || len(uri) > maxNote {
			uri = []byte(`""`)
		}
		return object([]objectMember{{key: "uri", value: uri}, {key: "mimeType", value: []byte(`"text/plain"`)}, {key: "text", value: words}})
	case "messages":
		return object([]objectMember{{key: "role", value: []byte(`"user"`)}, {key: "content", value: noteBlock("content", nil, text)}})
	}
	return object([]objectMember{{key: "type", value: []byte(`"text"`)}, {key: "text", value: words}})
}

// addNote adds a block of words of ours to a result.
func addNote(members []objectMember, text string) []objectMember {
	for i, m := range members {
		if (m.key == "content" || m.key == "messages") && len(m.value) > 0 && m.value[0] == '[' {
			members[i].value = listOf(append(elementsOf(m.value), noteBlock(m.key, nil, text)))
			return members
		}
	}
	return members
}

// markResult tells in the _meta of a result what a guard did. Whatever a server said there under our key is gone.
func markResult(raw []byte, done []string) ([]byte, error) {
	list, err := json.Marshal(done)
	if err != nil {
		return nil, err
	}
	members, err := membersOf(raw)
	if err != nil {
		return nil, err
	}
	own := []objectMember{{key: metaGuard, value: list}}
	for i, m := range members {
		if m.key != "_meta" {
			continue
		}
		if jsontext.Value(m.value).Kind() == '{' {
			inside, err := membersOf(m.value)
			if err != nil {
				return nil, err
			}
			kept := inside[:0]
			for _, x := range inside {
				if x.key != metaGuard {
					kept = append(kept, x)
				}
			}
			own = append(kept, own...)
		}
		members[i].value = object(own)
		return object(members), nil
	}
	return object(append(members, objectMember{key: "_meta", value: object(own)})), nil
}
