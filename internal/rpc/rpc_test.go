package rpc

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/rawjson"
)

func TestParse(t *testing.T) {
	text := func(m Message) string {
		var b strings.Builder
		for _, p := range []struct {
			k string
			v []byte
		}{{"id", m.ID}, {"params", m.Params}, {"result", m.Result}, {"error", m.Error}} {
			if p.v != nil {
				b.WriteString(p.k + "=" + string(p.v) + " ")
			}
		}
		return strings.TrimSpace(m.Method + " " + b.String())
	}
	for _, tt := range []struct{ in, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `ping id=1`},
		{` { "method" : "x/y" , "params" : { "a" : [1,{"b":"}"}] } , "jsonrpc":"2.0","id":"a\"b" } `,
			`x/y id="a\"b" params={ "a" : [1,{"b":"}"}] }`},
		{`{"jsonrpc":"2.0","method":"notifications/x"}`, `notifications/x`},
		{`{"jsonrpc":"2.0","\u0069d":-7,"method":"tools\/call","params":{}}`, `tools/call id=-7 params={}`},
		{`{"jsonrpc":"2.0","id":1,"result":null}`, `id=1 result=null`},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`, `id=null error={"code":1,"message":"m"}`},
		{`{"jsonrpc":"\u0032.0","id":123456789012345678901234567890,"result":[1, 2]}`, `id=123456789012345678901234567890 result=[1, 2]`},
		{`{"jsonrpc":"2.0","id":1,"method":"m","extra":{"Params":1,"params":2}}`, `m id=1`},
	} {
		m, err := Parse([]byte(tt.in))
		if err != nil {
			t.Errorf("Parse(%s): %v", tt.in, err)
		} else if got := text(m); got != tt.want {
			t.Errorf("Parse(%s) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const parse, invalid = CodeParse, CodeInvalidRequest
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	for _, tt := range []struct {
		name, in string
		code     int
		id       string
	}{
		{"empty", ``, parse, ""},
		{"blank", " \n", parse, ""},
		{"not JSON", `hello`, parse, ""},
		{"cut", `{"jsonrpc":"2.0","id":1,"method":"x"`, parse, ""},
		{"trailing value", `{"jsonrpc":"2.0","id":1,"method":"x"} {}`, parse, ""},
		{"trailing brace", `{"jsonrpc":"2.0","id":1,"method":"x"}}`, parse, ""},
		{"comment", `{"jsonrpc":"2.0","id":1,/*c*/"method":"x"}`, parse, ""},
		{"trailing comma", `{"jsonrpc":"2.0","id":1,"method":"x",}`, parse, ""},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", parse, ""},
		{"lone surrogate", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\ud800"}}`, parse, ""},
		{"NUL", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\x00\"}", parse, ""},
		{"BOM", "\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}", parse, ""},
		{"too deep", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":` + deep + `}}`, invalid, "1"},
		{"too deep, id behind", `{"jsonrpc":"2.0","result":` + deep + `,"id":1}`, invalid, "1"},
		{"too deep, no end", `{"jsonrpc":"2.0","id":1,"result":` + deep[:20000], invalid, "1"},
		{"too deep, two ids", `{"jsonrpc":"2.0","id":1,"result":` + deep + `,"id":2}`, invalid, ""},
		{"too deep, an array", deep, invalid, ""},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"x"}]`, invalid, ""},
		{"string", `"x"`, invalid, ""},
		{"no version", `{"id":1,"method":"x"}`, invalid, "1"},
		{"version 1", `{"jsonrpc":"1.0","id":1,"method":"x"}`, invalid, "1"},
		{"version number", `{"jsonrpc":2.0,"id":1,"method":"x"}`, invalid, "1"},
		{"duplicate", `{"jsonrpc":"2.0","id":5,"method":"x","method":"y"}`, invalid, "5"},
		{"duplicate by escape", `{"jsonrpc":"2.0","id":5,"method":"x","\u006dethod":"y"}`, invalid, "5"},
		{"duplicate id", `{"jsonrpc":"2.0","id":5,"id":6,"method":"x"}`, invalid, ""},
		{"duplicate deep", `{"jsonrpc":"2.0","id":5,"method":"x","params":{"a":[{"b":1,"b":2}]}}`, invalid, "5"},
		{"variant Params", `{"jsonrpc":"2.0","id":5,"method":"x","params":{},"Params":{}}`, invalid, "5"},
		{"variant METHOD before id", `{"METHOD":"x","jsonrpc":"2.0","id":"q"}`, invalid, `"q"`},
		{"variant by escape", `{"jsonrpc":"2.0","id":5,"method":"x","\u0050arams":{}}`, invalid, "5"},
		{"variant by folding", `{"jsonrpc":"2.0","id":5,"method":"x","param` + "\u017f" + `":{}}`, invalid, "5"},
		{"variant Id", `{"jsonrpc":"2.0","Id":5,"method":"x"}`, invalid, ""},
		{"variant Result", `{"jsonrpc":"2.0","id":5,"Result":{}}`, invalid, "5"},
		{"variant ERROR", `{"jsonrpc":"2.0","id":5,"ERROR":{}}`, invalid, "5"},
		{"variant JSONRPC", `{"JSONRPC":"2.0","id":5,"method":"x"}`, invalid, "5"},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"x"}`, invalid, ""},
		{"id fraction", `{"jsonrpc":"2.0","id":1.0,"method":"x"}`, invalid, ""},
		{"id exponent", `{"jsonrpc":"2.0","id":1e3,"method":"x"}`, invalid, ""},
		{"id object", `{"jsonrpc":"2.0","id":{},"method":"x"}`, invalid, ""},
		{"id bool", `{"jsonrpc":"2.0","id":true,"method":"x"}`, invalid, ""},
		{"method number", `{"jsonrpc":"2.0","id":1,"method":7}`, invalid, "1"},
		{"method empty", `{"jsonrpc":"2.0","id":1,"method":""}`, invalid, "1"},
		{"params array", `{"jsonrpc":"2.0","id":1,"method":"x","params":[]}`, invalid, "1"},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"x","params":null}`, invalid, "1"},
		{"params string", `{"jsonrpc":"2.0","id":1,"method":"x","params":"{}"}`, invalid, "1"},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"x","result":{}}`, invalid, "1"},
		{"nothing", `{"jsonrpc":"2.0","id":1}`, invalid, "1"},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, invalid, "1"},
		{"response without id", `{"jsonrpc":"2.0","result":{}}`, invalid, ""},
		{"error not an object", `{"jsonrpc":"2.0","id":1,"error":"x"}`, invalid, "1"},
		{"empty object", `{}`, invalid, ""},
	} {
		m, err := Parse([]byte(tt.in))
		if err == nil {
			t.Errorf("%s: accepted as %+v", tt.name, m)
			continue
		}
		if err.Code != tt.code || string(m.ID) != tt.id {
			t.Errorf("%s: code %d id %q (%v), want %d %q", tt.name, err.Code, m.ID, err, tt.code, tt.id)
		}
		if m.Params != nil || m.Result != nil || m.Error != nil {
			t.Errorf("%s: more than the id and the method came back: %+v", tt.name, m)
		}
	}
}

func TestAppend(t *testing.T) {
	m := Message{ID: []byte(`"a"`), Method: "x\"y", Params: []byte("{\n \"a\": \"b\\n\"\r\n}")}
	got := string(m.Append([]byte("> ")))
	want := `> {"jsonrpc":"2.0","id":"a","method":"x\"y","params":{  "a": "b\n"  }}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s := string(m.Params); !strings.Contains(s, "\r\n") {
		t.Error("Append changed the raw params")
	}
	e := Message{ID: []byte("null"), Error: (&Error{Code: -1, Message: "b\xffd", Data: []byte(`[1]`)}).Raw()}
	if got, want := string(e.Append(nil)), `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"b�d","data":[1]}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if d := cmp.Diff(&Error{Code: -1, Message: "b�d", Data: []byte(`[1]`)}, ErrorOf(e.Error)); d != "" {
		t.Error(d)
	}
	if e := ErrorOf([]byte(`{"code":"x","message":3}`)); e.Code != 0 || e.Message != "" {
		t.Errorf("ErrorOf of nonsense = %+v", e)
	}
}

func TestCheckCase(t *testing.T) {
	for _, in := range []string{``, `{}`, `{"name":1,"arguments":{"Name":2}}`, `{"names":1}`, `{"\u006eame":1}`} {
		if err := CheckCase([]byte(in), "name", "uri"); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, in := range []string{`{"Name":1}`, `{"name":1,"NAME":2}`, `{"x":[],"\u004eame":1}`, `{"URI":1}`} {
		if err := CheckCase([]byte(in), "name", "uri"); err == nil || err.Code != CodeInvalidParams {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	msg := kilobyte()
	n := testing.AllocsPerRun(100, func() {
		if _, err := Parse(msg); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 && !raceDetector {
		t.Errorf("Parse of 1 KB allocates %v times", n)
	}
}

func kilobyte() []byte {
	return []byte(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"echo__echo","arguments":{"text":"` +
		strings.Repeat("0123456789abcde ", 56) + `","n":[1,2,3],"o":{"a":true}},"_meta":{"progressToken":7}}}`)
}

func BenchmarkParse(b *testing.B) {
	msg := kilobyte()
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(msg); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(kilobyte())
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `[{}]`, `{"jsonrpc":"2.0","id":null,"error":{"code":1}}`,
		`{"a":1,"a":2,"id":3}`, "{\"Id\":\"\xff\"", `{"jsonrpc":"2.0","method":"m","params":{"a":"\ud83d\ude00"}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		m, err := Parse(b)
		if !bytes.Equal(b, before) {
			t.Fatal("Parse changed its input")
		}
		if err != nil {
			if err.Code != CodeParse && err.Code != CodeInvalidRequest {
				t.Fatalf("code %d", err.Code)
			}
			if !rawjson.Valid(err.Raw()) {
				t.Fatalf("error is not JSON: %s", err.Raw())
			}
			return
		}
		line := m.Append(nil)
		if bytes.ContainsAny(line, "\r\n") {
			t.Fatalf("more than a line: %q", line)
		}
		again, err := Parse(line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if second := again.Append(nil); !bytes.Equal(line, second) {
			t.Fatalf("%q became %q", line, second)
		}
	})
}
