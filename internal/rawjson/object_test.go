package rawjson

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSet(t *testing.T) {
	for _, tt := range []struct{ in, key, value, want string }{
		{`{}`, "a", `1`, `{"a":1}`},
		{`{ }`, "a", `1`, `{"a":1 }`},
		{`{"a":1}`, "a", `{"x":2}`, `{"a":{"x":2}}`},
		{`{"b" : [1, 2] }`, "a", `"q"`, `{"b" : [1, 2],"a":"q" }`},
		{` {"a":1, "b":2 ,"c":3}`, "b", ``, ` {"a":1 ,"c":3}`},
		{`{ "a":1, "b":2}`, "a", ``, `{ "b":2}`},
		{`{"a":1, "b":2 }`, "b", ``, `{"a":1 }`},
		{`{ "a":1 }`, "a", ``, `{  }`},
		{`{"a":{"a":1},"b":"\"a\":3"}`, "a", ``, `{"b":"\"a\":3"}`},
		{`{"\u0061":1}`, "a", `2`, `{"\u0061":2}`},
		{`{"x":1}`, "a", ``, `{"x":1}`},
		{`{"x":1}`, "日\"本", `2`, `{"x":1,"日\"本":2}`},
		{`[1]`, "a", `1`, `[1]`},
		{`{"a":1`, "b", `1`, `{"a":1`},
		{``, "a", `1`, `{"a":1}`},
	} {
		var object, value []byte
		if tt.in != "" {
			object = []byte(tt.in)
		}
		if tt.value != "" {
			value = []byte(tt.value)
		}
		if got := string(Set(object, tt.key, value)); got != tt.want {
			t.Errorf("Set(%s, %s, %s) = %s, want %s", tt.in, tt.key, tt.value, got, tt.want)
		}
		if string(object) != tt.in {
			t.Errorf("Set(%s) changed its argument to %s", tt.in, object)
		}
	}
	if Set(nil, "a", nil) != nil {
		t.Error("Set(nil, a, nil) is not nil")
	}
}

func TestDefault(t *testing.T) {
	for in, want := range map[string]string{
		`{}`: `{"a":1,"b":2}`, `{ }`: `{"a":1,"b":2 }`, `{"x":0 }`: `{"x":0,"a":1,"b":2 }`, `{"a":null}`: `{"a":null,"b":2}`,
		`{"b":7,"\u0061":8}`: `{"b":7,"\u0061":8}`, `[]`: `[]`, `{"x"`: `{"x"`,
	} {
		if got := Default([]byte(in), Field{Name: "a", Value: []byte("1")}, Field{Name: "b", Value: []byte("2")}); string(got) != want {
			t.Errorf("Default(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestSetBoth(t *testing.T) {
	const in = `{"a":1, "b":2 ,"c":3}`
	for _, tt := range []struct{ key, value, other, otherValue, want string }{
		{"a", "7", "c", "8", `{"a":7, "b":2 ,"c":8}`},
		{"c", "7", "a", "8", `{"a":8, "b":2 ,"c":7}`},
		{"c", "7", "b", "", `{"a":1 ,"c":7}`},
		{"b", "", "c", "7", `{"a":1 ,"c":7}`},
		{"b", "7", "b", "8", `{"a":1, "b":8 ,"c":3}`},
		{"x", "7", "a", "8", `{"a":8, "b":2 ,"c":3,"x":7}`},
		{"a", "8", "x", "7", `{"a":8, "b":2 ,"c":3,"x":7}`},
	} {
		raw := func(s string) []byte {
			if s == "" {
				return nil
			}
			return []byte(s)
		}
		if got := string(SetBoth([]byte(in), tt.key, raw(tt.value), tt.other, raw(tt.otherValue))); got != tt.want {
			t.Errorf("SetBoth(%s=%s, %s=%s) = %s, want %s", tt.key, tt.value, tt.other, tt.otherValue, got, tt.want)
		}
	}
}

func TestReplace(t *testing.T) {
	const in = ` { "a" : {"b": [1], "b":2}, "c":{}} `
	for _, tt := range []struct{ path, want string }{
		{"a.b", ` { "a" : {"b": "x", "b":2}, "c":{}} `},
		{"c", ` { "a" : {"b": [1], "b":2}, "c":"x"} `},
		{"c.b", in}, {"a.b.c", in}, {"x", in}, {"a.b.0", in},
	} {
		if got := string(Replace([]byte(in), []byte(`"x"`), strings.Split(tt.path, ".")...)); got != tt.want {
			t.Errorf("Replace(%s) = %s, want %s", tt.path, got, tt.want)
		}
	}
}

func TestMember(t *testing.T) {
	o := []byte(`{"a":{"b\\":{"c":"\\\"}"}},"d":-1.5e3 , "e":"x"}`)
	for _, tt := range []struct {
		path []string
		want string
	}{
		{[]string{"a", `b\`, "c"}, `"\\\"}"`}, {[]string{"d"}, `-1.5e3`}, {[]string{"e"}, `"x"`},
		{[]string{"b"}, ``}, {[]string{"d", "x"}, ``}, {[]string{"A"}, ``}, {[]string{"a", "c"}, ``},
	} {
		if got := string(Path(o, tt.path...)); got != tt.want {
			t.Errorf("Path(%v) = %s, want %s", tt.path, got, tt.want)
		}
	}
	if v := Member(o, "a"); cap(v) != len(v) {
		t.Error("a member's slice reaches into the bytes after it")
	}
}

func TestTextAt(t *testing.T) {
	o := []byte(`{"a":{"b":"\u0063"},"n":1}`)
	for path, want := range map[string]string{"a.b": "c", "a": "", "n": "", "a.x": "", "x": ""} {
		if got := TextAt(o, strings.Split(path, ".")...); got != want {
			t.Errorf("TextAt(%s) = %q, want %q", path, got, want)
		}
	}
}

func TestMembersAndElements(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{}`, ``}, {`[]`, ``}, {` [ ] `, ``}, {`"x"`, ``}, {`3`, ``}, {``, ``},
		{`{"a":1,"b" : [2, {"c":"}"}] , "a":"x\"y"}`, `a=1 b=[2, {"c":"}"}] a="x\"y" `},
		{`{"\u0061":null}`, `a=null `},
		{` [1 , "]", {"a":[]},[ ] ] `, `1 "]" {"a":[]} [ ] `},
		{`{"a":1 "b":2}`, `a=1 `}, {`{"a":1,}`, `a=1 `}, {`{,"a":1}`, ``}, {`[1,,2]`, `1 `}, {`[1,]`, `1 `}, {`{"a"}`, ``}, {`{"a":}`, ``},
		{`[:]`, ``},
	} {
		var got strings.Builder
		for name, value := range Members([]byte(tt.in)) {
			got.WriteString(name + "=" + string(value) + " ")
		}
		for value := range Elements([]byte(tt.in)) {
			got.WriteString(string(value) + " ")
		}
		if got.String() != tt.want {
			t.Errorf("%s has %s, want %s", tt.in, got.String(), tt.want)
		}
	}
	for range Members([]byte(`{"a":1,"b":2}`)) {
		break
	}
	for range Elements([]byte(`[1,2]`)) {
		break
	}
}

func TestComplete(t *testing.T) {
	for in, want := range map[string]bool{
		`{}`: true, ` { "a":1 } `: true, `{"a":{}}`: true,
		`{`: false, `{"a":1`: false, `{"a":1}x`: false, `{"a":1,}`: false, `{"a":1 "b":2}`: false, `[]`: false, ``: false, `{"a":[}`: false,
	} {
		s := ScanObject([]byte(in))
		for s.Next() {
		}
		if s.Complete() != want || s.Next() {
			t.Errorf("%s is complete: %v, want %v", in, s.Complete(), want)
		}
	}
}

func TestFields(t *testing.T) {
	const in = ` { "\u0061" : 1, "b":[ 2 ] , "b":{} } `
	fields, ok := Fields([]byte(in))
	if got, want := string(Object(fields...)), `{"\u0061":1,"b":[ 2 ],"b":{}}`; !ok || got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want := []Field{{"a", []byte(`1`), []byte(`"\u0061"`)}, {"b", []byte(`[ 2 ]`), []byte(`"b"`)}, {"b", []byte(`{}`), []byte(`"b"`)}}
	if d := cmp.Diff(want, fields); d != "" {
		t.Error(d)
	}
	if got, want := string(Object(Field{Name: "\"", Value: []byte("1")}, Field{Name: "\xff", Value: []byte("2")})),
		`{"\"":1,"�":2}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := string(Object()) + string(Array(nil)) + string(Array([][]byte{[]byte("1"), []byte("{}")})); got != `{}[][1,{}]` {
		t.Errorf("got %s", got)
	}
	for _, in := range []string{``, `[]`, `{"a":1`, `{} x`, `{"a" 1}`} {
		if _, ok := Fields([]byte(in)); ok {
			t.Errorf("%s counts as an object", in)
		}
	}
}

func TestList(t *testing.T) {
	list, ok := List([]byte(` [ 1, "a]" ,[2]] `))
	if got := string(bytes.Join(list, []byte("|"))); !ok || got != `1|"a]"|[2]` {
		t.Errorf("got %s, %v", got, ok)
	}
	for in, want := range map[string]bool{`[]`: true, `{}`: false, ``: false, `[1`: false, `[1] x`: false, `[1 2]`: false} {
		if _, ok := List([]byte(in)); ok != want {
			t.Errorf("%s counts as an array: %v", in, ok)
		}
	}
}

func TestLastMember(t *testing.T) {
	for _, tt := range []struct{ in, rest, name, value string }{
		{`..."},"id":7`, `..."}`, `"id"`, `7`},
		{`1 , "id" : "a b" `, `1 `, `"id"`, `"a b"`},
		{`{"id":7`, "", "", ""}, {`x,"id":1.5`, "", "", ""}, {`x,"id":"a\"b"`, "", "", ""}, {`x,"id":{}`, "", "", ""}, {`x,"id":`, "", "", ""},
		{`x,id":7`, "", "", ""}, {`":7`, "", "", ""}, {`"`, "", "", ""}, {``, "", "", ""}, {`x,:7`, "", "", ""},
	} {
		rest, name, value := LastMember([]byte(tt.in))
		if string(rest) != tt.rest || string(name) != tt.name || string(value) != tt.value {
			t.Errorf("%s: %q, %q, %q", tt.in, rest, name, value)
		}
	}
}

func FuzzSet(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":{"a":[2]}, "c" : "x" }`), "b", []byte(`"new"`))
	f.Add([]byte(`{ }`), "", []byte(`null`))
	f.Add([]byte(`{"\u0061":"\\\""}`), "a", []byte(`{}`))
	f.Fuzz(func(t *testing.T, object []byte, key string, value []byte) {
		Member(object, key)
		CaseVariant(object, key)
		Set(object, key, nil)
		got := Set(object, key, value)
		if o := Trim(object); !Valid(object) || o[0] != '{' || !Valid(value) || !Valid(Quote(key)) ||
			string(bytes.ToValidUTF8([]byte(key), nil)) != key {
			return
		}
		if !Valid(got) {
			t.Fatalf("Set(%q, %q, %q) = %q", object, key, value, got)
		}
		if v := Member(got, key); !bytes.Equal(Trim(v), Trim(value)) {
			t.Fatalf("Member after Set = %q, want %q (%q)", v, value, got)
		}
		for s := ScanObject(object); s.Next(); {
			other := string(s.Name())
			for _, v := range [][]byte{value, nil} {
				if both, want := SetBoth(object, key, value, other, v), Set(Set(object, key, value), other, v); !bytes.Equal(both, want) {
					t.Fatalf("SetBoth(%q, %q, %q, %q, %q) = %q, want %q", object, key, value, other, v, both, want)
				}
			}
		}
		without := Set(got, key, nil)
		if !Valid(without) || Member(without, key) != nil {
			t.Fatalf("removed: %q", without)
		}
		for s := ScanObject(object); s.Next(); {
			if name := string(s.Name()); name != key {
				if !bytes.Equal(Member(got, name), s.Value()) || !bytes.Equal(Member(without, name), s.Value()) {
					t.Fatalf("member %q changed: %q, %q", name, got, without)
				}
			}
		}
	})
}
