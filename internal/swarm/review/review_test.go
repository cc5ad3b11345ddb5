package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
)

const good = `{"summary": "Two.", "severity": "Moderate", "issues": [
	{"category": "Test Coverage", "severity": "ERROR", "file": "/tree/p/a/b.go", "line": 3, "message": "m", "suggestion": "s"},
	{"category": "perf", "severity": "info", "file": "../etc/passwd", "line": -1, "message": "n"}], "recommendations": ["", "r"]}`

// TestParse: what is clear is taken, and mended with a note; what is not is refused in words for the reviewer.
func TestParse(t *testing.T) {
	for _, said := range []string{good, "\ufeff" + good, "Here:\n```json\n" + good + "\n```\n"} {
		f, notes, err := Parse("code", "/tree/p", []byte(said))
		if err != nil || f.Severity != book.Moderate || len(f.Recommendations) != 1 || len(f.Issues) != 2 {
			t.Fatalf("%v: %+v", err, f)
		}
		if i := f.Issues[0]; i.Category != "test-coverage" || i.Severity != book.Error || i.File != "a/b.go" || i.Line != 3 {
			t.Errorf("the first is %+v", i)
		}
		if i := f.Issues[1]; i.Category != "maintainability" || i.File != "" || i.Line != 0 {
			t.Errorf("the second is %+v", i)
		}
		if all := strings.Join(notes, "\n"); !strings.Contains(all, `"perf"`) || !strings.Contains(all, "passwd") {
			t.Errorf("notes: %s", all)
		}
	}
	for said, want := range map[string]string{
		"": "empty", "no": "not the JSON", "[]": "not the JSON", `{"summary":"s","summary":"t","severity":"clean"}`: "not the JSON",
		`{"severity":"clean"}`:                                                                     "summary",
		`{"summary":"s","severity":"fine"}`:                                                        "clean, minor, moderate, major, critical",
		`{"summary":"s","severity":"minor","issues":[{"message":"m"}]}`:                            "issues[0]: severity",
		`{"summary":"s","severity":"minor","issues":[{"severity":"info","message":" "}]}`:          "message: it is empty",
		`{"summary":"s","severity":"minor","issues":[` + strings.Repeat(`{},`, maxIssues) + `{}]}`: "500 is the limit",
		strings.Repeat(" ", MaxFile+1):                                                             "is the limit",
	} {
		if f, _, err := Parse("code", "/tree/p", []byte(said)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, %+v; want %q", said, err, f, want)
		}
	}
	f, _, err := Parse("code", "", []byte(`{"summary":"s","severity":"clean","issues":[{"severity":"error","category":"bug","message":"m"}]}`))
	if err != nil || f.Severity != book.Moderate {
		t.Errorf("clean with an error is %s, %v", f.Severity, err)
	}
}

// FuzzParse: whatever a reviewer writes, what is taken of it is within its bounds, and can become features.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"summary":"s","severity":"minor","issues":[{"severity":"info","file":"a\u200b","message":"` +
		strings.Repeat("\u200b", 1500) + `"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		found, notes, err := Parse("architecture", "/tree/p", b)
		if err != nil {
			return
		}
		if !slices.Contains(book.Severities(), found.Severity) || len(notes) > 20 || len(found.Issues) > maxIssues {
			t.Errorf("%+v, %d notes", found, len(notes))
		}
		again, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		back, more, err := Parse("architecture", "/tree/p", again)
		if err != nil || len(more) > 0 || back.Summary != found.Summary || len(back.Issues) != len(found.Issues) {
			t.Errorf("it is not stable: %v %v\n%s", err, more, again)
		}
		s := session(found)
		if _, _, err := Implement(s, Choice{All: true, Min: book.Info}, "x"); err != nil && len(found.Issues) > 0 && len(s.Features) < 150 &&
			len(found.Issues) < 150 {
			t.Error(err)
		}
	})
}

// session is a session that has ended with findings about its architecture.
func session(f book.Findings) *book.Session {
	return &book.Session{ID: "s", State: book.Completed, Base: "one", Settings: book.Settings{Reviews: Defaults()},
		Features: []*book.Feature{{Feature: plan.Feature{ID: "fix-1", Description: "Add"}, State: book.Completed}},
		Reviews:  []*book.Review{{Type: "architecture", Attempt: book.Attempt{N: 1, State: book.Completed, Base: "two"}, Findings: &f}}}
}

// TestImplement: what is chosen becomes one feature for each file or category, once, with its issues as details.
func TestImplement(t *testing.T) {
	found := book.Findings{Summary: "s", Severity: book.Major, Issues: []book.Issue{
		{Category: "coupling", Severity: book.Error, File: "a.go", Line: 1, Message: strings.Repeat("é", 300), Suggestion: "cut"},
		{Category: "pattern", Severity: book.Warning, File: "a.go", Message: "two"},
		{Category: "pattern", Severity: book.Info, Message: "three"},
		{Category: "pattern", Severity: book.Warning, File: "b.go", Message: "four"}}}
	for _, c := range []struct {
		Choice
		want string // features, with the files and the messages of each
	}{
		{Choice{All: true}, "fix-2 [a.go] é two; fix-3 [b.go] four; "},
		{Choice{All: true, By: "category", Min: book.Info}, "fix-2 [a.go] é; fix-3 [a.go b.go] two three four; "},
		{Choice{Indices: []int{2}}, "fix-2 [] three; "},
		{Choice{All: true, Min: book.Error}, "fix-2 [a.go] é; "},
		{Choice{}, "no issue is chosen"},
		{Choice{Indices: []int{4}}, "4 issues, counted from 0"},
		{Choice{All: true, Type: "code"}, "no feature mends yet"},
		{Choice{All: true, Type: "codes"}, "no review"},
		{Choice{All: true, Min: "bad"}, "no severity"},
		{Choice{All: true, By: "line"}, "by file or by category"},
	} {
		f := found
		f.Issues = slices.Clone(found.Issues)
		s := session(f)
		ids, events, err := Implement(s, c.Choice, "x")
		got := ""
		for i, id := range ids {
			of, err := s.Feature(id)
			if err != nil || len([]rune(of.Description)) > maxDescription || events[i].Feature != id {
				t.Errorf("%s: %v, %+v", id, err, of)
			}
			got += fmt.Sprintf("%s %s", id, of.Files)
			for _, m := range []string{"é", "two", "three", "four"} {
				if strings.Contains(of.Details, "  "+m) {
					got += " " + m
				}
			}
			got += "; "
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || err == nil && s.State != book.Going {
			t.Errorf("%+v: %s\nwant %s; it is %s", c.Choice, got, c.want, s.State)
		}
		if err != nil || len(c.Indices) == 0 {
			continue
		}
		if _, _, err := Implement(s, c.Choice, "x"); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("a second time: %v", err)
		}
	}
	closed := session(found)
	closed.Closed = true
	if _, _, err := Implement(closed, Choice{All: true}, "x"); err == nil || closed.State != book.Completed {
		t.Errorf("a session that is closed: %v, %s", err, closed.State)
	}
}

// TestDue: reviews begin by themselves if the settings say so and something has landed, and a commit is reviewed once; a person may ask.
func TestDue(t *testing.T) {
	types := func(events []book.Event) (out string) {
		for _, e := range events {
			out += e.Feature + " "
		}
		return out
	}
	for _, c := range []struct {
		name string
		do   func(s *book.Session)
		want string
	}{
		{"as it is", func(*book.Session) {}, "review-code "},
		{"more has landed", func(s *book.Session) { s.Reviews[0].Base = "one and a half" }, "review-code review-architecture "},
		{"nothing has landed", func(s *book.Session) { s.Base = "two" }, ""},
		{"none", func(s *book.Session) { s.Settings.Reviews.Enabled = false }, ""},
		{"the other type only", func(s *book.Session) { s.Settings.Reviews.Code = false }, ""},
		{"by hand", func(s *book.Session) { s.Settings.Reviews.AutoTrigger = false }, ""},
		{"one failed", func(s *book.Session) { s.Features[0].State = book.Failed }, "review-code "},
		{"one failed, and then none", func(s *book.Session) {
			s.Features[0].State, s.Settings.Reviews.SkipOnFailure = book.Failed, true
		}, ""},
	} {
		s := session(book.Findings{Severity: book.Clean})
		c.do(s)
		if got := types(Due(s, "two")); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		do    func(s *book.Session)
		types []string
		force bool
		want  string
	}{
		{func(*book.Session) {}, []string{"code"}, false, ""},
		{func(*book.Session) {}, nil, false, "was reviewed as it is"},
		{func(*book.Session) {}, nil, true, ""},
		{func(*book.Session) {}, []string{"style"}, false, "no review"},
		{func(s *book.Session) { s.Features[0].State = book.Pending }, nil, true, "not done yet"},
		{func(s *book.Session) { s.Reviews[0].State = book.Running }, nil, true, "not over"},
		{func(s *book.Session) { s.State = book.Paused }, nil, true, "paused"},
		{func(s *book.Session) { s.Base = "two" }, nil, true, "nothing has landed"},
		{func(s *book.Session) { s.Closed = true }, nil, true, "closed"},
	} {
		s := session(book.Findings{Severity: book.Clean})
		c.do(s)
		_, err := Ask(s, "two", c.types, c.force, "x")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || err == nil && s.State != book.Reviewing {
			t.Errorf("%v %t: %v, it is %s; want %q", c.types, c.force, err, s.State, c.want)
		}
	}
}
