package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestBounds: a role has its own limits, those of every role that it inherits and those of every role; of each figure the
// smallest.
func TestBounds(t *testing.T) {
	p, problems := New(Source{
		Roles: []Role{{ID: "guest"}, {ID: "developer", Name: "Developer", Inherits: "guest"}, {ID: "free"}},
		Limits: map[string]Limit{
			"guest": {Rates: Rates{PerMinute: 10, Concurrent: 3}, Tools: map[string]Rates{"web__*": {PerHour: 5}}},
			"Developer": {Rates: Rates{PerMinute: 20, PerDay: 100}, Tools: map[string]Rates{"web__*": {PerHour: 7, PerDay: 9}},
				Session: SessionLimit{Tools: map[string]Rates{"db__drop": {PerDay: 1}}}},
			EveryRole: {Session: SessionLimit{Rates: Rates{PerHour: 50}}},
			"nobody":  {Rates: Rates{PerMinute: 1}},
		},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for role, want := range map[string][]Bound{
		"guest": {
			{Name: "guest", Rates: Rates{PerMinute: 10, Concurrent: 3}},
			{Name: "guest.tools.web__*", Rates: Rates{PerHour: 5}, Tools: "web__*"},
			{Name: "guest.session", Rates: Rates{PerHour: 50}, Session: true},
		},
		"Developer": {
			{Name: "developer", Rates: Rates{PerMinute: 10, PerDay: 100, Concurrent: 3}},
			{Name: "developer.tools.web__*", Rates: Rates{PerHour: 5, PerDay: 9}, Tools: "web__*"},
			{Name: "developer.session", Rates: Rates{PerHour: 50}, Session: true},
			{Name: "developer.session.tools.db__drop", Rates: Rates{PerDay: 1}, Session: true, Tools: "db__drop"},
		},
		"free":   {{Name: "free.session", Rates: Rates{PerHour: 50}, Session: true}},
		"nobody": nil,
		"":       nil,
	} {
		if diff := cmp.Diff(want, p.Bounds(role), cmpopts.IgnoreUnexported(Bound{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", role, diff)
		}
	}
	b := p.Bounds("guest")[1]
	for it, want := range map[Item]bool{
		{Server: "web", Name: "get"}: true, {Server: "webs", Name: "get"}: false, {Kind: Prompt, Server: "web", Name: "x"}: true,
		{Kind: Resource, Server: "web", Name: "https://x/"}: true,
	} {
		if b.Concerns(it) != want {
			t.Errorf("%s concerns %s: %v", b.Name, it, !want)
		}
	}
}

// TestLawLimitsOnlyNarrow: what is added to a limit never makes a figure of it larger, and order does not matter.
func TestLawLimitsOnlyNarrow(t *testing.T) {
	count := rapid.Map(rapid.IntRange(0, 5), func(n int) Count { return Count(n) })
	rates := rapid.Custom(func(t *rapid.T) Rates {
		return Rates{count.Draw(t, "m"), count.Draw(t, "h"), count.Draw(t, "d"), count.Draw(t, "c")}
	})
	tools := rapid.MapOf(rapid.SampledFrom([]string{"a__b", "a__*", "*"}), rates)
	limit := rapid.Custom(func(t *rapid.T) Limit {
		return Limit{rates.Draw(t, "r"), tools.Draw(t, "t"), SessionLimit{rates.Draw(t, "s"), tools.Draw(t, "st")}}
	})
	within := func(a, b Rates) bool { // a allows no more than b
		ok := func(a, b Count) bool { return b == 0 || a != 0 && a <= b }
		return ok(a.PerMinute, b.PerMinute) && ok(a.PerHour, b.PerHour) && ok(a.PerDay, b.PerDay) && ok(a.Concurrent, b.Concurrent)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := limit.Draw(t, "a"), limit.Draw(t, "b")
		both := a.And(b)
		if diff := cmp.Diff(both, b.And(a), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("the order matters:\n%s", diff)
		}
		for _, one := range []Limit{a, b} {
			if !within(both.Rates, one.Rates) || !within(both.Session.Rates, one.Session.Rates) {
				t.Fatalf("%+v and %+v make %+v", a, b, both)
			}
			for p, r := range one.Tools {
				if !within(both.Tools[p], r) {
					t.Fatalf("%s: %+v and %+v make %+v", p, a, b, both)
				}
			}
			for p, r := range one.Session.Tools {
				if !within(both.Session.Tools[p], r) {
					t.Fatalf("session %s: %+v and %+v make %+v", p, a, b, both)
				}
			}
		}
	})
}
