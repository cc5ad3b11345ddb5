package rawjson

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestText(t *testing.T) {
	for _, tt := range []struct{ in, want string }{{`"a"`, "a"}, {`"\u00e9\n"`, "é\n"}, {`"日本"`, "日本"}, {`""`, ""}} {
		if got, ok := Text([]byte(tt.in)); !ok || got != tt.want {
			t.Errorf("Text(%s) = %q, %v", tt.in, got, ok)
		}
	}
	for _, in := range []string{``, `"`, `null`, `1`, `"a`, `"a"b"`, "\"\x01\"", `"\q"`} {
		if got, ok := Text([]byte(in)); ok {
			t.Errorf("Text(%s) = %q", in, got)
		}
	}
}

// Text reads eight bytes at a time: a byte that needs decoding counts at every place.
func TestTextAtEveryOffset(t *testing.T) {
	for n := range 20 {
		for at := range n {
			for _, piece := range []struct {
				raw, want string
				ok        bool
			}{{`\n`, "\n", true}, {"\x7f", "\x7f", true}, {"é", "é", true}, {" ", " ", true}, {"!", "!", true}, {`"`, "", false},
				{"\x00", "", false}, {"\x1f", "", false}, {"\xff", "", false}} {
				before, after := strings.Repeat("a", at), strings.Repeat("z", n-at)
				want := ""
				if piece.ok {
					want = before + piece.want + after
				}
				if got, ok := Text([]byte(`"` + before + piece.raw + after + `"`)); got != want || ok != piece.ok {
					t.Fatalf("%q at %d of %d: %q, %v", piece.raw, at, n, got, ok)
				}
			}
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"": `""`, "a\"\\\n日": `"a\"\\\n日"`, "a\xff\xfeb": `"a�b"`, "<&>\u2028": "\"<&>\u2028\""} {
		if got := string(Quote(in)); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
		if got := string(AppendQuote([]byte("x"), in)); got != "x"+want {
			t.Errorf("AppendQuote(x, %q) = %s", in, got)
		}
	}
}

func TestValid(t *testing.T) {
	for _, tt := range []struct {
		in                string
		valid, wellFormed bool
	}{
		{`{"a":[1]}`, true, true}, {` 1 `, true, true}, {`{"a":1,"a":2}`, false, true}, {`[{"a":1,"\u0061":2}]`, false, true},
		{``, false, false}, {`{} {}`, false, false}, {"\"\xff\"", false, false}, {`"\ud800"`, false, false}, {`{"a":1,}`, false, false},
	} {
		if Valid([]byte(tt.in)) != tt.valid || WellFormed([]byte(tt.in)) != tt.wellFormed {
			t.Errorf("%s: valid %v, well-formed %v", tt.in, Valid([]byte(tt.in)), WellFormed([]byte(tt.in)))
		}
	}
}

func TestUnique(t *testing.T) {
	for in, want := range map[string]bool{
		`{}`: true, `{"a":1}`: true, `{"a":1,"A":2}`: true, `{"x":{"a":1},"a":{"a":1}}`: true, `{"a":1,"b":2,"\u0061":3}`: false,
	} {
		if Unique([]byte(in), "a") != want {
			t.Errorf("%s: %v, want %v", in, !want, want)
		}
	}
}

func TestCaseVariant(t *testing.T) {
	for in, want := range map[string]string{
		``: " ", `{}`: " ", `[]`: " ", `{"name":1,"uris":2}`: " ", `{"a":{"Name":1}}`: " ", `{"\u006eame":1}`: " ",
		`{"x":1,"Name":2}`: "Name name", `{"uri":1,"URI":2}`: "URI uri", `{"\u004eame":1}`: "Name name", `{"ſkip":1}`: "ſkip skip",
		`{"sKip":1}`: "sKip skip",
	} {
		if name, key := CaseVariant([]byte(in), "name", "uri", "skip"); name+" "+key != want {
			t.Errorf("%s: %q and %q, want %q", in, name, key, want)
		}
	}
}

func TestRepeatedName(t *testing.T) {
	for in, want := range map[string]string{
		``: "", `{}`: "", `[1,1]`: "", `{"a":1,"b":{"a":1,"A":1}}`: "",
		`{"a":1,"b":2,"A":3}`: "A", `{"a":1,"\u0061":2}`: "a", `{"s":1,"ſ":2}`: "ſ", `{"a":1,"b":2,"c":3,"d":4}`: "d",
	} {
		if got := RepeatedName([]byte(in), 3); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// decoded reads the members or elements of a text by a decoder.
func decoded(raw []byte) (names, values []string) {
	d := jsontext.NewDecoder(strings.NewReader(string(raw)), jsontext.AllowDuplicateNames(true))
	kind := d.PeekKind()
	if _, err := d.ReadToken(); err != nil || kind != '{' && kind != '[' {
		return nil, nil
	}
	for k := d.PeekKind(); k != '}' && k != ']' && k != 0; k = d.PeekKind() {
		if kind == '{' {
			name, _ := d.ReadToken()
			names = append(names, name.String())
		}
		value, _ := d.ReadValue()
		values = append(values, string(value))
	}
	return names, values
}

// FuzzScan compares the scanner with a decoder.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":[{"c":"]"}], "\u0064" : "\\" }`, `[1,"\"",{"a":[]},[[]],-1.5e3,null]`, `{"a":1,"a":2}`, `{"a":1,}`,
		`[,]`, `{"a"`, `{"a":"`, `[[`, `"\`, ` `, "{\"\xff\":1}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var names, values []string
		s := ScanObject(raw)
		for s.Next() {
			names, values = append(names, string(s.Name())), append(values, string(s.Value()))
		}
		e := ScanArray(raw)
		for e.Next() {
			values = append(values, string(e.Value()))
		}
		Text(raw)
		Unquote(raw)
		LastMember(raw)
		RepeatedName(raw, 10)
		fields, ok := Fields(raw)
		if !WellFormed(raw) {
			return
		}
		wantNames, wantValues := decoded(raw)
		if strings.Join(names, "\x00") != strings.Join(wantNames, "\x00") || strings.Join(values, "\x00") != strings.Join(wantValues, "\x00") {
			t.Fatalf("%q: %q %q, want %q %q", raw, names, values, wantNames, wantValues)
		}
		kind := jsontext.Value(raw).Kind()
		if s.Complete() != (kind == '{') || ok != s.Complete() || e.Complete() != (kind == '[') {
			t.Fatalf("%q: complete %v %v %v", raw, s.Complete(), ok, e.Complete())
		}
		if ok && !WellFormed(Object(fields...)) {
			t.Fatalf("%q became %q", raw, Object(fields...))
		}
		text, ok := Text(Trim(raw))
		if want, err := jsontext.AppendUnquote(nil, Trim(raw)); ok != (kind == '"') ||
			ok && (err != nil || text != string(want) || text != string(Unquote(Trim(raw)))) {
			t.Fatalf("%q is %q, %v", raw, text, ok)
		}
	})
}
