package gate

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

func TestSpliceKeepsEveryOtherByte(t *testing.T) {
	for _, c := range []struct{ name, in, member, value, want string }{
		{"plain", `{"name":"read","x":1}`, "name", "files__read", `{"name":"files__read","x":1}`},
		{"space and order", "{ \"z\" : [1, 2],\n\t\"name\" :  \"a\" , \"y\":{\"name\":\"inner\"} }", "name", "s__a", "{ \"z\" : [1, 2],\n\t\"name\" :  \"s__a\" , \"y\":{\"name\":\"inner\"} }"},
		{"escaped value", `{"name":"caf\u00e9 \"x\""}`, "name", "s__x", `{"name":"s__x"}`},
		{"escaped key", `{"n\u0061me":"a"}`, "name", "s__a", `{"n\u0061me":"s__a"}`},
		{"numbers as sent", `{"n":1.0e+2,"name":"a","m":12345678901234567890}`, "name", "b", `{"n":1.0e+2,"name":"b","m":12345678901234567890}`},
		{"uri", `{"uri":"file:///a","name":"a"}`, "uri", "docs+file:///a", `{"uri":"docs+file:///a","name":"a"}`},
		{"quoted", `{"name":"a"}`, "name", `a"b\`, `{"name":"a\"b\\"}`},
	} {
		got, err := spliceString([]byte(c.in), c.member, c.value)
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
		if got, err := spliceString([]byte(in), "name", "s__a"); err == nil {
			t.Errorf("%s: became %s", in, got)
		}
	}
}

func FuzzSplice(f *testing.F) {
	for _, s := range []string{`{"name":"a"}`, `{"x":[{}],"name":"\n"}`, `{"name":"a","name":"b"}`, `{`, ``, `{"n\u0061me":""}`} {
		f.Add(s, "s__a")
	}
	f.Fuzz(func(t *testing.T, in, value string) {
		out, err := spliceString([]byte(in), "name", value)
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

func TestReportsError(t *testing.T) {
	for in, want := range map[string]bool{
		`{"content":[],"isError":true}`:                           true,
		"{\"isError\" :\n true , \"content\":[]}":                 true,
		`{"content":[],"isError":false}`:                          false,
		`{"content":[]}`:                                          false,
		`{"content":[{"isError":true}]}`:                          false,
		`{"structuredContent":{"isError":true}}`:                  false,
		`{"x":"isError","y":true}`:                                false,
		`{"x":"\"isError\":true"}`:                                false,
		`{"x":"\\","isError":true}`:                               true,
		`{"x":"{[\\\"","isError":true}`:                           true,
		`{"content":[{"text":"}"}],"isError":true}`:               true,
		`{"content":[{"text":"a"},{"isError":1}],"isError":true}`: true,
		`["isError", true]`:                                       false,
		`{"isError":"true"}`:                                      false,
		`{"isError":`:                                             false,
		`{"isError`:                                               false,
		``:                                                        false,
	} {
		if got := reportsError([]byte(in)); got != want {
			t.Errorf("%s: %v, want %v", in, got, want)
		}
	}
}

// FuzzReportsError compares the scan with a decoder: on any object whose member is spelled plainly they agree.
func FuzzReportsError(f *testing.F) {
	for _, s := range []string{`{"isError":true}`, `{"a":"\\\"","isError":true}`, `{"a":[{"isError":true}],"isError":false}`, `{"a":"isError"}`, `"`, `{"\\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := reportsError([]byte(in))
		var object struct {
			IsError jsontext.Value `json:"isError"`
		}
		if json.Unmarshal([]byte(in), &object) != nil {
			return // only that it came back
		}
		if want := string(object.IsError) == "true"; got != want && !strings.Contains(in, `\u`) {
			t.Fatalf("%q: scan says %v, decoder %v", in, got, want)
		}
	})
}

func BenchmarkReportsError(b *testing.B) {
	big := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("lorem ipsum ", 1<<14) + `"}],"isError":false}`)
	b.SetBytes(int64(len(big)))
	for b.Loop() {
		if reportsError(big) {
			b.Fatal("no error is reported")
		}
	}
}
