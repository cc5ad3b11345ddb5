package skill

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/policy"
)

// withTriggers makes a library of skills with triggers.
func withTriggers(byName map[string][]string) (*Library, []string) {
	var skills []Skill
	var names []string
	for name, triggers := range byName {
		skills = append(skills, Skill{Grant: policy.Grant{Name: name}, Triggers: triggers})
		names = append(names, name)
	}
	return Validate(skills, Catalog{}), names
}

func TestTriggerMatches(t *testing.T) {
	for _, tt := range []struct {
		trigger, text string
		want          bool
	}{
		// BX6: words, never substrings.
		{"ok", "the token is here", false}, {"ok", "OK, go on", true}, {"test", "the latest", false}, {"test", "please test this", true},
		{"fix", "a prefix", false}, {"fix", "fix: it", true}, {"other", "another", false}, {"test", "test_utils", false},
		{"test", "tests", false},
		{"fix", "pre-fix", true}, {"read", "read", true}, {"read", "(read)", true}, {"read", "README.md", false}, {"readme", "README.md", true},
		{"run tests", "please  run\n tests now", true}, {"run tests", "rerun tests", false}, {"c++", "use c++ here", true},
		// Case, width.
		{"Read", "ＲＥＡＤ it", true}, {"ｒｅａｄ", "read", true}, {"ÉCLAIR", "un éclair", true}, {"straße", "STRASSE", false},
		{"читай", "Читай файл", true}, {"читай", "прочитай", false},
		// Japanese stands without spaces.
		{"読んで", "ファイルを読んでください", true}, {"編集", "CLAUDE.mdを編集して", true}, {"test", "testして", true},
		{"テスト", "テストして", true},
		{"テスト", "単体テストを実行", true}, {"テスト", "コンテスト", false}, {"テスト", "テストケース", false},
		{"テスト", "テスト・ケース", true}, {"テスト", "ﾃｽﾄして", true},
		{"コード", "レコード", false}, {"コード", "コードを書く", true}, {"ﾃﾞﾊﾞｯｸﾞ", "デバッグする", true},
		{"ガイド", "カ\u3099イト\u3099", true}, {"パン", "ハ\u309aン", true},
		{"修正", "修正", true}, {"修正して", "修正する", false}, {"コードレビュー", "コードレビューして", true},
		{"レビュー", "コードレビューして", false},
		{"파일", "파일을 열어", true}, {"", "anything", false},
	} {
		lib, names := withTriggers(map[string][]string{"s": {tt.trigger}})
		if got := len(lib.Suggest(tt.text, names)) == 1; got != tt.want {
			t.Errorf("trigger %q in %q: %v, want %v", tt.trigger, tt.text, got, tt.want)
		}
	}
}

// TestScore is row B17.
func TestScore(t *testing.T) {
	lib, names := withTriggers(map[string][]string{"reader": {"read", "show", "open", "view", "READ", "読んで"},
		"editor": {"edit", "編集"},
		"none":   nil})
	for _, tt := range []struct {
		text string
		want []Suggestion
	}{
		{"", nil}, {"hello", nil},
		{"read it", []Suggestion{{"reader", 0.3, []string{"read"}}}},
		{"read read read", []Suggestion{{"reader", 0.3, []string{"read"}}}},
		{"read and show it", []Suggestion{{"reader", 0.6, []string{"read", "show"}}}},
		{"read show open", []Suggestion{{"reader", 0.9, []string{"read", "show", "open"}}}},
		{"read show open view", []Suggestion{{"reader", 0.9, []string{"read", "show", "open", "view"}}}},
		{"read one two three four", []Suggestion{{"reader", 0.3, []string{"read"}}}},
		{"read one two three four five", []Suggestion{{"reader", 0.4, []string{"read"}}}},
		{"read show open one two three", []Suggestion{{"reader", 1, []string{"read", "show", "open"}}}},
		{"edit, then read", []Suggestion{{"editor", 0.3, []string{"edit"}}, {"reader", 0.3, []string{"read"}}}},
		{"edit, then read and show", []Suggestion{{"reader", 0.6, []string{"read", "show"}}, {"editor", 0.3, []string{"edit"}}}},
		{"CLAUDE.mdを編集して", []Suggestion{{"editor", 0.3, []string{"編集"}}}},
		{"ファイルを読んで、それから編集して", []Suggestion{{"editor", 0.4, []string{"編集"}},
			{"reader", 0.4, []string{"読んで"}}}},
	} {
		if diff := cmp.Diff(tt.want, lib.Suggest(tt.text, names)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tt.text, diff)
		}
	}
	if got := lib.Suggest("read", []string{"editor", "unknown"}); got != nil {
		t.Errorf("suggests what was not asked about: %v", got)
	}
	if got := lib.Suggest("read", []string{"reader", "reader"}); len(got) != 1 {
		t.Errorf("one skill twice: %v", got)
	}
	if got := lib.Suggest(strings.Repeat("あ", maxSuggest)+" read", names); got != nil {
		t.Errorf("looks beyond the bound: %v", got)
	}
}

func FuzzSuggest(f *testing.F) {
	for _, s := range []string{"read the file", "ファイルを読んで", "ﾃｽﾄ", "カ\u3099", "\xff\xfe", "ＲＥＡＤ", "ー・ー",
		"a_b-c"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, text, trigger string) {
		lib, names := withTriggers(map[string][]string{"s": {trigger}})
		for _, s := range lib.Suggest(text, names) {
			if s.Score < 0.3 || s.Score > 1 || len(s.Matched) != 1 {
				t.Errorf("%q in %q: %+v", trigger, text, s)
			}
		}
		if f := fold(text); fold(f) != f && strings.ToLower(f) == f {
			t.Errorf("fold(%q) = %q, and again %q", text, f, fold(f))
		}
		if len(text) < 1000 && fold(trigger) != "" && len(lib.Suggest(". "+trigger+" .", names)) != 1 {
			t.Errorf("%q does not match itself", trigger)
		}
	})
}
