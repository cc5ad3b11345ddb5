package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/audit"
	"mycelium/internal/policy"
)

// TestPastReadsTheEnd: of a long log only the end is read. Its beginning here is no record, which reading would refuse.
func TestPastReadsTheEnd(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("no record\n")
	for i := range pastLines {
		kind := [...]string{"decision", "outcome"}[i%2]
		fmt.Fprintf(&b, `{"kind":%q,"id":"c%d","tool":"db__query","effect":"ask","role":"developer"}`+"\n", kind, i/2)
	}
	if err := os.WriteFile(filepath.Join(dir, audit.SegmentName(1)), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	empty, _ := policy.New(policy.Source{})
	rule := policy.Rule{Name: "r", Action: "allow", Tool: policy.Names{"db__query"}}
	got, err := PastOf(t.Context(), audit.Options{Dir: dir}, empty, []policy.Rule{rule})
	if err != nil || got[0].Calls != pastCalls {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := PastOf(t.Context(), audit.Options{Dir: dir + "/absent"}, empty, []policy.Rule{rule}); err != nil || got[0].Calls != 0 {
		t.Errorf("without a log: %+v, %v", got, err)
	}
}

// TestQuestionsOf: a rule answers the recorded questions that it matches, except those that the policy in force refuses.
func TestQuestionsOf(t *testing.T) {
	var list []audit.Line
	for _, tool := range []string{"db__query", "db__query", "db__drop"} {
		list = append(list, audit.Line{Record: audit.Record{Kind: audit.Decided, Tool: tool, Server: "db", Effect: "ask", Role: "developer",
			Principal: "local", Skills: []string{"all"}}})
	}
	rule := policy.Rule{Name: "r", Action: "allow", Tool: policy.Names{"db__query"}}
	got := QuestionsOf(list, approvedPolicy(t, nil), rule)
	if got != (Questions{Asked: 3, Answered: 2}) || got.String() != "it would have answered 2 of the 3 questions of the last 7 days" {
		t.Errorf("%+v: %s", got, got)
	}
	if one := QuestionsOf(list[:1], approvedPolicy(t, nil), rule); one.String() != "it would have answered the only question of the last 7 days" {
		t.Errorf("%+v: %s", one, one)
	}
	denied := approvedPolicy(t, []policy.Rule{{Name: "never", Action: "deny", Tool: policy.Names{"db__query"}, When: "args.size() == 0"}})
	if got := QuestionsOf(list, denied, rule); got.Answered != 0 {
		t.Errorf("refused all the same: %+v", got)
	}
}
