package text

import "testing"

func TestTokens(t *testing.T) {
	for s, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "きのこ": 3, "漢字。": 3, "жжжж": 2, "🍄": 2, "ＡＢ": 2} {
		if got := Tokens(s); got != want {
			t.Errorf("Tokens(%q) = %d, want %d", s, got, want)
		}
	}
}
