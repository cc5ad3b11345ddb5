package yamlfile

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestTextRoundTrips: any text comes back from YAML as it was.
func TestTextRoundTrips(t *testing.T) {
	check := func(s string) error {
		var out struct {
			Text string            `yaml:"text"`
			List []string          `yaml:"list"`
			Map  map[string]string `yaml:"map"`
		}
		q := Text(s)
		ps := Decode("x", []byte("text: "+q+"\nlist:\n  - "+q+"\n  - "+q+"\nmap:\n  a: "+q+"\n"), &out)
		if len(ps) > 0 {
			return errors.New(q + ": " + ps[0].Message)
		}
		want := strings.ToValidUTF8(s, "\uFFFD")
		if utf8.ValidString(s) && (out.Text != want || len(out.List) != 2 || out.List[1] != want || out.Map["a"] != want) {
			return errors.New(q + " came back as " + out.Text)
		}
		return nil
	}
	for _, s := range []string{
		"", " ", "- a", "a: b", "a #b", "#", "'", `"`, `\`, "yes", "No", "null", "~", "1", "1.5", "0x1f", "1e3", "2026-01-01", "!!str x", "&a",
		"*a", "|", ">", "%", "@", "`",
		"a\nb", "a\r\nb", "\t", "日本語の説明", "\u0085", "\u2028", "\ufeffx", "a\x00b", "\x7f", "😀", "{a: b}", "[a]", "a,b", "?", "a ",
		" a", "---",
		"...", "<<", "=", "true", "y", ".inf", "a:", "a: ", "a\\nb", "\u202e",
	} {
		if err := check(s); err != nil {
			t.Error(err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if err := check(rapid.String().Draw(t, "text")); err != nil {
			t.Fatal(err)
		}
	})
}
