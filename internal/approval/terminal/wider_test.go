package terminal

import (
	"testing"

	"mycelium/internal/approval"
	"mycelium/internal/policy"
)

func TestTheKeyWApprovesMoreThanThisCall(t *testing.T) {
	s := newScreen(100, 30)
	var shown approval.Candidate
	s.o.Preview = func(_ approval.Request, c approval.Candidate) string { shown = c; return c.Words }
	s.take(approval.Request{ID: "k3m9", Kind: approval.Call, State: approval.Pending, Risk: policy.High, Tool: "agent__WebFetch", Dir: "/p",
		Args: []byte(`{"url":"https://api.example.com/"}`), Facts: policy.Facts{Dir: "/p", Parts: []policy.Part{
			{Hosts: []string{"api.example.com"}, Effects: []string{policy.EffectNetwork}}}}})
	s.press("w", "1", "s")
	if shown.As != approval.ThisHost {
		t.Errorf("the screen showed %+v before the answer", shown)
	}
	if len(s.sent) != 1 || s.sent[0].As != approval.ThisHost || s.sent[0].For != approval.Session || !s.sent[0].Allow {
		t.Fatalf("answers: %+v", s.sent)
	}
	s.press("w", "x")
	if len(s.sent) != 1 {
		t.Errorf("another key answered: %+v", s.sent)
	}
}
