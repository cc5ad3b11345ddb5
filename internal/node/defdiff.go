package node

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/text"
)

// definitionDiff compares two definitions. was nil: every line is new.
func definitionDiff(was, is []byte) []string {
	before := ""
	if was != nil {
		before = definitionLines(was)
	}
	d := text.Diff(before, definitionLines(is))
	if d == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(d, "\n"), "\n")
}

// definitionLines is a definition as lines: each member with its path, sorted; a text of several lines on several lines.
func definitionLines(raw []byte) string {
	var v any
	keepNumbers := json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, into *any) error {
		if d.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		n, err := d.ReadValue()
		*into = jsonNumber(n)
		return err
	}))
	if err := json.Unmarshal(raw, &v, keepNumbers); err != nil {
		return string(raw)
	}
	return strings.Join(flattenJSON("", v, nil), "\n")
}

// jsonNumber is a JSON number as it is written.
type jsonNumber string

func flattenJSON(path string, v any, out []string) []string {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return append(out, path+": {}")
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = flattenJSON(strings.TrimPrefix(path+"."+strings.ReplaceAll(k, "\n", `\n`), "."), v[k], out)
		}
	case []any:
		if len(v) == 0 {
			return append(out, path+": []")
		}
		for i, e := range v {
			out = flattenJSON(fmt.Sprintf("%s[%d]", path, i), e, out)
		}
	case string:
		for line := range strings.SplitSeq(v, "\n") {
			out = append(out, path+": "+line)
		}
	case nil:
		out = append(out, path+": null")
	default:
		out = append(out, fmt.Sprintf("%s: %v", path, v))
	}
	return out
}
