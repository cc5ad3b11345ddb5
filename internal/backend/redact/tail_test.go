package redact

import (
	"strings"
	"testing"
)

func TestTailHidesSecretsAtItsCut(t *testing.T) {
	var r Redactor
	r.Add("topsecretvalue", "${K}")
	r.Sort()
	for shift := range 40 {
		tl := NewTail(r)
		for range 3 {
			_, _ = tl.Write([]byte(strings.Repeat("a", shift)))
			for range 3 * tailSize / len("topsecretvalue") {
				_, _ = tl.Write([]byte("topsecretvalue"))
			}
		}
		got := tl.String()
		if rest := strings.Trim(strings.ReplaceAll(got, "${K}", ""), "a"); rest != "" {
			t.Fatalf("shift %d: %q is left", shift, rest)
		}
		if len(got) > tailSize {
			t.Errorf("%d bytes", len(got))
		}
	}
}

func TestTailIsBoundedAndPrintable(t *testing.T) {
	tl := NewTail(Redactor{})
	for range 100 {
		_, _ = tl.Write([]byte(strings.Repeat("x", 10_000)))
	}
	_, _ = tl.Write([]byte("\x1b[31mred\u202e\xff 日本\n"))
	got := tl.String()
	if len(got) > tailSize+10 || !strings.HasSuffix(got, "x[31mred\uFFFD 日本") {
		t.Errorf("%d bytes, ends with %q", len(got), got[max(0, len(got)-40):])
	}
}
