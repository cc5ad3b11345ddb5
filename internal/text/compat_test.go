package text

import "testing"

func TestCompat(t *testing.T) {
	for _, tt := range [...]struct{ in, want string }{
		{"", ""}, {"read", "read"}, {"ＲＥＡＤ！", "READ!"}, {"ﾌｧｲﾙ", "ファイル"}, {"ﾃﾞｰﾀﾍﾞｰｽ", "データベース"},
		{"は\u309aか\u3099う\u3099", "ぱがゔ"}, {"a\u3000b", "a b"}, {"\u3099x", "\u3099x"},
	} {
		if got := Compat(tt.in); got != tt.want {
			t.Errorf("Compat(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
