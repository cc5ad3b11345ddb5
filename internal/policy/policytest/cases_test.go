package policytest

import (
	"testing"

	"mycelium/internal/policy"
)

func FuzzCases(f *testing.F) {
	f.Add([]byte("guest files__x {} -> allow"))
	f.Add([]byte("guest/dev+a@b<c \"x__\\u200b\" {\"a\":1} -> deny r\n# c\n"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		list, _ := ParseCases(data)
		p, _ := policy.New(policy.Source{})
		for i := range list {
			_, _ = list[i].Check(p)
		}
	})
}

// TestCasesKnowTheOtherNamesOfTools: a case about Agent is about the tool Task.
func TestCasesKnowTheOtherNamesOfTools(t *testing.T) {
	for _, a := range policy.AgentAliases {
		for _, written := range []string{a[0], policy.AgentServer + "__" + a[0]} {
			if it := caseItem(written); it.Name != a[1] {
				t.Errorf("a case about %s is about %v", written, it)
			}
		}
	}
}
