package yamlfile

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const roleText = `# the head
id: guest
name: Guest # as people say

# what it may
allowedSkills:
  - common # always
  # - editor: not yet
  - "reader"
deny: [a__x, b__y] # two

prompt: |
  # no comment
  read

# the tail
`

func TestSet(t *testing.T) {
	for name, c := range map[string]struct {
		in       string
		set      func([]byte) ([]byte, error)
		old, new string // what changes in the text
	}{
		"text":         {roleText, setText("name", "Visitor: new"), "name: Guest #", "name: \"Visitor: new\" #"},
		"new text":     {roleText, setText("description", "reads"), "# the tail\n", "# the tail\ndescription: reads\n"},
		"block":        {roleText, setText("prompt", "one\ntwo\n"), "  # no comment\n  read\n", "  one\n  two\n"},
		"lose a block": {roleText, drop("prompt"), "prompt: |\n  # no comment\n  read\n", ""},
		"lose a text":  {roleText, drop("name"), "name: Guest # as people say\n", "# as people say\n"},
		"lose nothing": {roleText, drop("model"), "", ""},
		"flow list":    {roleText, setList("deny", "b__y"), "[a__x, b__y]", "[b__y]"},
		"list grows":   {roleText, setList("allowedSkills", "common", "reader", "x y"), "  - \"reader\"\n", "  - \"reader\"\n  - x y\n"},
		"list shrinks": {roleText, setList("allowedSkills", "reader"), "  - common # always\n", ""},
		"another order": {roleText, setList("allowedSkills", "reader", "common"),
			roleText[strings.Index(roleText, "allowedSkills"):strings.Index(roleText, "deny")],
			"# always\n# - editor: not yet\nallowedSkills: [reader, common]\n"},
		"empty list": {"a: 1\nallowedSkills:\n- x\n- y\nb: 2\n", setList("allowedSkills"),
			"allowedSkills:\n- x\n- y\n", "allowedSkills: []\n"},
		"windows":       {"a: 1\r\nb: 2\r\n", setText("a", "x"), "a: 1", "a: x"},
		"no end":        {"a: b", setText("c", "d"), "a: b", "a: b\nc: d\n"},
		"empty":         {"", setText("c", "d"), "", "c: d\n"},
		"lines of flow": {"a: [\n  x, # why\n  z\n]\nb: 1\n", setList("a", "z"), "a: [\n  x, # why\n  z\n]", "# why\na: [z]"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.set([]byte(c.in))
			if want := strings.Replace(c.in, c.old, c.new, 1); err != nil || string(got) != want {
				t.Errorf("%v\n%s\nwant\n%s", err, got, want)
			}
		})
	}
	for name, in := range map[string]string{"flow": "{id: x, name: y}\n", "anchor": "name: &a x\nid: *a\n", "mixed": "name: x\r\nb: y\n",
		"broken": "name: [\n"} {
		if got, err := SetText([]byte(in), "name", "z"); err == nil {
			t.Errorf("%s was changed to %s", name, got)
		}
	}
}

func setText(key, s string) func([]byte) ([]byte, error) {
	return func(d []byte) ([]byte, error) { return SetText(d, key, s) }
}

func setList(key string, words ...string) func([]byte) ([]byte, error) {
	return func(d []byte) ([]byte, error) { return SetList(d, key, words) }
}

func drop(key string) func([]byte) ([]byte, error) {
	return func(d []byte) ([]byte, error) { return SetKey(d, key, nil) }
}

// TestLawSetText: whatever the text, it is read back as it was set, the other keys say what they said, and no comment is lost.
func TestLawSetText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"id", "name", "allowedSkills", "deny", "prompt", "other"}).Draw(t, "key")
		value := rapid.StringOf(rapid.SampledFrom([]rune("ab #:-|>'\"\\\n\t{}[],&*!%@é日\u0085\u2028"))).Draw(t, "value")
		out, err := SetText([]byte(roleText), key, value)
		if err != nil {
			t.Fatalf("%s: %q: %v", key, value, err)
		}
		var was, is map[string]any
		if p := append(Decode("was", []byte(roleText), &was), Decode("is", out, &is)...); len(p) > 0 || is[key] != value {
			t.Fatalf("%q became %q: %v", value, is[key], p)
		}
		delete(was, key)
		delete(is, key)
		if !reflect.DeepEqual(was, is) {
			t.Errorf("%v became %v", was, is)
		}
		for _, comment := range []string{"# the head", "# as people say", "# what it may", "# always", "# - editor: not yet", "# two",
			"# the tail"} {
			if !strings.Contains(string(out), comment) {
				t.Errorf("%s was lost in\n%s", comment, out)
			}
		}
	})
}

// FuzzSet: no file panics, and one that can be changed has the new value, and nothing else that is new.
func FuzzSet(f *testing.F) {
	f.Add([]byte(roleText), "name", "x")
	f.Add([]byte("a: [\n# x\n]\n"), "a", "y\nz")
	f.Fuzz(func(t *testing.T, data []byte, key, value string) {
		if unquoted.MatchString(key) {
			if out, err := SetText(data, key, value); err == nil {
				var m map[string]any
				if p := Decode("out", out, &m); len(p) > 0 {
					t.Errorf("%q: %v", out, p)
				}
			}
			_, _ = SetList(data, key, []string{value})
		}
	})
}
