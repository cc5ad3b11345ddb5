package yamlfile

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/text"
)

// unquoted matches text that needs no quotes in any YAML context.
var unquoted = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./()-]*( [A-Za-z0-9_./()-]+)*$`)

// notText are words that some YAML reader does not read as text.
var notText = []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"}

// Text writes a text as a YAML scalar: without quotes where that is safe, otherwise in double quotes, with an escape for every character
// that a reader of YAML could take for a line break or a sign.
func Text(s string) string {
	if unquoted.MatchString(s) && !slices.Contains(notText, strings.ToLower(s)) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"): // a byte that is not UTF-8
			b.WriteString(`\uFFFD`)
		case !text.IsHidden(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// WriteJSON writes a JSON value as YAML, in the order of its keys, after "key:" or "-". indent is the indentation of nested lines.
func WriteJSON(b *bytes.Buffer, v jsontext.Value, indent int) error {
	return writeValue(b, jsontext.NewDecoder(bytes.NewReader(v)), indent)
}

func writeValue(b *bytes.Buffer, dec *jsontext.Decoder, indent int) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch tok.Kind() {
	case '{':
		return writeItems(b, dec, indent, '}', " {}\n")
	case '[':
		return writeItems(b, dec, indent, ']', " []\n")
	case '"':
		b.WriteString(" " + Text(tok.String()) + "\n")
	default:
		b.WriteString(" " + tok.String() + "\n")
	}
	return nil
}

// writeItems writes the members of an object or the items of an array, up to its end.
func writeItems(b *bytes.Buffer, dec *jsontext.Decoder, indent int, end jsontext.Kind, empty string) error {
	if dec.PeekKind() == end {
		b.WriteString(empty)
	} else {
		b.WriteByte('\n')
	}
	for dec.PeekKind() != end {
		if end == '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "%*s%s:", indent, "", Text(name.String()))
		} else {
			fmt.Fprintf(b, "%*s-", indent, "")
		}
		if err := writeValue(b, dec, indent+2); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}
