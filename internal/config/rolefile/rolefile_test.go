package rolefile

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestID: the id of a role is a name of a file that a role may have, whatever the name (D4).
func TestID(t *testing.T) {
	for name, want := range map[string]string{"Data Analyst": "data-analyst", "guest": "guest", "開発者": "role", "  A  (b) ": "a-b",
		"../x": "x", "v1.2_b": "v1.2_b", "": "role", "...": "role", "Ünder": "nder", strings.Repeat("a", 80): strings.Repeat("a", 64)} {
		if got := ID(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		id := ID(rapid.String().Draw(t, "name"))
		good := strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789.-_") == "" && !strings.HasPrefix(id, ".")
		if id == "" || len(id) > 64 || !good || ID(id) != id {
			t.Errorf("%q", id)
		}
	})
}
