package index

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/audit"
)

// TestAsks: questions to people are counted by rule and by agent, those that a model settled apart, and neither calls of a person nor calls
// that were answered for the session before. Each window of five minutes with a call of a session counts once, whatever the index has read.
func TestAsks(t *testing.T) {
	for _, followed := range []string{"all", "half", "none"} {
		t.Run(followed, func(t *testing.T) {
			o := options(t)
			l, x := openLog(t, o), openIndex(t, o)
			follow := func() {
				if err := x.Follow(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			call := func(session, agent, surface, rule string, at time.Duration, deciders ...string) {
				r := decision(audit.NewID())
				r.Session, r.Agent, r.Surface, r.Rule, r.Time = session, agent, surface, rule, day.Add(at)
				for i, by := range deciders {
					r.Effect, r.DecidedBy = "allow", by
					if by == "policy" && rule != "allowed" {
						r.Effect = "ask"
					}
					if i > 0 && by != "deadline" {
						r.Rule = "approved-x" // what decides after the answer may be another rule
					}
					add(t, l, r)
				}
				if followed == "half" && session == "a" && at == 0 {
					follow()
				}
			}
			call("a", "claude", "hook", "docker", 0, "policy", "person")
			call("a", "claude", "hook", "", time.Minute, "policy", "person")
			call("a", "", "mcp-stdio", "docker", 6*time.Minute, "policy", "deadline") // of the same session
			call("a", "claude", "hook", "docker", 7*time.Minute, "policy")            // nobody answered at its terminal
			call("a", "claude", "hook", "docker", 8*time.Minute, "person")            // answered for the session before
			call("b", "", "mcp-http", "docker", 0, "policy", "model")
			call("b", "", "mcp-http", "docker", 0, "model") // without a decision that asks
			call("b", "", "mcp-http", "allowed", 100*time.Minute, "policy")
			call("c", "", "cli", "docker", 0, "policy", "person") // a person's own call
			if followed == "all" {
				follow()
			}
			got, err := x.Asks(t.Context(), time.Time{}, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			want := Asks{Person: 4, Model: 2, Hours: 0.33, PerHour: 12,
				ByRule:  []Asked{{Name: "docker", Person: 3, Model: 2, PerHour: 9}, {Name: "", Person: 1, PerHour: 3}},
				ByAgent: []Asked{{Name: "claude", Person: 4, Hours: 0.17, PerHour: 24}, {Name: "mcp-http", Model: 2, Hours: 0.17}}}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			if got, err = x.Asks(t.Context(), day.Add(5*time.Minute), day.Add(7*time.Minute)); err != nil || got.Person != 1 || got.Hours != 0.08 {
				t.Errorf("%+v, %v", got, err)
			}
			if s, err := x.Stats(t.Context(), day.Add(-time.Hour), time.Time{}); err != nil || s.Asks.Person != 4 {
				t.Errorf("%+v, %v", s.Asks, err)
			}
			if parts, err := x.Slices(t.Context(), day, day.Add(10*time.Minute), 5*time.Minute); err != nil || parts[0].Person != 2 ||
				parts[0].Model != 2 || parts[1].Person != 2 {
				t.Errorf("%+v, %v", parts, err)
			}
			list, err := x.Questions(t.Context(), day.Add(5*time.Minute))
			if err != nil || len(list) != 2 || list[0].Effect != "ask" || list[0].Rule != "docker" || !list[0].Time.Equal(day.Add(7*time.Minute)) ||
				string(list[0].Args) != `{"path":"a.txt"}` {
				t.Errorf("%+v, %v", list, err)
			}
			if err := x.Rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, err = x.Asks(t.Context(), time.Time{}, time.Time{}); err != nil || got.Person != 4 || got.Model != 2 {
				t.Errorf("rebuilt: %+v, %v", got, err)
			}
		})
	}
}
