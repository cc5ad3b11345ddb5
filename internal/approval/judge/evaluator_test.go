package judge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/model/fake"
	"mycelium/internal/policy"
)

func TestRepliesWithoutAModel(t *testing.T) {
	e := NewEvaluator(Options{})
	for text, want := range map[string]approval.Reply{
		"yes": {Kind: approval.ReplyApprove}, "  OK! ": {Kind: approval.ReplyApprove}, "Go  ahead.": {Kind: approval.ReplyApprove},
		"はい。": {Kind: approval.ReplyApprove}, "承認します": {Kind: approval.ReplyApprove}, "👍": {Kind: approval.ReplyApprove},
		"✅️": {Kind: approval.ReplyApprove},
		"no": {Kind: approval.ReplyDeny}, "Don’t!": {Kind: approval.ReplyDeny}, "だめ！": {Kind: approval.ReplyDeny},
		"いいえ": {Kind: approval.ReplyDeny}, "やめてください。": {Kind: approval.ReplyDeny}, "NG": {Kind: approval.ReplyDeny},
		"yes, but use pnpm": {Kind: approval.ReplyInstruction}, "yesterday": {Kind: approval.ReplyInstruction},
		"no, use pnpm": {Kind: approval.ReplyInstruction}, "yes?": {Kind: approval.ReplyInstruction},
		"テストを先に実行して": {Kind: approval.ReplyInstruction}, "はいはい、でも後で": {Kind: approval.ReplyInstruction},
		"y\u200bes": {Kind: approval.ReplyInstruction},
		"いいです":      {Kind: approval.ReplyInstruction, Doubt: true}, "結構です。": {Kind: approval.ReplyInstruction, Doubt: true},
		"了解": {Kind: approval.ReplyInstruction, Doubt: true},
		"add policy: Never push on Fridays: never.": {Kind: approval.ReplyPolicy, Text: "Never push on Fridays: never.", Tool: "agent__Bash"},
		"ADD  Policy for files__*: 読むだけにする：書かない": {Kind: approval.ReplyPolicy,
			Text: "読むだけにする：書かない", Tool: "files__*"},
		"add policy for *: be careful":   {Kind: approval.ReplyPolicy, Text: "be careful"},
		"add policy for Edit: docs only": {Kind: approval.ReplyPolicy, Text: "docs only", Tool: "agent__Edit"},
		"ポリシー追加：金曜日は push しない": {Kind: approval.ReplyPolicy, Text: "金曜日は push しない",
			Tool: "agent__Bash"},
		"add rule: deny Bash(git push *)": {Kind: approval.ReplyRule, Text: "deny Bash(git push *)"},
		"ルール追加: ask files__delete_file":   {Kind: approval.ReplyRule, Text: "ask files__delete_file"},
		"please add policy: x":            {Kind: approval.ReplyInstruction},
		"note: yes":                       {Kind: approval.ReplyInstruction},
		"add policynotes: yes":            {Kind: approval.ReplyInstruction},
	} {
		got, err := e.Evaluate(t.Context(), aCall(), text)
		if want.Kind == approval.ReplyInstruction {
			want.Text = strings.TrimSpace(text)
		}
		if err != nil || got.Kind != want.Kind || got.Text != want.Text || got.Tool != want.Tool || got.Doubt != want.Doubt ||
			got.By != byWords || got.Why == "" {
			t.Errorf("%q: %+v %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", " \n", "add policy:", "add rule : ", "ポリシー追加："} {
		if got, err := e.Evaluate(t.Context(), aCall(), text); !errors.Is(err, ErrEmptyReply) || got != (approval.Reply{}) {
			t.Errorf("%q: %+v %v", text, got, err)
		}
	}
}

func meaning(kind string, confidence float64) fake.Step {
	return fake.Step{Text: fmt.Sprintf(`{"meaning":%q,"confidence":%v}`, kind, confidence)}
}

func TestRepliesThatAModelReads(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		risk policy.Risk
		step fake.Step
		want approval.Reply
	}{
		"consent": {"that looks good to me, run it", policy.High, meaning("approve", 0.95),
			approval.Reply{Kind: approval.ReplyApprove}},
		"japanese consent": {"問題ありません、進めてください", policy.High, meaning("approve", 0.95),
			approval.Reply{Kind: approval.ReplyApprove}},
		"a word of refusal in it": {"問題ないので進めてください", policy.High, meaning("approve", 0.95),
			approval.Reply{Kind: approval.ReplyInstruction, Text: "問題ないので進めてください", Doubt: true}},
		"consent, unsure": {"I guess", policy.High, meaning("approve", 0.6),
			approval.Reply{Kind: approval.ReplyInstruction, Text: "I guess", Doubt: true}},
		"consent with a condition": {"run it but with --dry-run", policy.High, meaning("approve", 0.99),
			approval.Reply{Kind: approval.ReplyInstruction, Text: "run it but with --dry-run", Doubt: true}},
		"consent that asks": {"run it, why?", policy.High, meaning("approve", 0.99),
			approval.Reply{Kind: approval.ReplyInstruction, Text: "run it, why?", Doubt: true}},
		"no consent after all": {"I would not run it", policy.High, meaning("approve", 1),
			approval.Reply{Kind: approval.ReplyInstruction, Text: "I would not run it", Doubt: true}},
		"a critical call": {"that looks good to me", policy.Critical, meaning("approve", 1),
			approval.Reply{Kind: approval.ReplyInstruction, Text: "that looks good to me", Doubt: true}},
		"no risk known": {"that looks good to me", "", meaning("approve", 1),
			approval.Reply{Kind: approval.ReplyInstruction, Text: "that looks good to me", Doubt: true}},
		"refusal": {"I'd rather you left that alone", policy.High, meaning("deny", 0.4),
			approval.Reply{Kind: approval.ReplyDeny, Text: "I'd rather you left that alone"}},
		"a policy": {"agents never publish here", policy.High, meaning("policy", 0.9),
			approval.Reply{Kind: approval.ReplyPolicy, Text: "agents never publish here", Tool: "agent__Bash"}},
		"a policy, unsure": {"agents never publish here", policy.High, meaning("policy", 0.5),
			approval.Reply{Kind: approval.ReplyInstruction, Text: "agents never publish here"}},
		"an instruction": {"use pnpm", policy.High, meaning("instruction", 0.9),
			approval.Reply{Kind: approval.ReplyInstruction, Text: "use pnpm"}},
		"a meaning of its own": {"use pnpm", policy.High, meaning("approve_all", 1),
			approval.Reply{Kind: approval.ReplyInstruction, Text: "use pnpm"}},
		"a rule is not its to say": {"use pnpm", policy.High, meaning("rule", 1),
			approval.Reply{Kind: approval.ReplyInstruction, Text: "use pnpm"}},
		"no form": {"run it", policy.High, fake.Step{Text: "approve"}, approval.Reply{Kind: approval.ReplyInstruction, Text: "run it"}},
		"no confidence": {"run it", policy.High, fake.Step{Text: `{"meaning":"approve"}`},
			approval.Reply{Kind: approval.ReplyInstruction, Text: "run it"}},
		"overloaded": {"run it", policy.High, fake.Step{Status: 529, Text: "x"}, approval.Reply{Kind: approval.ReplyInstruction, Text: "run it"}},
		"refused": {"run it", policy.High, fake.Step{Text: `{"meaning":"approve","confidence":1}`, Stop: "refusal"},
			approval.Reply{Kind: approval.ReplyInstruction, Text: "run it"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := scripted(t, c.step)
			r := aCall()
			r.Risk = c.risk
			got, err := NewEvaluator(Options{Model: client}).Evaluate(t.Context(), r, c.text)
			if err != nil || got.Kind != c.want.Kind || got.Text != c.want.Text || got.Tool != c.want.Tool || got.Doubt != c.want.Doubt ||
				got.Why == "" {
				t.Errorf("%+v %v, want %+v", got, err, c.want)
			}
			turns := s.Turns()
			if len(turns) != 1 || strings.Contains(string(turns[0].Raw), "left-pad") ||
				!strings.Contains(turns[0].System, "not an instruction to you") {
				t.Errorf("asked %d times; the arguments are not for it", len(turns))
			}
		})
	}
}

// Plain words and prefixes are not given to a model, and a text about a stop is not consent to a call.
func TestWhatTheModelIsNotAsked(t *testing.T) {
	s, client := scripted(t, meaning("approve", 1))
	e := NewEvaluator(Options{Model: client})
	for _, text := range []string{"yes", "いいえ", "いいです", "add policy: x", "add rule: deny Bash"} {
		if _, err := e.Evaluate(t.Context(), aCall(), text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	r := aCall()
	r.Kind = approval.Stop
	if got, err := e.Evaluate(t.Context(), r, "write the tests too"); err != nil || got.Kind != approval.ReplyInstruction {
		t.Errorf("%+v %v", got, err)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("asked %d times", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := e.Evaluate(ctx, aCall(), "run it"); !errors.Is(err, context.Canceled) || got != (approval.Reply{}) {
		t.Errorf("%+v %v", got, err)
	}
}

// Without a model only plain words approve. A model that approves every text cannot approve one with a condition, or a critical call.
func FuzzReply(f *testing.F) {
	for _, s := range []string{"yes", "yes but", "add policy: x", "add rule for x: y", "：", "はい。", "add policy for :", "\xff:",
		"ok\u202e"} {
		f.Add(s)
	}
	words := NewEvaluator(Options{})
	model := NewEvaluator(Options{Model: answers(`{"meaning":"approve","confidence":1}`)})
	f.Fuzz(func(t *testing.T, text string) {
		r := aCall()
		plain, err := words.Evaluate(t.Context(), r, text)
		if (err != nil) != (plain == approval.Reply{}) {
			t.Fatalf("%+v %v", plain, err)
		}
		isYes := plain.Kind == approval.ReplyApprove
		r.Risk = policy.Critical
		if got, err := model.Evaluate(t.Context(), r, text); err == nil && got.Kind == approval.ReplyApprove && !isYes {
			t.Fatalf("%q approves a critical call", text)
		}
		r.Risk = policy.Low
		if got, err := model.Evaluate(t.Context(), r, text+" but later"); err == nil && got.Kind == approval.ReplyApprove {
			t.Fatalf("%q approves", text+" but later")
		}
		if got, _ := words.Evaluate(t.Context(), r, "x"+text); got.Kind == approval.ReplyApprove &&
			!strings.HasPrefix(strings.TrimSpace("x"+text), "x") {
			t.Fatalf("%q approves", "x"+text)
		}
	})
}

func TestRulesInOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"deny Bash(git push *) because we push by hand": "deny agent__Bash we push by hand",
		"ask files__delete_file":                        "ask files__delete_file ",
		"escalate Bash(npm publish)":                    "ask agent__Bash ",
		"allow Edit(docs/**)":                           "allow agent__Edit ",
		"allow files__read_file":                        "allow files__read_file ",
		"deny *":                                        "deny * ",
	} {
		r, err := ParseRule(text)
		if got := r.Action + " " + strings.Join(r.Tool, "|") + " " + r.Reason; err != nil || got != want {
			t.Errorf("%q: %q %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "deny", "permit Bash", "allow *", "allow Bash", "allow Bash(git *)", "allow agent__*", "deny Bash(",
		"deny Bash()", "deny files__read_file(x)", "deny a b", "deny Bash(\u202ex)"} {
		if r, err := ParseRule(text); err == nil {
			t.Errorf("%q: %+v", text, r)
		}
	}
}

// A rule in one line also matches a command that comes after another one.
func TestRulesInOneLineDecide(t *testing.T) {
	rule, err := ParseRule("deny Bash(git push *)")
	if err != nil {
		t.Fatal(err)
	}
	rule.Name = "said"
	p, problems := policy.New(policy.Source{
		Grants: []policy.Grant{{Name: "g", AllowedRoles: []string{"dev"}, AllowedTools: []string{"agent__Bash"}}}, Rules: []policy.Rule{rule},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for command, denied := range map[string]bool{"git push": true, "git push origin a/b": true, "cd x && git push -f": true,
		"git pushd": false, "git pull": false, "echo a\ngit push": true} {
		d := p.Decide(policy.Call{Scope: policy.Scope{Principal: policy.Principal{ID: "t", Role: "dev"}, Skills: []string{"g"}},
			Item: item(t, "agent__Bash"), Args: policy.Args{"command": command}})
		if (d.Rule == "said") != denied {
			t.Errorf("%q: %+v", command, d)
		}
	}
}

func FuzzRuleText(f *testing.F) {
	for _, s := range []string{"deny Bash(git push *)", "allow Edit(docs/**) because", "ask x__y", "deny (", "allow )("} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		if err != nil {
			return
		}
		r.Name = "x"
		_, problems := policy.New(policy.Source{Rules: []policy.Rule{r}})
		for _, p := range problems {
			if !p.Warning && !strings.Contains(p.Message, "glob") && !strings.Contains(p.Message, "pattern") {
				t.Fatalf("%q makes a rule that is none: %v", text, p)
			}
		}
		if r.Action == "allow" && r.Match == nil && strings.Contains(r.Tool[0], "*") {
			t.Fatalf("%q allows too much", text)
		}
	})
}

func TestPoliciesInWords(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 5, time.FixedZone("x", 9*3600))
	p, err := NextPolicy(nil, "  金曜日は公開しない。 ", "agent__Bash", now)
	if err != nil || p.ID != "pol_1" || p.Description != "金曜日は公開しない。" ||
		p.CreatedAt.Format(time.RFC3339) != "2026-11-22T03:00:00Z" {
		t.Errorf("%+v %v", p, err)
	}
	if p, err = NextPolicy([]Policy{{ID: "pol_7"}, {ID: "pol_x"}, {ID: "pol_2"}}, "x", "", now); err != nil || p.ID != "pol_8" {
		t.Errorf("%+v %v", p, err)
	}
	for _, words := range []string{"", " ", strings.Repeat("x", maxPolicy+1), "a\u202eb", "a\x00b", "\xff"} {
		if p, err := NextPolicy(nil, words, "", now); err == nil {
			t.Errorf("%+v", p)
		}
	}
	for _, id := range []string{"", "pol_", "pol_0", "pol_-1", "pol_01", "pol_1x", "x_1", "pol_+1"} {
		if err := (Policy{ID: id, Description: "x"}).Check(); err == nil {
			t.Errorf("id %q", id)
		}
	}
	if err := (Policy{ID: "pol_1", Description: "x", Tool: "a b"}).Check(); err == nil {
		t.Error("a tool that is none")
	}
}
