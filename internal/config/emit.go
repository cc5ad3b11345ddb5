package config

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/backend"
	"mycelium/internal/text"
)

// plainText is text that YAML reads back as the same text without quotes, whatever stands around it.
var plainText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./()-]*( [A-Za-z0-9_./()-]+)*$`)

// notText are words that some YAML reader takes for something else.
var notText = []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"}

// yamlText is text as a YAML scalar: plain where that is safe, else double-quoted with every character escaped that some reader
// could take for a line break or a sign.
func yamlText(s string) string {
	if plainText.MatchString(s) && !slices.Contains(notText, strings.ToLower(s)) {
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
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"): // a byte that is no UTF-8
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

// writeYAML writes a JSON value as YAML, in the order of its keys, after "key:" or "-". indent is that of what the value holds.
func writeYAML(b *bytes.Buffer, v jsontext.Value, indent int) error {
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
		b.WriteString(" " + yamlText(tok.String()) + "\n")
	default:
		b.WriteString(" " + tok.String() + "\n")
	}
	return nil
}

// writeItems writes what an object or an array holds, up to its end.
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
			fmt.Fprintf(b, "%*s%s:", indent, "", yamlText(name.String()))
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

// YAML is the configuration as a mycelium.yaml that says all of it.
func (f File) YAML() ([]byte, error) {
	servers := map[string]backend.Server{}
	for name, s := range f.MCPServers {
		s.Name = "" // it is the key
		servers[name] = s
	}
	f.MCPServers = servers
	raw, err := json.Marshal(f, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	var b bytes.Buffer
	if err := writeYAML(&b, raw, 0); err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	return bytes.TrimLeft(b.Bytes(), "\n"), nil
}
