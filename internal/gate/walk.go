package gate

import (
	"errors"

	"mycelium/internal/rawjson"
)

// errShape means that a text is not valid JSON.
var errShape = errors.New("it is not valid JSON")

// memberPart tells what the value of a member is, by what its object is and by the key.
type memberPart func(object part, key []byte) part

// walk goes through the strings of a JSON object, which is the part whole, and returns it with those replaced for which text says so.
// Other bytes stay.
func walk(in []byte, member memberPart, text func(s string, p part) (string, bool)) ([]byte, error) {
	out, ok := rawjson.Rewrite(nil, in, whole, &rawjson.Visitor[part]{
		Member: func(object part, key []byte, first byte) (part, bool) {
			return member(object, key), object == schema && first == '[' && string(key) == "enum"
		},
		String: func(p part, token []byte) []byte {
			if p == keep {
				return nil
			}
			return rawjson.Edit(token, func(s string) (string, bool) { return text(s, p) })
		},
		Value: func(_ part, enum []byte) []byte { return withoutHidden(enum, text) },
	})
	if !ok {
		return nil, errShape
	}
	return out, nil
}

// withoutHidden leaves out of an enum the values that name something hidden: the server takes each of the others. If no value remains,
// the enum holds a word that no server takes, because a schema needs at least one. It returns nil if no value is hidden.
func withoutHidden(enum []byte, text func(s string, p part) (string, bool)) []byte {
	var kept [][]byte
	dropped := false
	for value := range rawjson.Elements(enum) {
		if value[0] == '"' {
			if _, hidden := text(string(rawjson.Unquote(value)), data); hidden {
				dropped = true
				continue
			}
		}
		kept = append(kept, value)
	}
	switch {
	case !dropped:
		return nil
	case kept == nil:
		kept = [][]byte{rawjson.Quote(anotherTool)}
	}
	return rawjson.Array(kept)
}
