package yamlfile

import (
	"strings"
	"testing"
)

// TestEditItem: an item is changed as a document of its own, and every other byte stays.
func TestEditItem(t *testing.T) {
	const file = "# the roles\nroles:\n  # who reads\n  - id: a  # first\n    toolIds:\n      - x  # why\n      - y\n\n  # who writes\n" +
		"  - id: b\n    name: B\n# the end\nother: 1\n"
	set := func(key, value string) func([]byte) ([]byte, error) {
		return func(item []byte) ([]byte, error) { return SetText(item, key, value) }
	}
	for name, c := range map[string]struct {
		file, want string
		n          int
		edit       func([]byte) ([]byte, error)
	}{
		"a key is added": {file, strings.Replace(file, "      - y\n", "      - y\n    name: A\n", 1), 0, set("name", "A")},
		"a key changes":  {file, strings.Replace(file, "name: B", "name: C", 1), 1, set("name", "C")},
		"a list": {file, strings.Replace(file, "      - y\n", "      - y\n      - z\n", 1), 0,
			func(item []byte) ([]byte, error) { return SetList(item, "toolIds", []string{"x", "y", "z"}) }},
		"nothing":     {file, file, 1, set("name", "B")},
		"it goes":     {file, strings.Replace(file, "  - id: b\n    name: B\n", "", 1), 1, func([]byte) ([]byte, error) { return nil, nil }},
		"the last":    {"roles:\n- id: a\n", "roles: []\n", 0, func([]byte) ([]byte, error) { return nil, nil }},
		"no indent":   {"roles:\n- id: a\n- id: b\n", "roles:\n- id: a\n- id: b\n  name: B\n", 1, set("name", "B")},
		"Windows":     {"roles:\r\n  - id: a\r\n", "roles:\r\n  - id: a\r\n    name: B\r\n", 0, set("name", "B")},
		"no such":     {file, "", 2, set("name", "B")},
		"in brackets": {"roles: [{id: a}]\n", "", 0, set("name", "B")},
		"not a list":  {"roles:\n  a: {}\n", "", 0, set("name", "B")},
	} {
		got, err := EditItem([]byte(c.file), "roles", c.n, c.edit)
		if string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
}
