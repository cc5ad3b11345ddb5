package proposal

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/swarm/plan"
)

// good is a plan file that is good in every way.
const good = `{"summary": "Add a parser for dates, and use it where the command reads its arguments.",
 "steps": [{"order": 1, "description": "Write the parser of dates", "files": ["date.go"], "validation": "go test -run TestDate"},
  {"order": 2, "description": "Use it in the command", "files": ["main.go"], "validation": "go run . 2026-01-01"}],
 "filesToCreate": ["date.go"], "filesToModify": ["main.go"],
 "testStrategy": "A table of dates in date_test.go, run by go test ./...",
 "risks": ["a", "b", "c", "d", "e"], "estimatedComplexity": "low"}`

func read(t *testing.T, s string) Proposal {
	t.Helper()
	p, err := Read([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func exists(path string) bool { return path == "main.go" }

// TestRead: what is not a plan of the form is refused, with everything that is wrong in it.
func TestRead(t *testing.T) {
	if p := read(t, "```json\n"+good+"\n```\n"); len(p.Steps) != 2 || !slices.Equal(p.Files(), []string{"date.go", "main.go"}) {
		t.Errorf("%+v", p)
	}
	for _, c := range []struct{ old, new, want string }{
		{good, "", "the plan file is empty"},
		{good, "the plan is to write it", "not JSON of the form"},
		{good, good + good, "not JSON of the form"},
		{`"risks"`, `"hopes"`, "hopes"},
		{`"risks": [`, `"risks": 1, "summary": [`, "not JSON of the form"},
		{`"Write the parser of dates"`, `" "`, "the description of step 1 is empty"},
		{`"order": 2`, `"order": 3`, "step 2 has the order 3: write the steps in their order, from 1"},
		{`["main.go"], "validation"`, `["../main.go"], "validation"`, `step 2: "../main.go" is not a path in the project`},
		{`["date.go"], "filesTo`, `["/etc/passwd"], "filesTo`, `filesToCreate: "/etc/passwd" is not a path in the project`},
		{`"low"`, `"easy"`, `estimatedComplexity is "easy", and is one of low, medium, high`},
		{`"a", "b"`, `"` + strings.Repeat("x", maxText+1) + `"`, "a risk has more than 4000 characters"},
		{good, strings.Repeat(" ", MaxSize+1), "and 131072 is the limit"},
	} {
		if p, err := Read([]byte(strings.Replace(good, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s: %v, want %s (%+v)", c.new, err, c.want, p)
		}
	}
	bad := strings.NewReplacer(`"order": 2`, `"order": 9`, `"low"`, `"?"`).Replace(good)
	if _, err := Read([]byte(bad)); err == nil || strings.Count(err.Error(), ";") != 1 {
		t.Errorf("not both problems: %v", err)
	}
}

// TestRate: each part of the rubric begins with its base, and what is missing costs its points.
func TestRate(t *testing.T) {
	f := plan.Feature{ID: "a", Files: []string{"date.go"}}
	whole := Score{25, 25, 20, 15, 15, 100, 100}
	for _, c := range []struct {
		name     string
		old, new string
		want     Score
	}{
		{"good", "", "", whole},
		{"a step says not how it is checked", `"go run . 2026-01-01"`, `""`, Score{23, 25, 20, 15, 15, 98, 67}},
		{"no test strategy", "A table of dates in date_test.go, run by go test ./...", "tests", Score{23, 25, 20, 15, 15, 98, 67}},
		{"neither", `"go test -run TestDate"`, `""`, Score{23, 25, 20, 15, 15, 98, 67}},
		{"a file that no step touches", `["date.go"], "validation"`, `["x.go"], "validation"`, Score{22, 25, 20, 15, 15, 97, 100}},
		{"a file that is not there", `"filesToModify": ["main.go"]`, `"filesToModify": ["gone.go"]`, Score{23, 23, 20, 15, 15, 96, 100}},
		{"no risks", `["a", "b", "c", "d", "e"]`, `[]`, Score{25, 25, 10, 15, 15, 90, 100}},
		{"a short summary", "Add a parser for dates, and use it where the command reads its arguments.", "Dates", Score{25, 25, 20, 12,
			15, 97, 100}},
		{"a step without a word", "Use it in the command", "Use it", Score{25, 25, 20, 13, 15, 98, 100}},
	} {
		p := read(t, strings.Replace(good, c.old, c.new, 1))
		if got := Rate(&p, f, exists); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	least := read(t, `{"summary": "x", "steps": [{"order": 1, "description": "x"}], "testStrategy": "x", "estimatedComplexity": "high"}`)
	if got := Rate(&least, plan.Feature{}, exists); got != (Score{15, 15, 10, 8, 15, 63, 0}) {
		t.Errorf("the least plan: %+v", got)
	}
	long := read(t, good)
	for range 14 {
		long.Steps = append(long.Steps, long.Steps[0])
	}
	if got := Rate(&long, f, exists); got.Efficiency != 12 {
		t.Errorf("a long way: %+v", got)
	}
}

// TestCompare: a tie is A's, and the margins are those of row C86.
func TestCompare(t *testing.T) {
	for _, c := range []struct {
		a, b int
		want Verdict
	}{
		{70, 70, Verdict{A, 0, "near equal"}}, {70, 74, Verdict{B, 4, "near equal"}}, {75, 70, Verdict{A, 5, "moderate"}},
		{70, 84, Verdict{B, 14, "moderate"}}, {85, 70, Verdict{A, 15, "clear"}},
	} {
		if got := Compare(Score{Total: c.a}, Score{Total: c.b}); got != c.want {
			t.Errorf("%d and %d: %+v", c.a, c.b, got)
		}
	}
}

// FuzzRead: whatever a planner writes is refused, or keeps the laws of a plan: it is read again as the same, has at least one step, names
// no file outside the project, and scores from 58 to 100.
func FuzzRead(f *testing.F) {
	for _, s := range []string{good, "", "{}", "[]", "```\n{}\n```", strings.Replace(good, "1", "-1", 1)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read(data)
		if err != nil {
			if len(err.Error()) > 16<<10 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Read(b); len(b) <= MaxSize && (err != nil || again.Markdown() != p.Markdown()) {
			t.Errorf("read again: %v", err)
		}
		if len(p.Steps) == 0 || slices.ContainsFunc(p.Files(), func(f string) bool { return !filepath.IsLocal(f) }) {
			t.Errorf("%+v", p)
		}
		if s := Rate(&p, plan.Feature{}, exists); s.Total < 58 || s.Total > 100 {
			t.Errorf("%+v", s)
		}
	})
}
