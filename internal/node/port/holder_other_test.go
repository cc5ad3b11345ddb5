//go:build !linux

package port

import "testing"

// What lsof prints on macOS: the fields asked for, and f for each file.
func TestLsofNamesTheHolder(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]holder{
		"p123\ncnode\nf22\nf23\n":                {123, "node"},
		"p1\ncGoogle\\x20Chrome\nf2\np9\ncx\nf1": {1, `Google\x20Chrome`},
	} {
		if got, ok := parseFields(out); !ok || got != want {
			t.Errorf("%q: %v %v", out, got, ok)
		}
	}
	if got, ok := parseFields("\n"); ok {
		t.Errorf("of nothing: %v", got)
	}
}
