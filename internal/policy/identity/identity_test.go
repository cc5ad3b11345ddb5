package identity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// card returns a card with skills of these ids.
func card(ids ...string) Card {
	c := Card{Name: "agent"}
	for _, id := range ids {
		c.Skills = append(c.Skills, Skill{ID: id})
	}
	return c
}

func one(r Rule) []Rule { return []Rule{r} }

// num returns a pointer, as minSkillMatch wants it.
func num(n int) *int { return &n }

// during is a rule for skill a within a context.
func during(hours, zone string, days ...int) []Rule {
	return one(Rule{Role: "r", RequiredSkills: []string{"a"}, Context: &Context{AllowedTime: hours, Timezone: zone, AllowedDays: days}})
}

// TestResolve has the cases of AT7. An empty role is a refusal.
func TestResolve(t *testing.T) {
	all := one(Rule{Role: "r", RequiredSkills: []string{"a", "b"}})
	anyOf := one(Rule{Role: "r", AnySkills: []string{"a", "b", "c"}})
	two := one(Rule{Role: "r", AnySkills: []string{"a", "b", "c"}, MinSkillMatch: num(2)})
	both := one(Rule{Role: "r", RequiredSkills: []string{"a"}, AnySkills: []string{"b", "c"}})
	not := one(Rule{Role: "r", RequiredSkills: []string{"a"}, ForbiddenSkills: []string{"x"}})
	ranks := []Rule{{Role: "low", RequiredSkills: []string{"a"}, Priority: -1}, {Role: "plain", RequiredSkills: []string{"a"}},
		{Role: "high", RequiredSkills: []string{"a", "b"}, Priority: 9}, {Role: "barred", AnySkills: []string{"a"}, Priority: 99,
			ForbiddenSkills: []string{"n"}}}
	night := during("22:00-06:00", "")
	friday := during("22:00-06:00", "", 5)
	work := during("09:00-17:30", "", 1, 2, 3, 4, 5)
	tokyo := during("09:00-17:00", "Asia/Tokyo", 4)
	berlin := during("08:00-10:00", "Europe/Berlin")
	const noon = "Thu 2026-11-26 12:00"
	strict := Settings{Strict: true}
	for i, c := range []struct {
		name  string
		rules []Rule
		s     Settings
		card  Card
		at    string
		want  string
	}{
		{"AND: all are there", all, Settings{}, card("a", "b"), noon, "r"},
		{"AND: more than all", all, Settings{}, card("z", "b", "a"), noon, "r"},
		{"AND: one is missing", all, Settings{}, card("a"), noon, ""},
		{"AND: none is there", all, Settings{}, card("z"), noon, ""},
		{"AND: a card without skills", all, Settings{}, card(), noon, ""},
		{"AND: another case is another skill", all, Settings{}, card("A", "b"), noon, ""},
		{"AND: a part of an id is another skill", all, Settings{}, card("aa", "b"), noon, ""},
		{"AND: a name is no id", all, Settings{}, Card{Name: "agent", Skills: []Skill{{ID: "b", Name: "a"}}}, noon, ""},
		{"AND: a tag is no id", all, Settings{}, Card{Name: "agent", Skills: []Skill{{ID: "b", Tags: []string{"a"}}}}, noon, ""},
		{"OR: one", anyOf, Settings{}, card("c"), noon, "r"},
		{"OR: all", anyOf, Settings{}, card("a", "b", "c"), noon, "r"},
		{"OR: none", anyOf, Settings{}, card("z"), noon, ""},
		{"minimum: reached", two, Settings{}, card("a", "c"), noon, "r"},
		{"minimum: passed", two, Settings{}, card("a", "b", "c"), noon, "r"},
		{"minimum: missed", two, Settings{}, card("b"), noon, ""},
		{"minimum: a skill twice counts once", two, Settings{}, card("b", "b"), noon, ""},
		{"minimum: an entry twice counts once", one(Rule{Role: "r", AnySkills: []string{"a", "a", "b"}, MinSkillMatch: num(2)}), Settings{},
			card("a"), noon, ""},
		{"minimum: out of reach, so the rule is broken", one(Rule{Role: "r", AnySkills: []string{"a"}, MinSkillMatch: num(2)}), Settings{},
			card("a"), noon, ""},
		{"minimum: 0 is no minimum, so the rule is broken", one(Rule{Role: "r", AnySkills: []string{"a"}, MinSkillMatch: num(0)}), Settings{},
			card("a"), noon, ""},
		{"AND with OR", both, Settings{}, card("a", "c"), noon, "r"},
		{"AND with OR: only AND", both, Settings{}, card("a"), noon, ""},
		{"AND with OR: only OR", both, Settings{}, card("b", "c"), noon, ""},
		{"a rule for everybody is broken", one(Rule{Role: "r"}), Settings{}, card("a"), noon, ""},
		{"a rule without a role is broken", one(Rule{RequiredSkills: []string{"a"}}), Settings{}, card("a"), noon, ""},
		{"forbidden: absent", not, Settings{}, card("a"), noon, "r"},
		{"forbidden: there", not, Settings{}, card("a", "x"), noon, ""},
		{"forbidden: in another case", not, Settings{}, card("a", "X"), noon, ""},
		{"forbidden: as a name", not, Settings{}, Card{Name: "agent", Skills: []Skill{{ID: "a", Name: " x"}}}, noon, ""},
		{"forbidden: as a tag", not, Settings{}, Card{Name: "agent", Skills: []Skill{{ID: "a", Tags: []string{"q", "x"}}}}, noon, ""},
		{"forbidden: of another rule does not matter", append(slices.Clone(not), Rule{Role: "s", RequiredSkills: []string{"a"}}), Settings{},
			card("a", "x"), noon, "s"},
		{"priority: the highest that matches", ranks, Settings{}, card("a", "b", "n"), noon, "high"},
		{"priority: the next where the highest does not match", ranks, Settings{}, card("a", "n"), noon, "plain"},
		{"priority: the highest of all", ranks, Settings{}, card("a", "b"), noon, "barred"},
		{"priority: below zero is last", ranks[:2], Settings{}, card("a"), noon, "plain"},
		{"priority: of equals the first", []Rule{{Role: "x", AnySkills: []string{"a"}}, {Role: "y", AnySkills: []string{"a"}}}, Settings{},
			card("a"), noon, "x"},
		{"hours: the beginning is within", work, Settings{}, card("a"), "Thu 2026-11-26 09:00", "r"},
		{"hours: the last minute is within", work, Settings{}, card("a"), "Thu 2026-11-26 17:29", "r"},
		{"hours: the end is not", work, Settings{}, card("a"), "Thu 2026-11-26 17:30", ""},
		{"hours: before", work, Settings{}, card("a"), "Thu 2026-11-26 08:59", ""},
		{"days: another day", work, Settings{}, card("a"), "Sun 2026-11-29 10:00", ""},
		{"days: without hours the whole day", during("", "", 0), Settings{}, card("a"), "Sun 2026-11-29 23:59", "r"},
		{"days: without hours not the next", during("", "", 0), Settings{}, card("a"), "Mon 2026-11-30 00:00", ""},
		{"over midnight: in the evening", night, Settings{}, card("a"), "Thu 2026-11-26 22:00", "r"},
		{"over midnight: at midnight", night, Settings{}, card("a"), "Fri 2026-11-27 00:00", "r"},
		{"over midnight: in the morning", night, Settings{}, card("a"), "Fri 2026-11-27 05:59", "r"},
		{"over midnight: by day", night, Settings{}, card("a"), noon, ""},
		{"over midnight: begins on an allowed day", friday, Settings{}, card("a"), "Fri 2026-11-27 23:00", "r"},
		{"over midnight: runs into another day", friday, Settings{}, card("a"), "Sat 2026-11-28 03:00", "r"},
		{"over midnight: began on another day", friday, Settings{}, card("a"), "Fri 2026-11-27 03:00", ""},
		{"over midnight: would begin on another day", friday, Settings{}, card("a"), "Sat 2026-11-28 23:00", ""},
		{"zone: within there, at night here", tokyo, Settings{}, card("a"), "Thu 2026-11-26 01:00", "r"},
		{"zone: outside there, by day here", tokyo, Settings{}, card("a"), noon, ""},
		{"zone: the day is the day there", tokyo, Settings{}, card("a"), "Wed 2026-11-25 23:00", ""},
		{"zone: in winter", berlin, Settings{}, card("a"), "Thu 2026-11-26 07:00", "r"},
		{"zone: in summer", berlin, Settings{}, card("a"), "Mon 2026-07-06 06:00", "r"},
		{"zone: in summer, by the clock of winter", berlin, Settings{}, card("a"), "Mon 2026-07-06 08:30", ""},
		{"zone: an unknown one breaks the rule", during("", "Mars/Olympus"), Settings{}, card("a"), noon, ""},
		{"zone: Local differs from machine to machine, and breaks the rule", during("", "Local"), Settings{}, card("a"), noon, ""},
		{"unknown: refused", all, Settings{}, card("z"), noon, ""},
		{"unknown: the default role", all, Settings{DefaultRole: "guest"}, card("z"), noon, "guest"},
		{"known: not the default role", all, Settings{DefaultRole: "guest"}, card("a", "b"), noon, "r"},
		{"prefix: trusted", all, Settings{TrustedPrefixes: []string{"x-", "ag"}}, card("a", "b"), noon, "r"},
		{"prefix: not trusted", all, Settings{TrustedPrefixes: []string{"x-"}, DefaultRole: "guest"}, card("a", "b"), noon, ""},
		{"prefix: in another case", all, Settings{TrustedPrefixes: []string{"Ag"}}, card("a", "b"), noon, ""},
		{"prefix: an empty one trusts nobody", all, Settings{TrustedPrefixes: []string{""}}, card("a", "b"), noon, ""},
		{"a card without a name", all, Settings{DefaultRole: "guest"}, Card{Skills: card("a", "b").Skills}, noon, ""},
		{"strict: a whole card", all, strict, card("a", "b"), noon, "r"},
		{"strict: a card that lacks something", all, strict, Card{Name: "agent", Skills: card("a", "b").Skills, Lacks: []string{"url"}},
			noon, ""},
		{"not strict: a card that lacks something", all, Settings{}, Card{Name: "agent", Skills: card("a", "b").Skills, Lacks: []string{"url"}},
			noon, "r"},
		{"bound: a role that the user allows", all, Settings{Bound: []string{"r"}}, card("a", "b"), noon, "r"},
		{"bound: a role that the user does not allow", all, Settings{Bound: []string{"q"}}, card("a", "b"), noon, ""},
	} {
		at, err := time.Parse("Mon 2006-01-02 15:04", c.at)
		if err != nil || at.Format("Mon") != c.at[:3] {
			t.Fatalf("case %d: %v (%s)", i, err, at.Format("Mon"))
		}
		from := []Source{{From: "k", Declared: Declared{SkillMatching: c.rules}, Bounded: true}}
		got := New(from, c.s, time.LoadLocation).Resolve(c.card, at)
		if got.Role != c.want || got.Reason == "" {
			t.Errorf("%s: role %q, want %q; because %s", c.name, got.Role, c.want, got.Reason)
		}
	}
}

// The prefixes of a skill are for its own rules only.
func TestPrefixesOfASkill(t *testing.T) {
	rule := []Rule{{Role: "a", RequiredSkills: []string{"a"}}}
	r := New([]Source{
		{From: "k", Declared: Declared{SkillMatching: rule, TrustedPrefixes: []string{"acme-"}}},
		{From: "l", Declared: Declared{SkillMatching: []Rule{{Role: "b", RequiredSkills: []string{"a"}}}}},
	}, Settings{}, time.LoadLocation)
	for name, want := range map[string]string{"acme-1": "a", "other": "b"} {
		c := card("a")
		c.Name = name
		if got := r.Resolve(c, time.Time{}); got.Role != want || len(got.Verdicts) != 2 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A role ends with the window that gave it, and windows without a gap are one.
func TestUntil(t *testing.T) {
	for _, c := range []struct {
		rules    []Rule
		at, want string
	}{
		{during("09:00-17:00", ""), "2026-11-26T10:00:00Z", "2026-11-26T17:00:00Z"},
		{during("22:00-06:00", ""), "2026-11-26T23:00:00Z", "2026-11-27T06:00:00Z"},
		{during("22:00-06:00", ""), "2026-11-26T05:00:00Z", "2026-11-26T06:00:00Z"},
		{during("00:00-24:00", "", 4), "2026-11-26T10:00:00Z", "2026-11-27T00:00:00Z"},
		{during("", "", 4, 5, 6), "2026-11-26T10:00:00Z", "2026-11-29T00:00:00Z"},
		{during("01:00-02:30", "Europe/Berlin"), "2026-10-25T01:15:00Z", "2026-10-25T01:30:00Z"}, // the hour comes twice there
		{one(Rule{Role: "r", RequiredSkills: []string{"a"}}), "2026-11-26T10:00:00Z", "0001-01-01T00:00:00Z"},
	} {
		at, _ := time.Parse(time.RFC3339, c.at)
		got := New([]Source{{Declared: Declared{SkillMatching: c.rules}}}, Settings{}, time.LoadLocation).Resolve(card("a"), at)
		if end := got.Until.UTC().Format(time.RFC3339); got.Role != "r" || end != c.want {
			t.Errorf("%+v at %s: %q until %s, want %s", c.rules[0].Context, c.at, got.Role, end, c.want)
		}
	}
}

// Each fault of a declaration is told with its key.
func TestCheck(t *testing.T) {
	d := Declared{TrustedPrefixes: []string{" "}, SkillMatching: []Rule{
		{}, {Role: "r", AnySkills: []string{""}}, {Role: "r", AnySkills: []string{"a"}, MinSkillMatch: num(2)},
		during("9-17", "")[0], during("09:00-09:00", "")[0], during("24:00-06:00", "")[0], during("", "", 7)[0], during("", "Nowhere")[0],
		{Role: "r", AnySkills: []string{"a"}, Context: &Context{AllowedDays: []int{}}},
		{Role: "r", AnySkills: []string{"a"}, Context: &Context{AllowedTime: "00:00-24:00", Timezone: "UTC"}},
	}}
	var got []string
	d.Check(time.LoadLocation, func(key, message, hint string) {
		if message == "" || hint == "" {
			t.Errorf("%s: %q, %q", key, message, hint)
		}
		got = append(got, key)
	})
	want := []string{"skillMatching[0].role", "skillMatching[0]", "skillMatching[1].anySkills", "skillMatching[2].minSkillMatch",
		"skillMatching[3].context.allowedTime", "skillMatching[4].context.allowedTime", "skillMatching[5].context.allowedTime",
		"skillMatching[6].context.allowedDays", "skillMatching[7].context.timezone", "skillMatching[8].context.allowedDays",
		"trustedPrefixes[0]"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

// ids draws some of a few skill ids.
func ids(t *rapid.T, name string) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 0, 4, rapid.ID).Draw(t, name)
}

// TestLaws: what is forbidden never matches; the role is that of the first match by priority; a further skill that no rule forbids takes no
// role away; a role never comes out of nothing.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var rules []Rule
		for i := range rapid.IntRange(1, 6).Draw(rt, "rules") {
			rules = append(rules, Rule{Role: fmt.Sprint("r", i), RequiredSkills: ids(rt, "required"), AnySkills: ids(rt, "any"),
				ForbiddenSkills: ids(rt, "forbidden"), Priority: rapid.IntRange(-1, 2).Draw(rt, "priority")})
		}
		r := New([]Source{{From: "k", Declared: Declared{SkillMatching: rules}}}, Settings{}, time.LoadLocation)
		has := ids(rt, "card")
		got := r.Resolve(card(has...), time.Time{})
		order := slices.Clone(rules)
		slices.SortStableFunc(order, func(a, b Rule) int { return cmp.Compare(b.Priority, a.Priority) })
		want := ""
		for i, rule := range order {
			forbidden := slices.ContainsFunc(rule.ForbiddenSkills, func(s string) bool { return slices.Contains(has, s) })
			v := got.Verdicts[i]
			if v.Role != rule.Role || forbidden && v.Match {
				rt.Fatalf("rule %+v and card %v: %+v", rule, has, v)
			}
			if v.Match && want == "" {
				want = v.Role
			}
		}
		if got.Role != want {
			rt.Fatalf("role %q, want %q", got.Role, want)
		}
		more := r.Resolve(card(append(slices.Clone(has), "unrelated")...), time.Time{})
		for i, v := range got.Verdicts {
			if more.Verdicts[i].Match != v.Match {
				rt.Fatalf("an unrelated skill changes %+v to %+v", v, more.Verdicts[i])
			}
		}
		extra := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(rt, "extra")
		wider := r.Resolve(card(append(slices.Clone(has), extra)...), time.Time{})
		for i, v := range got.Verdicts {
			if v.Match && !wider.Verdicts[i].Match && !slices.Contains(order[i].ForbiddenSkills, extra) {
				rt.Fatalf("skill %s takes the match of %+v away", extra, order[i])
			}
		}
		if empty := r.Resolve(card(), time.Time{}); empty.Role != "" {
			rt.Fatalf("a card without skills has role %q", empty.Role)
		}
	})
}

// FuzzWindow: whatever a context says, reading it does not panic, and a window that holds a time ends after it.
func FuzzWindow(f *testing.F) {
	f.Add("22:00-06:00", 5, int64(1_764_200_000))
	f.Add("00:00-24:00", 0, int64(0))
	f.Add("09:00", 9, int64(-1))
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, hours string, day int, unix int64) {
		c := Context{AllowedTime: hours, AllowedDays: []int{day}, Timezone: "x"}
		w, bad := c.window(func(string) (*time.Location, error) { return berlin, nil })
		if bad != nil {
			return
		}
		at := time.Unix(unix%(1<<40), 0)
		if end, ok := w.until(at); ok && (!end.After(at) || end.Sub(at) > 9*24*time.Hour) {
			t.Errorf("%s on %d at %s ends %s", hours, day, at, end)
		}
	})
}
