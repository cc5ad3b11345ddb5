package gate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// spliceString returns the JSON object raw with the string value of one of its members replaced; every other byte stays. An
// object that is not well-formed, has the member twice, not at all or not as a string, is an error.
func spliceString(raw []byte, member, value string) ([]byte, error) {
	start, end, err := findMember(raw, member)
	if err != nil {
		return nil, err
	}
	if start < 0 {
		return nil, fmt.Errorf("definition has no %q", member)
	}
	if raw[start] != '"' {
		return nil, fmt.Errorf("definition: %q is not a string", member)
	}
	quoted, err := jsontext.AppendQuote(nil, value)
	if err != nil {
		return nil, fmt.Errorf("quote %s: %w", member, err)
	}
	return slices.Concat(raw[:start], quoted, raw[end:]), nil
}

// splicePath replaces the string at the end of a path of members by what f makes of it; where there is none, nothing changes.
func splicePath(raw []byte, path []string, f func(string) string) []byte {
	start, end, err := findMember(raw, path[0])
	if err != nil || start < 0 {
		return raw
	}
	if len(path) > 1 {
		return slices.Concat(raw[:start], splicePath(raw[start:end:end], path[1:], f), raw[end:])
	}
	text, err := jsontext.AppendUnquote(nil, raw[start:end])
	if err != nil || raw[start] != '"' {
		return raw
	}
	quoted, err := jsontext.AppendQuote(nil, f(string(text)))
	if err != nil {
		return raw
	}
	return slices.Concat(raw[:start], quoted, raw[end:])
}

// findMember returns where the value of a member of a JSON object stands; start is -1 when the object has no such member. The
// whole object is read, so that what follows the member is known to be well-formed and free of duplicate names.
func findMember(raw []byte, member string) (start, end int, err error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if dec.PeekKind() != jsontext.KindBeginObject {
		return 0, 0, errors.New("definition is not a JSON object")
	}
	start, end = -1, -1
	if _, err := dec.ReadToken(); err != nil {
		return 0, 0, fmt.Errorf("read definition: %w", err)
	}
	for dec.PeekKind() == jsontext.KindString {
		name, err := dec.ReadToken()
		if err != nil {
			return 0, 0, fmt.Errorf("read definition: %w", err)
		}
		wanted := name.String() == member
		value, err := dec.ReadValue()
		if err != nil {
			return 0, 0, fmt.Errorf("read definition: %w", err)
		}
		if wanted {
			end = int(dec.InputOffset())
			start = end - len(value)
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return 0, 0, fmt.Errorf("read definition: %w", err)
	}
	if len(bytes.TrimSpace(raw[dec.InputOffset():])) > 0 {
		return 0, 0, errors.New("definition: something follows the JSON object")
	}
	return start, end, nil
}

// stringMember is the value of a string member of a JSON object, or "".
func stringMember(raw []byte, member string) string {
	start, end, err := findMember(raw, member)
	if err != nil || start < 0 || raw[start] != '"' {
		return ""
	}
	s, err := jsontext.AppendUnquote(nil, raw[start:end])
	if err != nil {
		return ""
	}
	return string(s)
}

// reportsError reports whether a tool's result says isError: true. It steps over the bytes of the result without decoding
// them (a result may be large, and goes on untouched), and looks only at the names of the outermost object. The result has
// been checked for form before it came here; on anything else the answer is merely false.
func reportsError(result []byte) bool {
	if !bytes.Contains(result, []byte(`"isError"`)) {
		return false
	}
	depth := 0
	for i := 0; i < len(result); i++ {
		switch result[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end := stringEnd(result, i)
			if end < 0 {
				return false
			}
			text := result[i+1 : end]
			i = end
			if depth != 1 || string(text) != "isError" {
				continue
			}
			// A value never precedes a colon, so this was a name exactly when one follows.
			rest := bytes.TrimLeft(result[end+1:], " \t\r\n")
			if len(rest) > 0 && rest[0] == ':' {
				return bytes.HasPrefix(bytes.TrimLeft(rest[1:], " \t\r\n"), []byte("true"))
			}
		}
	}
	return false
}

// stringEnd is the index of the quote that ends the string that begins at i, or -1.
func stringEnd(b []byte, i int) int {
	for j := i + 1; j < len(b); j++ {
		k := bytes.IndexByte(b[j:], '"')
		if k < 0 {
			return -1
		}
		j += k
		escapes := 0
		for b[j-1-escapes] == '\\' {
			escapes++ // stops at the quote that opened the string at the latest
		}
		if escapes%2 == 0 {
			return j
		}
	}
	return -1
}
