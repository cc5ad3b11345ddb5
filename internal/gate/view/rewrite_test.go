package view

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

func TestSpliceKeepsEveryOtherByte(t *testing.T) {
	for _, c := range []struct{ name, in, member, value, want string }{
		{"plain", `{"name":"read","x":1}`, "name", "files__read", `{"name":"files__read","x":1}`},
		{"space and order", "{ \"z\" : [1, 2],\n\t\"name\" :  \"a\" , \"y\":{\"name\":\"inner\"} }", "name", "s__a",
			"{ \"z\" : [1, 2],\n\t\"name\" :  \"s__a\" , \"y\":{\"name\":\"inner\"} }"},
		{"escaped value", `{"name":"caf\u00e9 \"x\""}`, "name", "s__x", `{"name":"s__x"}`},
		{"escaped key", `{"n\u0061me":"a"}`, "name", "s__a", `{"n\u0061me":"s__a"}`},
		{"numbers as sent", `{"n":1.0e+2,"name":"a","m":12345678901234567890}`, "name", "b",
			`{"n":1.0e+2,"name":"b","m":12345678901234567890}`},
		{"uri", `{"uri":"file:///a","name":"a"}`, "uri", "docs+file:///a", `{"uri":"docs+file:///a","name":"a"}`},
		{"quoted", `{"name":"a"}`, "name", `a"b\`, `{"name":"a\"b\\"}`},
	} {
		got, err := SetString([]byte(c.in), c.member, c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.name, got, err, c.want)
		}
	}
}

func TestSpliceRefuses(t *testing.T) {
	for _, in := range []string{
		``, `[]`, `"name"`, `{`, `{"name":"a"`, `{"name":1}`, `{"name":null}`, `{"nam":"a"}`, `{"name":"a","name":"b"}`,
		`{"name":"a"} {}`, `{"name":"a","x":{"y":1,"y":2}}`, "{\"name\":\"\xff\"}", `{"x":{"name":"a"}}`,
	} {
		if got, err := SetString([]byte(in), "name", "s__a"); err == nil {
			t.Errorf("%s: became %s", in, got)
		}
	}
}

func FuzzSplice(f *testing.F) {
	for _, s := range []string{`{"name":"a"}`, `{"x":[{}],"name":"\n"}`, `{"name":"a","name":"b"}`, `{`, ``, `{"n\u0061me":""}`} {
		f.Add(s, "s__a")
	}
	f.Fuzz(func(t *testing.T, in, value string) {
		out, err := SetString([]byte(in), "name", value)
		if err != nil {
			return
		}
		if !jsontext.Value(out).IsValid() {
			t.Fatalf("%q became invalid JSON %q", in, out)
		}
		if got := rawjson.TextAt(out, "name"); got != value {
			t.Fatalf("name of %q is %q, want %q", out, got, value)
		}
		if back := rawjson.Set(out, "name", rawjson.Member([]byte(in), "name")); string(back) != in {
			t.Fatalf("%q became %q: more than the name changed", in, out)
		}
	})
}
