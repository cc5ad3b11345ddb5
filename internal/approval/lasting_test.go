package approval

import (
	"context"
	"mycelium/internal/policy/sign"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// TestLasting is the law of answers that last: whatever a call does besides, an approval for the session or as a rule is taken for code of
// the project only where it would run in the sandbox, and only there do two requests share it.
func TestLasting(t *testing.T) {
	t.Parallel()
	var names []string
	for _, e := range policy.Effects() {
		names = append(names, e.Name)
	}
	rapid.Check(t, func(t *rapid.T) {
		var parts []policy.Part
		runs := false
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			effects := rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, "effects")
			runs = runs || slices.Contains(effects, "project_code") || slices.Contains(effects, "written_here")
			parts = append(parts, policy.Part{Program: "go", Effects: effects})
		}
		r := Request{ID: "x", Kind: Call, Session: "s", Tool: "agent__Bash", Args: []byte(`{"command":"go test ./..."}`), Dir: "/p", Risk: policy.High,
			Facts: policy.Facts{Parts: parts}, Sandbox: box.Of(rapid.SampledFrom([]string{"", "project", "strict"}).Draw(t, "sandbox"))}
		q, err := New(t.Context(), Options{WriteRule: func(context.Context, Request, Answer) (string, error) { return "rule", nil }})
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		how := rapid.SampledFrom([]For{Once, Session, Rule}).Draw(t, "for")
		asked := make(chan Request, 1)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = q.AskTelling(t.Context(), r, func(r Request) { asked <- r })
		}()
		_, err = q.Settle(t.Context(), (<-asked).ID, Answer{Allow: true, For: how, By: "kimu"}, sign.None)
		if want := how == Once || !runs || !r.Sandbox.None(); want != (err == nil) || !want && !IsBadAnswer(err) {
			t.Fatalf("%v for %s in %q: %v", parts, how, r.Sandbox, err)
		}
		if err != nil {
			_, err = q.Settle(t.Context(), q.list()[0].ID, Answer{For: Once, By: "kimu"}, sign.None)
		}
		<-done
		other := r
		other.Sandbox.Profile += "2"
		if _, shared := q.Consult(t.Context(), other); shared || err != nil {
			t.Fatalf("an answer for %q is taken for %q: %v", r.Sandbox, other.Sandbox, err)
		}
		if _, kept := q.Consult(t.Context(), r); kept != (how == Session && (!runs || !r.Sandbox.None())) {
			t.Fatalf("kept %v for %s", kept, how)
		}
	})
}
