package structured

import (
	"testing"
)

func TestSchema(t *testing.T) {
	s, err := Parse([]byte(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		`{"n":3}`: `{"n":3}`, " {\"n\": 3}\n": `{"n": 3}`, "```json\n{\"n\":3}\n```": `{"n":3}`, "```\n{\"n\":3}\n```\n": `{"n":3}`,
		`{"n":"3"}`: "", `{}`: "", `{"n":3,"x":1}`: "", `n=3`: "", "": "", `{"n":3} and more`: "", `{"n":3,"n":4}`: "", `[{"n":3}]`: "",
	} {
		got, err := s.Check(answer)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s, %v", answer, got, err)
		}
	}
	for _, bad := range []string{"", "x", `{"type":3}`, `{"$ref":"https://example.com/x"}`, `{"pattern":"("}`} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%s is a schema", bad)
		}
	}
}

func FuzzCheck(f *testing.F) {
	s, err := Parse([]byte(`{"type":"object"}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("```json\n{}\n```")
	f.Add("```\n```")
	f.Fuzz(func(t *testing.T, answer string) {
		if v, err := s.Check(answer); err == nil && v.Kind() != '{' {
			t.Fatalf("%q fits as %s", answer, v)
		}
	})
}
