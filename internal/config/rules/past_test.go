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
