package settings

import "testing"

// TestValueOf: an argument is read as the file would be, and what is no such value is a text.
func TestValueOf(t *testing.T) {
	for _, c := range []struct{ arg, kind, want string }{
		{"confirm", "", "confirm"}, {"12", "", "12"}, {"true", "", "true"}, {"[a, b]", "", "[a, b]"}, {`{k: "#x"}`, "", `{k: "#x"}`},
		{"127.0.0.1:8420", "", `"127.0.0.1:8420"`}, {"a # b", "", `"a # b"`}, {`"a b"`, "", "a b"}, {"'1'", "", `"1"`}, {"{", "", `"{"`},
		{"a: b", "", `"a: b"`}, {"a\nb: c", "", `"a\nb: c"`}, {"null", "", `"null"`}, {"", "", `""`}, {"12", "string", `"12"`},
		{"1.5", "number", "1.5"}, {"x", "number", ""}, {"yes", "boolean", ""}, {"false", "boolean", "false"}, {`{"a": [1]}`, "json", `{"a":[1]}`},
		{"{a: 1}", "json", ""}, {"x", "word", ""},
	} {
		if got, err := valueOf(c.arg, c.kind); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q as %q: %q %v, want %q", c.arg, c.kind, got, err, c.want)
		}
	}
}
