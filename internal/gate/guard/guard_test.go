package guard

import (
	"bytes"
	"fmt"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/go-json-experiment/json"
)

// nonce finds the tag of a mark.
var nonce = regexp.MustCompile(`untrusted-[0-9a-f]{16}`)

// FuzzGuard: whatever a server answers, what comes of it is valid JSON, every mark that is opened is closed once and by itself, what
// was redacted is redacted, and a bound bounds.
func FuzzGuard(f *testing.F) {
	for _, s := range []string{
		`{"content":[{"type":"text","text":"a</untrusted-0>b"}],"structuredContent":{"a b":"c d","password":"x"}}`,
		`{"messages":[{"content":[{"text":"<\u200buntrusted x"}]}]}`,
		`{"contents":[{"uri":"x","text":"＜/untrusted-"}],"_meta":{"mycelium/guard":1}}`,
		`{"content":{"text":"a b"},"text":"DB_PASSWORD=a"}`,
		`{"a":"` + strings.Repeat("b ", 300) + `"}`,
		`{"\u0063ontent":[[{"text":"\ud83d\ude00 <untrusted-"}]]}`,
	} {
		f.Add([]byte(s), uint8(7))
	}
	f.Fuzz(func(t *testing.T, raw []byte, how uint8) {
		g := policy.Guard{Redact: how&1 > 0, Spotlight: how&2 > 0}
		if how&4 > 0 {
			g.MaxBytes = 256
		}
		w := &guarding{Guard: g, name: "a__b"}
		out, err := w.apply(raw, ofResult)
		if err != nil {
			return
		}
		if done := w.done(); done != nil {
			if out, err = markResult(out, done); err != nil {
				t.Fatal(err)
			}
		} else if !bytes.Equal(out, raw) {
			t.Fatalf("%q became %q, and nothing says so", raw, out)
		}
		if !jsontext.Value(out).IsValid(jsontext.AllowDuplicateNames(true)) {
			t.Fatalf("%q became %q", raw, out)
		}
		if g.Spotlight {
			checkMarks(t, raw, out)
		}
		if g == (policy.Guard{Redact: true}) {
			again := &guarding{Guard: g, name: "a__b"}
			if twice, err := again.apply(out, ofResult); err != nil || !bytes.Equal(twice, out) {
				t.Fatalf("%q became %q, then %q: %v", raw, out, twice, err)
			}
		}
		if g.MaxBytes > 0 && !g.Spotlight {
			checkSize(t, g.MaxBytes, out)
		}
	})
}

// checkSize adds up what a guarded answer has, the protocol's own members and content arrays (of which an answer has one) left aside.
func checkSize(t *testing.T, most int, out []byte) {
	t.Helper()
	members, ok := rawjson.Fields(out)
	if !ok {
		t.Fatalf("%q is not an object", out)
	}
	content, rest, arrays := 0, 0, 0
	for _, m := range members {
		switch p := ofResult(whole, []byte(m.Name)); {
		case p == blocks && m.Value[0] == '[':
			content += len(m.Value)
			arrays++
		case p != keep:
			rest += len(m.Token) + len(m.Value)
		}
	}
	if content > most+(arrays+1)*2*maxNote || rest > most+2*maxNote {
		t.Fatalf("%d bytes of content and %d others are left: %q", content, rest, out)
	}
}

// checkMarks walks through every string of a guarded answer.
func checkMarks(t *testing.T, raw, out []byte) {
	t.Helper()
	_, err := replaceStrings(out, ofResult, func(s string, p part) (string, bool) {
		tag := nonce.FindString(s)
		if tag == "" || p == keep || p == meta || bytes.Contains(raw, []byte(tag)) {
			return s, false
		}
		rest := s
		if p == body {
			hint, data, ok := strings.Cut(s, "\n")
			if !ok || strings.Count(hint, tag) != 2 {
				t.Errorf("the hint is %q", hint)
			}
			rest = data
		}
		open, end := "<"+tag+">", "</"+tag+">"
		inside, ok := strings.CutPrefix(rest, open)
		inside, closed := strings.CutSuffix(inside, end)
		if !ok || !closed || marks().MatchString(inside) {
			t.Errorf("the string is %q", s)
		}
		return s, false
	})
	if err != nil {
		t.Error(err)
	}
}

// BenchmarkGuard is what a guard adds to a result of 100 KB: a text of source code in one block.
func BenchmarkGuard(b *testing.B) {
	text, _ := json.Marshal(strings.Repeat("func main() { fmt.Println(\"hello\", password) } // a line of a program\n", 1400))
	raw := fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, text)
	for name, g := range map[string]policy.Guard{"redact": {Redact: true}, "spotlight": {Spotlight: true}, "maxBytes": {MaxBytes: 10_000}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				w := &guarding{Guard: g, name: "a__b"}
				if _, err := w.apply(raw, ofResult); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
