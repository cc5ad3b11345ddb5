package text

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"deny", "allowedTools", "allowedRoles", "description", "name", "tags", "files__read_file", "files__write_file",
		"日本語"}
	for word, want := range map[string]string{
		"":                          "",
		"name":                      "name",
		"Name":                      "name",
		"nmae":                      "name",
		"allowedTool":               "allowedTools",
		"alowedRoles":               "allowedRoles",
		"NAME":                      "name",
		"den":                       "deny",
		"zzz":                       "",
		"completely_else":           "",
		"files__writefile":          "files__write_file",
		"allowed-tools":             "allowedTools",
		"allowed_tools":             "allowedTools",
		"allowed tols":              "allowedTools",
		"alowedRole":                "allowedRoles",
		"descripton":                "description",
		"tag":                       "tags",
		"te":                        "",
		"x":                         "",
		"nothing like it":           "",
		"files__readfile":           "files__read_file",
		"files__raed_file":          "files__read_file",
		"files_read_file":           "files__read_file",
		"xfilesx_yread_filez":       "",
		"日本国":                       "日本語",
		strings.Repeat("a", 100000): "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("nearest to %.40q is %q, want %q", word, got, want)
		}
	}
	if got := Nearest("ab", []string{"cd", "ax"}); got != "" {
		t.Errorf("of two letters both may differ: %q", got)
	}
	if got := Nearest("abx", []string{"abd", "abc"}); got != "abc" {
		t.Errorf("of two that are as near it is %q", got)
	}
	if Nearest("a", nil) != "" {
		t.Error("near to nothing")
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 3, 0}, {"a", "", 3, 1}, {"", "abc", 3, 3}, {"", "abc", 2, 3}, {"abc", "abc", 0, 0}, {"abc", "acb", 3, 1},
		{"ca", "abc", 3, 3}, {"kitten", "sitting", 3, 3}, {"kitten", "sitting", 2, 3}, {"abcdef", "uvwxyz", 3, 4}, {"日本", "日木", 3, 1},
	} {
		if got := distance(c.a, c.b, c.limit); got != c.want {
			t.Errorf("%q and %q are %d apart, want %d", c.a, c.b, got, c.want)
		}
	}
}
