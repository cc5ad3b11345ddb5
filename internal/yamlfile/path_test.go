package yamlfile

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const pathText = `# the head
session:
  # who comes
  defaultRole: guest # at first
# not indented
  roles: [guest, developer]

policy: {fallback: {mcp: allow, agent: ask}, rules: [rules.yaml]} # as it was
server:
    addr: 127.0.0.1:8420
# the tail
`

func TestSetPath(t *testing.T) {
	for name, c := range map[string]struct {
		in, path, value string
		old, new        string // what changes in the text; new "error": it cannot be done
	}{
		"within":         {pathText, "session.defaultRole", "developer", "guest # at", "developer # at"},
		"at the end":     {pathText, "session.promotion", "confirm", "developer]\n", "developer]\n  promotion: confirm\n"},
		"their indent":   {pathText, "server.maxBody", "1000", "8420\n", "8420\n    maxBody: 1000\n"},
		"flow":           {pathText, "policy.fallback.mcp", "ask", "mcp: allow", "mcp: ask"},
		"flow grows":     {pathText, "policy.strict", "true", "[rules.yaml]", "[rules.yaml], strict: true"},
		"flow is deeper": {pathText, "policy.a.b", "1", "[rules.yaml]", "[rules.yaml], a: {b: 1}"},
		"flow shrinks":   {pathText, "policy.rules", "", ", rules: [rules.yaml]", ""},
		"new section":    {pathText, "audit.sync", "call", "# the tail\n", "# the tail\naudit:\n  sync: call\n"},
		"clear":          {pathText, "session.roles", "", "  roles: [guest, developer]\n", ""},
		"last of it":     {pathText, "server.addr", "", "server:\n    addr: 127.0.0.1:8420\n", ""},
		"not there":      {pathText, "audit.sync", "", "", ""},
		"list":           {pathText, "session.roles", "[guest]", "[guest, developer]", "[guest]"},
		"quoted":         {pathText, "server.addr", `"a: b # c"`, "127.0.0.1:8420", `"a: b # c"`},
		"nothing there":  {"", "a.b.c", "1", "", "a:\n  b:\n    c: 1\n"},
		"windows":        {"a:\r\n  b: 1\r\n", "a.b", "2", "1", "2"},
		"a word above":   {"a: b\n", "a.c", "1", "", "error"},
		"JSON":           {`{"a": {"b": 1}}`, "a.b", "2", "", "error"},
		"two lines":      {"a: {b: 1,\n  c: 2}\n", "a.c", "1", "", "error"},
		"no value":       {"a: 1\n", "a", "{", "", "error"},
		"breaks out":     {"a: 1\n", "b", "1\nc: 2", "", "error"},
		"breaks a flow":  {"a: {b: 1}\n", "a.b", "2, c: 3", "", "error"},
		"broken":         {"a: [\n", "b", "1", "", "error"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := SetPath([]byte(c.in), strings.Split(c.path, "."), c.value)
			if c.new == "error" {
				if err == nil || got != nil {
					t.Errorf("%q %v", got, err)
				}
				return
			}
			if want := strings.Replace(c.in, c.old, c.new, 1); err != nil || string(got) != want {
				t.Errorf("%v\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// TestLawSetPath: whatever the file, a change says what it shall say and nothing else, or is an error.
func TestLawSetPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{pathText, "", "a: {b: {c: 1}, d: [1, {e: 2}]}\n", "a:\n- b\n",
			"a:\n  # x\n  b:\n    c: |\n      x\n\n      y\n"}).Draw(t, "text")
		path := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "session", "roles", "policy", "x y", "#"}), 1, 3).Draw(t, "path")
		value := rapid.SampledFrom([]string{"", "1", "word", `"a, b"`, "[x, y]", "{k: v}", "a, b", "x # y", "- z", "'"}).Draw(t, "value")
		got, err := SetPath([]byte(text), path, value)
		if err != nil {
			return
		}
		var before, after, v map[string]any
		if p := append(Decode("", []byte(text), &before), Decode("", got, &after)...); len(p) > 0 {
			t.Fatal(p)
		}
		_ = Decode("", []byte("v: "+value), &v)
		if want, _ := withPath(before, path, v["v"]); len(want)+len(after) > 0 && !reflect.DeepEqual(want, after) {
			t.Fatalf("%v, want %v", after, want)
		}
		for l := range strings.Lines(text) { // no comment is lost
			if _, c, ok := strings.Cut(l, "# "); ok && !strings.Contains(string(got), strings.TrimSpace(c)) {
				t.Fatalf("%q is gone from\n%s", c, got)
			}
		}
	})
}

func FuzzSetPath(f *testing.F) {
	f.Add(pathText, "session.roles", "[a]")
	f.Add("a: {b: 'x, y'}", "a.b", "1")
	f.Fuzz(func(t *testing.T, text, path, value string) {
		got, err := SetPath([]byte(text), strings.Split(path, "."), value)
		if (got == nil) != (err != nil) && (err != nil || len(text) > 0) {
			t.Errorf("%q %v", got, err)
		}
	})
}
