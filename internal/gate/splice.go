package gate

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"mycelium/internal/rawjson"
)

// spliceString returns a definition with the string value of one of its members replaced; every other byte stays. It is an error if
// the definition is not an object of valid JSON, or if the member is not a string in it.
func spliceString(raw []byte, member, value string) ([]byte, error) {
	if !rawjson.Valid(raw) || rawjson.Trim(raw)[0] != '{' {
		return nil, errors.New("definition is not a JSON object without duplicate names")
	}
	old := rawjson.Member(raw, member)
	switch {
	case old == nil:
		return nil, fmt.Errorf("definition has no %q", member)
	case old[0] != '"':
		return nil, fmt.Errorf("definition: %q is not a string", member)
	case !utf8.ValidString(value):
		return nil, fmt.Errorf("quote %s: %q is not UTF-8", member, value)
	}
	return rawjson.Set(raw, member, rawjson.Quote(value)), nil
}

// reportsError reports whether a tool's result says isError: true. A result may be large and goes on untouched: nothing but the names
// of the outermost object is read, and they only if the word stands somewhere. The result was checked for form before it came here.
func reportsError(result []byte) bool {
	return bytes.Contains(result, []byte(`"isError"`)) && string(rawjson.Member(result, "isError")) == "true"
}
