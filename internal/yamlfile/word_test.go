package yamlfile

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

func TestWord(t *testing.T) {
	w, re := Word{Lower + Digits, Lower + Digits + "-_", 5}, regexp.MustCompile(`\A[a-z0-9][a-z0-9_-]{0,4}\z`)
	for _, s := range []string{"", "a", "a-b_9", "-a", "abcdef", "aé", "é", "a\n", "A"} {
		if got, want := w.MatchString(s), re.MatchString(s); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("ab9-_Aé\n")), 0, 7, -1).Draw(t, "s")
		if got, want := w.MatchString(s), re.MatchString(s); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	})
	if w := (Word{First: Lower, Rest: Lower}); !w.MatchString("abcdefghijklmnopqrstuvwxyz") || w.MatchString("ab9") {
		t.Error("a word without a bound")
	}
}
