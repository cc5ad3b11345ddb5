package intent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mycelium/internal/skill/intent"
)

// withTriggers makes an index of skills with triggers.
func withTriggers(byName map[string][]string) (*intent.Index, []string) {
	var skills []intent.Skill
	var names []string
	for name, triggers := range byName {
		skills = append(skills, intent.Skill{Name: name, Triggers: triggers})
		names = append(names, name)
	}
	return intent.New(skills), names
}

func TestTriggerMatches(t *testing.T) {
	for _, tt := range []struct {
		trigger, text string
		want          bool
	}{
		// BX6: words, never substrings.
		{"ok", "the token is here", false}, {"test", "the latest", false}, {"test", "please test this", true},
		{"fix", "a prefix", false}, {"fix", "fix: it", true}, {"other", "another", false}, {"test", "test_utils", false},
		{"fix", "add a prefix to all keys", false}, {"test", "show the latest entries", false}, {"ok", "rotate the token", false},
		{"read", "read", true}, {"read", "(read)", true}, {"read", "README.md", false}, {"readme", "README.md", true},
		{"run tests", "please  run\n tests now", true},
		{"run tests", "rerun tests", true}, {"run the server", "outrun the server", false}, {"deploy", "deploy it", true},
		{"deploy", "please deploy the site", true}, {"deploy", "the deploy of yesterday was slow", false},
		// Forms of a word.
		{"test", "tests", true}, {"edit", "editing the config now please", true}, {"commit", "commits", true},
		// Case, width.
		{"Read", "ＲＥＡＤ it", true}, {"ｒｅａｄ", "read", true}, {"ÉCLAIR", "éclair", true}, {"читай", "Читай файл", true},
		{"читай", "прочитай", false},
		// Japanese stands without spaces.
		{"読んで", "ファイルを読んでください", true}, {"編集", "CLAUDE.mdを編集して", true}, {"test", "testして", true},
		{"テスト", "テストして", true}, {"テスト", "コンテストして", false}, {"テスト", "ﾃｽﾄして", true},
		{"コード", "レコードして", false}, {"修正", "修正", true}, {"コードレビュー", "コードレビューして", true},
		{"파일", "파일을 열어", true}, {"", "anything", false},
	} {
		x, names := withTriggers(map[string][]string{"s": {tt.trigger}})
		if got := len(x.Read(tt.text, names).Wanted) == 1; got != tt.want {
			t.Errorf("trigger %q in %q: %v, want %v", tt.trigger, tt.text, got, tt.want)
		}
	}
}

// TestAsksForNothing is what a text may say of a skill without asking for it: what is negated, quoted, supposed, told, or a noun.
func TestAsksForNothing(t *testing.T) {
	x, names := index(t)
	for _, said := range []string{
		"the latest change", "we have a test environment", "the commit message says what happened", "my token expired", "another prefix",
		"the error says 'please commit'", "the button says “Review and merge”", "> please run the tests", "```\nrun the tests\n```",
		"if I asked you to merge it, could you?", "suppose you edit it", "what would happen if we committed that?",
		"don't edit anything", "please do not run the tests", "never commit on your own", "編集しないで", "テストは不要です",
		"コミットしないでください",
		"「編集してください」と出ます", "もしテストをお願いしたら、できますか", "最新の変更で壊れた",
		"テスト環境があります", "コンテストの話", "トークンが切れた",
		"the data, the chart and the summary are there too", "data, chart and summary are there too", "tests, lint and build are red",
		"tests, docs and a build script are already in the repo", "データ、グラフ、テストもそこにあります", "I like the new design",
		"マージとリベースはどっちがいいと思う？",
	} {
		if got := x.Read(said, names).Wanted; got != nil {
			t.Errorf("%q asks for %+v", said, got)
		}
	}
}

// TestReasonIsSaid: the reason for a skill is a word of the text, and no stem. It is the thing rather than the verb.
func TestReasonIsSaid(t *testing.T) {
	x, names := index(t)
	for said, want := range map[string]string{
		"use the themes": "themes", "port the module": "module", "have a critical look at my diff": "look", "テストを見せて": "見せて",
	} {
		got := x.Read(said, names).Wanted
		if len(got) == 0 || !slices.Contains(got[0].Matched, want) {
			t.Errorf("%q: %+v, want %q", said, got, want)
		}
	}
}

// TestRefused: a skill that the text speaks against is told, and is not wanted.
func TestRefused(t *testing.T) {
	x, names := index(t)
	for said, want := range map[string]string{
		"don't edit it, just read the file": "editor", "fix the bug without running the tests": "test-runner",
		"編集しないで、ファイルを読んで": "editor", "テストは不要なので、ビルドだけして": "test-runner",
	} {
		in := x.Read(said, names)
		if !slices.Contains(in.Refused, want) || len(in.Wanted) == 0 ||
			slices.ContainsFunc(in.Wanted, func(s intent.Suggestion) bool { return s.Skill == want }) {
			t.Errorf("%q: %+v", said, in)
		}
	}
}

// TestScore is row B17.
func TestScore(t *testing.T) {
	x, names := withTriggers(map[string][]string{
		"reader": {"read", "show", "open", "view", "READ", "読んで"}, "editor": {"edit", "編集"}, "none": nil,
	})
	for _, tt := range []struct {
		text string
		want []intent.Suggestion
	}{
		{"", nil}, {"hello", nil},
		{"read it", []intent.Suggestion{{Skill: "reader", Score: 0.3, Matched: []string{"read"}}}},
		{"read it, read it, read it", []intent.Suggestion{{Skill: "reader", Score: 0.4, Matched: []string{"read"}}}},
		{"read it and show it", []intent.Suggestion{{Skill: "reader", Score: 0.6, Matched: []string{"read", "show"}}}},
		{"read, show, open, view", []intent.Suggestion{
			{Skill: "reader", Score: 0.9, Matched: []string{"read", "show", "open", "view"}},
		}},
		{"read, show, open and view it now", []intent.Suggestion{
			{Skill: "reader", Score: 1, Matched: []string{"read", "show", "open", "view"}},
		}},
		{"edit it, then read it", []intent.Suggestion{
			{Skill: "editor", Score: 0.3, Matched: []string{"edit"}}, {Skill: "reader", Score: 0.3, Matched: []string{"read"}},
		}},
		{"CLAUDE.mdを編集して", []intent.Suggestion{{Skill: "editor", Score: 0.3, Matched: []string{"編集"}}}},
	} {
		got := x.Read(tt.text, names).Wanted
		for i := range got {
			slices.Sort(got[i].Matched)
		}
		for i := range tt.want {
			slices.Sort(tt.want[i].Matched)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tt.text, diff)
		}
	}
	if got := x.Read("read", []string{"editor", "unknown"}).Wanted; got != nil {
		t.Errorf("finds what was not asked about: %v", got)
	}
	if got := x.Read("read", []string{"reader", "reader"}).Wanted; len(got) != 1 {
		t.Errorf("one skill twice: %v", got)
	}
	if got := x.Read(strings.Repeat("あ", 64<<10)+"。 read it", names).Wanted; got != nil {
		t.Errorf("looks beyond the bound: %v", got)
	}
}

// TestEnds is row B16: words that end a task do so where they end one.
func TestEnds(t *testing.T) {
	x, names := index(t)
	for said, want := range map[string]bool{
		"done. run the tests": true, "thanks, now commit it": true, "ok, next: review it": true, "終わりました。次はテストして": true,
		"ありがとう、コミットして": true, "complete the implementation of Sort": false, "use next.js and implement the page": false,
		"次の関数をリファクタリングして": false, "rotate the token": false, "another one: read it": false, "run the tests": false,
	} {
		if got := x.Read(said, names).Ends; got != want {
			t.Errorf("%q ends a task: %v", said, got)
		}
	}
}

// Neither the order of the skills nor that of the names changes what is read, and a quotation adds nothing.
func TestLaws(t *testing.T) {
	x, names := index(t)
	texts := corpus(t, "train.tsv")
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.SampledFrom(texts).Draw(t, "said")
		first := x.Read(u.text, names)
		if diff := cmp.Diff(first, x.Read(u.text, rapid.Permutation(names).Draw(t, "order"))); diff != "" {
			t.Errorf("%q in another order: %s", u.text, diff)
		}
		other := rapid.SampledFrom(texts).Draw(t, "quoted")
		if strings.ContainsAny(other.text, "\"“”「」『』`\n") {
			return
		}
		for _, quoted := range []string{u.text + "\n> " + other.text, u.text + "\n```\n" + other.text + "\n```"} {
			if got := x.Read(quoted, names); !cmp.Equal(skillsOf(first), skillsOf(got)) {
				t.Errorf("%q wants %v, with a quotation %q %v", u.text, skillsOf(first), other.text, skillsOf(got))
			}
		}
	})
}

func skillsOf(in intent.Intent) []string {
	var out []string
	for _, s := range in.Wanted {
		out = append(out, s.Skill)
	}
	slices.Sort(out)
	return out
}

func FuzzIntent(f *testing.F) {
	for _, u := range corpus(f, "train.tsv") {
		f.Add(u.text, "deploy")
	}
	for _, s := range []string{"ﾃｽﾄ", "カ\u3099", "\xff\xfe", "ＲＥＡＤ", "ー・ー", "a_b-c", "'", "「", "`run", "。。", ", ,", "> "} {
		f.Add(s, s)
	}
	x, names := index(f)
	f.Fuzz(func(t *testing.T, said, trigger string) {
		in := x.Read(said, names)
		if !cmp.Equal(in, x.Read(said, names)) {
			t.Errorf("%q is read in two ways", said)
		}
		for i, s := range in.Wanted {
			if s.Score < 0.3 || s.Score > 1 || len(s.Matched) == 0 || i > 0 && in.Wanted[i-1].Score < s.Score {
				t.Errorf("%q: %+v", said, in)
			}
			if slices.Contains(in.Refused, s.Skill) {
				t.Errorf("%q: %s is wanted and refused", said, s.Skill)
			}
		}
		y, one := withTriggers(map[string][]string{"s": {trigger}})
		if got := y.Read(said, one).Wanted; len(got) > 1 {
			t.Errorf("%q in %q: %+v", trigger, said, got)
		}
		if f := intent.Fold(said); intent.Fold(f) != f && strings.ToLower(f) == f {
			t.Errorf("Fold(%q) = %q, and again %q", said, f, intent.Fold(f))
		}
	})
}

// BenchmarkRead reads the utterances of the corpus one after the other: a time is that of one utterance.
func BenchmarkRead(b *testing.B) {
	x, names := index(b)
	texts := corpus(b, "train.tsv")
	i := 0
	for b.Loop() {
		x.Read(texts[i%len(texts)].text, names)
		i++
	}
}
