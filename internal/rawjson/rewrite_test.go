package rawjson

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// tracer writes what it is shown, and changes every string that contains a question mark, every value under "cut", and nothing else.
func tracer(seen *strings.Builder, compact bool) *Visitor[int] {
	return &Visitor[int]{
		Member: func(object int, name []byte, first byte) (int, bool) {
			fmt.Fprintf(seen, "%d.%s%c ", object, name, first)
			return object + 1, strings.HasPrefix(string(name), "cut")
		},
		String: func(value int, token []byte) []byte {
			fmt.Fprintf(seen, "%d=%s ", value, token)
			if bytes.IndexByte(token, '?') >= 0 {
				return []byte(`"!"`)
			}
			return nil
		},
		Value: func(value int, raw []byte) []byte {
			fmt.Fprintf(seen, "%d:%s ", value, raw)
			if bytes.Contains(raw, []byte("keep")) {
				return nil
			}
			return []byte("0")
		},
		Compact: compact,
	}
}

func TestRewrite(t *testing.T) {
	for _, tt := range []struct{ in, want, compact, seen string }{
		{` {"a" : "x?" , "b":[ "?", {"c":"d"} ]} `, ` {"a" : "!" , "b":[ "!", {"c":"d"} ]} `, `{"a":"!","b":["!",{"c":"d"}]}`,
			`0.a" 1="x?" 0.b[ 1="?" 1.c" 2="d" `},
		{`{"cut":{"a": "?"}, "cut2":["keep", 1], "cut3":7}`, `{"cut":0, "cut2":["keep", 1], "cut3":0}`, `{"cut":0,"cut2":["keep", 1],"cut3":0}`,
			`0.cut{ 1:{"a": "?"} 0.cut2[ 1:["keep", 1] 0.cut37 1:7 `},
		{`{"\u0061":"\u0061"}`, `{"\u0061":"\u0061"}`, `{"\u0061":"\u0061"}`, `0.a" 1="\u0061" `},
		{`[ ]`, `[ ]`, `[]`, ``}, {` "?"`, ` "!"`, `"!"`, `0="?" `}, {"\n-1.50 ", "\n-1.50 ", "-1.50", ``}, {`{ }`, `{ }`, `{}`, ``},
	} {
		var seen strings.Builder
		got, ok := Rewrite([]byte("> "), []byte(tt.in), 0, tracer(&seen, false))
		if !ok || string(got) != "> "+tt.want || seen.String() != tt.seen {
			t.Errorf("%s\nbecame %s, %v\nwant   > %s\nseen %s\nwant %s", tt.in, got, ok, tt.want, seen.String(), tt.seen)
		}
		if got, ok := Rewrite(nil, []byte(tt.in), 0, tracer(&seen, true)); !ok || string(got) != tt.compact {
			t.Errorf("%s: compact %s, %v, want %s", tt.in, got, ok, tt.compact)
		}
	}
}

func TestRewriteRefuses(t *testing.T) {
	for _, in := range []string{
		``, ` `, `{`, `[`, `}`, `{"a"}`, `{"a":}`, `{"a":1`, `{"a":1,}`, `{"a" 1}`, `{,}`, `{1:2}`, `[1,]`, `[1 2]`, `[,1]`, `[1}`, `{"a":1]`,
		`{} {}`, `[]]`, `"`, `"a`, `"\"`, `{"a`, `{"cut":`, `{"cut":}`, "{}\x00",
		strings.Repeat("[", MaxDepth+2) + strings.Repeat("]", MaxDepth+2), strings.Repeat(`{"a":`, 1<<20),
	} {
		var seen strings.Builder
		if out, ok := Rewrite([]byte("> "), []byte(in), 0, tracer(&seen, true)); ok || string(out) != "> " {
			t.Errorf("%.40s became %.40s", in, out)
		}
	}
	var seen strings.Builder
	if deep := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth); !Valid([]byte(deep)) {
		t.Error("Valid accepts less than MaxDepth")
	} else if _, ok := Rewrite(nil, []byte(deep), 0, tracer(&seen, false)); !ok {
		t.Error("what package jsontext accepts is too deep")
	}
}

func TestRewriteOfNothingIsTheTextItself(t *testing.T) {
	in := []byte(`{"a": ["b", 1]}`)
	var seen strings.Builder
	if out, ok := Rewrite(nil, in, 0, tracer(&seen, false)); !ok || &out[0] != &in[0] {
		t.Error("a text in which nothing changes is copied")
	}
}

// FuzzRewrite: going through a text changes no byte that it should not, and every string that it should.
func FuzzRewrite(f *testing.F) {
	for _, s := range []string{`{"a":["b",{"c":"\\\"?"}], "d" : 1.50 }`, ` [ ] `, `"?"`, `{"a":1,"a":"?"}`, `[[[`, `{"a":"?`, `{"a":1,}`,
		"[\"\xff\"]", `"\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		keep := &Visitor[int]{
			Member: func(o int, _ []byte, _ byte) (int, bool) { return o, false },
			String: func(int, []byte) []byte { return nil },
		}
		if same, ok := Rewrite([]byte(">"), raw, 0, keep); ok && string(same) != ">"+string(raw) {
			t.Fatalf("%q became %q", raw, same)
		} else if !ok && WellFormed(raw) {
			t.Fatalf("%q is refused", raw)
		}
		keep.Compact = true
		compact, _ := Rewrite(nil, raw, 0, keep)
		strings := 0
		changed, _ := Rewrite(nil, raw, 0, &Visitor[int]{
			Member: keep.Member,
			String: func(int, []byte) []byte { strings++; return []byte(`"x"`) },
		})
		if !WellFormed(raw) {
			return
		}
		want := jsontext.Value(bytes.Clone(raw))
		if err := want.Compact(jsontext.AllowDuplicateNames(true)); err != nil || !bytes.Equal(compact, want) {
			t.Fatalf("%q is compact %q, want %q (%v)", raw, compact, want, err)
		}
		if !WellFormed(changed) || bytes.Count(changed, []byte(`"x"`)) < strings {
			t.Fatalf("%q became %q", raw, changed)
		}
	})
}
