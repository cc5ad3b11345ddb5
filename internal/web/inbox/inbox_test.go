package inbox

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/config/meaning"
	"mycelium/internal/node/api"
	"mycelium/internal/policy"
	"mycelium/internal/scan"
	"mycelium/internal/web/webtest"
)

// TestInjections has a text of an agent in each place of the inbox that an agent can write to.
func TestInjections(t *testing.T) {
	t.Parallel()
	s := webtest.Site(t, Room())
	webtest.HoldsText(t, func(x string) map[string]string {
		p := s.Root.Of("/home/" + x)
		quote, err := json.Marshal(strings.ToValidUTF8(x, "?"))
		if err != nil {
			t.Fatal(err)
		}
		args := map[string]string{"call": `{"x":` + string(quote) + `}`, "bash": `{"command":` + string(quote) + `}`,
			"edit": `{"file_path":` + string(quote) + `,"old_string":` + string(quote) + `,"new_string":"y"}`}
		facts := policy.Facts{Dir: x, Parts: []policy.Part{{Program: x, Effects: []string{x}, Hosts: []string{x}, Unclear: []string{x},
			Paths: []policy.Path{{Access: policy.Access(x), Raw: x}}}}}
		in := waitingList{Running: 1, Problem: x, Problems: []string{x}}
		for i, r := range []approval.Request{{Tool: x, Args: []byte(args["call"])}, {Tool: "agent__Bash", Args: []byte(args["bash"])},
			{Tool: "agent__Edit", Args: []byte(args["edit"])}, {Kind: approval.Stop, Text: x},
			{Kind: approval.Question, Questions: []approval.Asked{{Header: x, Text: x, Options: []string{x, x}, Many: true}}},
			{State: approval.Denied, Answer: &approval.Answer{By: x, Via: x, Reason: x, Overruled: x}}} {
			r.ID, r.Digest, r.Facts, r.Session, r.Principal, r.Parent = fmt.Sprint("r", i), x, facts, x, x, x
			r.Role, r.Agent, r.Label, r.Dir = x, x, x, x
			r.Rule, r.Reason, r.Opinion, r.Thinking, r.Changed, r.Category, r.Risk = "rule "+x, x, x, x, x, x, policy.Critical
			r.Kind = approval.Kind(strings.TrimSpace(string(r.Kind)))
			if r.Kind == "" {
				r.Kind = approval.Call
			}
			r.Deadline = time.Unix(1, 0)
			c := cardOf(p, r)
			c.know(api.AboutCall{File: x, Line: 3, Task: x, Before: []api.Before{{Gist: x, Answer: approval.Answer{By: x, Via: x, Rule: x,
				For: approval.Rule}}}})
			in.Cards, in.Done = append(in.Cards, c), &c
		}
		in.Done.Keep = true
		one := in.Cards[1]
		one.Alone, one.RuleOnce = true, ""
		one.Ways = []way{{"call", x, x, x}, {"folder", x, x, x}}
		in.Settled, in.Decided = []card{*in.Done}, x
		in.Several = []several{{ID: "r0", Project: x, Rule: x, Effects: []string{x}, Calls: in.Cards[:2]}}
		found := []scan.Finding{{Family: x, Severity: scan.Hard, Where: x, Excerpt: x, Why: x}}
		in.Cards = append(in.Cards, otherCards(p, api.WaitsReply{
			Held:   []api.HeldItem{{Name: x, Reason: x, Former: x, Digest: x, Diff: []string{"-" + x, "+" + x}, Findings: found}},
			Skills: []api.WaitingSkill{{Name: x, Server: x, Description: x}},
			Files: &api.WaitingFiles{Digest: x, Changes: []api.FileChange{{File: x, Kind: x, Lines: []string{"+" + x}}},
				Meaning: []meaning.Change{{Mark: meaning.Widens, Text: x, File: x}}},
			Work: []api.WaitingWork{{Session: x, Feature: x, Description: x, Reason: x, Mark: x, Diff: "+" + x, Plans: []string{x}, Into: x,
				Choices: []api.WorkWord{api.LetLand, api.TryAgain, api.TakeOver, api.WithoutIt}, Files: []api.WorkFile{{Path: x}},
				Governing: []string{x}}}})...)
		return map[string]string{"inbox": webtest.Show(s, "inbox", x, in), "call": webtest.Show(s, "single", x, single{Card: one, Problem: x}),
			"skill": webtest.Show(s, "single", x, single{Card: servedCard(p, api.ServedSkillReply{Name: x, Digest: x, Text: x,
				Tools: []string{x}, Problems: []string{x}, Findings: found})}),
			"answered": webtest.Show(s, "single", x, single{Card: *in.Done})}
	})
}

// TestWebForms: a form says exactly one answer; a critical call needs a second sign; a question needs an answer for each part.
func TestWebForms(t *testing.T) {
	t.Parallel()
	call := approval.Request{Kind: approval.Call, Risk: policy.High}
	critical := approval.Request{Kind: approval.Call, Risk: policy.Critical}
	asks := approval.Request{Kind: approval.Question,
		Questions: []approval.Asked{{Text: "Which?", Options: []string{"a", "b"}}, {Text: "Why?"}}}
	for _, c := range []struct {
		q     approval.Request
		form  string
		allow bool
		how   approval.For
		text  string
		bad   bool
	}{
		{call, "digest=d&answer=once&reason=+why+", true, approval.Once, "", false},
		{call, "digest=d&answer=session", true, approval.Session, "", false},
		{call, "digest=d&answer=deny", false, approval.Once, "", false},
		{call, "digest=d&answer=never", false, approval.Never, "", false},
		{call, "digest=d&answer=rule&as=folder", true, approval.Rule, "", false},
		{call, "digest=d&answer=forever", false, "", "", true},
		{asks, "digest=d&answer=rule", false, "", "", true},
		{approval.Request{Kind: approval.Call, Rule: approval.PromotionRule}, "digest=d&answer=rule", false, "", "", true},
		{call, "digest=d", false, "", "", true},
		{call, "answer=once", false, "", "", true},
		{critical, "digest=d&answer=once", true, approval.Once, "", false}, // the queue refuses it
		{critical, "digest=d&answer=once&sure=yes", true, approval.Once, "", false},
		{critical, "digest=d&answer=deny", false, approval.Once, "", false},
		{asks, "digest=d&answer=say&option0=1&own1=because", true, approval.Once, "Which?\n→ b\nWhy?\n→ because", false},
		{asks, "digest=d&answer=say&option0=1", false, "", "", true},
		{asks, "digest=d&answer=say&option0=7&own1=x", false, "", "", true},
		{approval.Request{Kind: approval.Stop}, "digest=d&answer=go-on&reason=test+it", true, approval.Once, "test it", false},
	} {
		form, err := url.ParseQuery(c.form)
		if err != nil {
			t.Fatal(err)
		}
		a, problem := answerOfForm(form, c.q)
		if (problem != "") != c.bad || !c.bad && (*a.Allow != c.allow || a.For != c.how || a.Text != c.text || a.Digest != "d" ||
			a.Sure != strings.Contains(c.form, "sure=yes")) {
			t.Errorf("%s: %+v, %q", c.form, a, problem)
		}
	}
}

// TestOrder: what could do the most harm is first, whatever kind it is, then what is newest.
func TestOrder(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	list := []card{{ID: "low", Risk: policy.Low, Created: at(9)}, {ID: "old", Risk: policy.High, Created: at(1)},
		{ID: "unknown", Created: at(9)},
		{ID: "new", Risk: policy.High, Created: at(2), Other: &other{}}, {ID: "worst", Risk: policy.Critical}}
	slices.SortFunc(list, urgent)
	var got []string
	for _, c := range list {
		got = append(got, c.ID)
	}
	if want := []string{"worst", "new", "old", "low", "unknown"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLikeness: only calls whose rule, risk and effects are known and equal are answered together.
func TestLikeness(t *testing.T) {
	t.Parallel()
	call := func(change func(r *approval.Request)) string {
		r := approval.Request{Kind: approval.Call, State: approval.Pending, Rule: "r", Risk: policy.High,
			Facts: policy.Facts{Parts: []policy.Part{{Effects: []string{"write", "read"}}}}}
		change(&r)
		return likeness(r)
	}
	same := call(func(*approval.Request) {})
	if same == "" || same != call(func(r *approval.Request) {
		r.Facts.Parts = []policy.Part{{Effects: []string{"read"}}, {Effects: []string{"write"}}}
	}) {
		t.Errorf("equal effects in another order: %q", same)
	}
	for name, change := range map[string]func(r *approval.Request){
		"another rule":   func(r *approval.Request) { r.Rule = "s" },
		"another effect": func(r *approval.Request) { r.Facts.Parts[0].Effects = []string{"read"} },
		"another risk":   func(r *approval.Request) { r.Risk = policy.Low },
	} {
		if call(change) == same {
			t.Errorf("%s: it is said to be the same", name)
		}
	}
	for name, change := range map[string]func(r *approval.Request){
		"critical":       func(r *approval.Request) { r.Risk = policy.Critical },
		"no rule":        func(r *approval.Request) { r.Rule = "" },
		"not understood": func(r *approval.Request) { r.Facts.Parts[0].Unclear = []string{"x"} },
		"unknown":        func(r *approval.Request) { r.Facts.Parts[0].Effects = []string{policy.EffectUnknown} },
		"no effects":     func(r *approval.Request) { r.Facts.Parts[0].Effects = nil },
		"answered":       func(r *approval.Request) { r.State = approval.Denied },
		"a question":     func(r *approval.Request) { r.Kind = approval.Question },
		"skills":         func(r *approval.Request) { r.Rule = approval.PromotionRule },
	} {
		if got := call(change); got != "" {
			t.Errorf("%s: it can be answered with others: %q", name, got)
		}
	}
}

// A difference shows every line that changes, also one that looks like the head of a file.
func TestWithoutHeads(t *testing.T) {
	t.Parallel()
	const diff = "diff --git a/x b/x\nnew file mode 100644\nindex 000..123\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+one\n+++ b/y;\n" +
		"diff --git a/y b/y\nindex 1..2 100644\n--- a/y\n+++ b/y\n@@ -1 +1,0 @@\n--- a/z\n\n"
	const want = "diff --git a/x b/x\nnew file mode 100644\n@@ -0,0 +1,2 @@\n+one\n+++ b/y;\ndiff --git a/y b/y\n@@ -1 +1,0 @@\n--- a/z"
	if got := withoutHeads(diff); got != want {
		t.Errorf("the difference is shown as\n%s\nwant\n%s", got, want)
	}
}
