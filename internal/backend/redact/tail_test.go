package redact

import (
	"slices"
	"strings"
	"testing"

	"mycelium/internal/credential"
	"mycelium/internal/credential/credentialtest"
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

// TestNoFormInTexts: no form of a secret comes through, in whatever pieces a text is written.
func TestNoFormInTexts(t *testing.T) {
	var r Redactor
	for _, f := range credentialtest.Samples() {
		text := "it says " + f.Text + " and ends"
		tl := NewTail(Redactor{})
		for _, b := range []byte(strings.Repeat("noise\n", 3*tailSize/6) + text + "\n") {
			_, _ = tl.Write([]byte{b})
		}
		for where, got := range map[string]string{
			"text": r.Text(text), "excerpt": Excerpt([]byte(text)), "tail": tl.String(),
		} {
			if strings.Contains(got, f.Secret) || !strings.Contains(got, credential.Redacted) {
				t.Errorf("%s: %s: %s", f.Form, where, got)
			}
		}
	}
}

// TestTailHidesFormsAtItsCut: what is left of a secret that begins before the cut has no form, and is not shown.
func TestTailHidesFormsAtItsCut(t *testing.T) {
	samples := credentialtest.Samples()
	key := samples[slices.IndexFunc(samples, func(f credentialtest.Sample) bool { return f.Form == credential.PrivateKey })]
	for shift := range 200 {
		tl := NewTail(Redactor{})
		for range 60 {
			_, _ = tl.Write([]byte(key.Text + "\n" + strings.Repeat("-", shift) + "\n"))
		}
		if got := tl.String(); strings.ContainsAny(strings.ReplaceAll(got, credential.Redacted, ""), "abcdefghijklmnopqrstuvwxyz") {
			t.Fatalf("shift %d: %q", shift, got)
		}
	}
}
