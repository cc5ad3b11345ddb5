package swarm

import (
	"context"
	"strings"
	"testing"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
)

// What a prompt says of the criteria (CT3): all of them, with a mark at those that the attempt before has met; guidance and what failed
// come with the second attempt and not before.
func TestPromptOfCriteria(t *testing.T) {
	f := feature("a")
	s := &book.Session{Settings: book.Settings{Verify: [][]string{{"make", "all"}}}}
	if p := promptOf(s, f); !strings.Contains(p, "- [ ] this command passes on the branch with your commit: make all\n") {
		t.Errorf("without a validation:\n%s", p)
	}
	if p := promptOf(&book.Session{}, f); strings.Contains(p, "# When it is complete") {
		t.Errorf("without any criterion:\n%s", p)
	}
	f.Validation = &plan.Validation{Enabled: true, EnforceBlocking: true, TestPassRequired: true, CoverageTarget: 80,
		VerifyCommand: plan.Command{"go", "test", "./..."}, ExpectedPackages: []string{"auth", "db"}}
	p := promptOf(s, f)
	const list = "- [ ] the commit changes something in auth, db\n- [ ] this command passes on what you commit: go test ./...\n" +
		"- [ ] the coverage that it measures is at least 80 %\n"
	if !strings.Contains(p, list) || strings.Contains(p, "The attempt before") || strings.Contains(p, "why it failed") {
		t.Errorf("the first attempt:\n%s", p)
	}
	met := Criteria(&book.Session{}, f)
	met[0].Met = true
	met[1].Says = "go test ./...\nFAIL TestX"
	f.Attempts = []*book.Attempt{{N: 1, State: book.Failed, Reason: "it was sent back 3 times", Criteria: met}}
	p = promptOf(s, f)
	for _, want := range []string{"- [x] the commit changes", "- [ ] this command passes on what you commit",
		"It was given up: it was sent back 3 times",
		"What failed:\n\ngo test ./...\nFAIL TestX", "why it failed"} {
		if !strings.Contains(p, want) {
			t.Errorf("the second attempt is not told %q:\n%s", want, p)
		}
	}
	f.Validation.Enabled = false
	if p := promptOf(&book.Session{}, f); strings.Contains(p, "go test ./...\n- ") || strings.Contains(p, "# When it is complete") {
		t.Errorf("a validation that is off:\n%s", p)
	}
}

// The command of a feature tells its coverage; the work is taken when that is enough. A check that need not pass is a warning, and
// keeps nothing from landing.
func TestCoverageAndWarnings(t *testing.T) {
	a, b := feature("a"), feature("b", "a")
	a.Validation = &plan.Validation{Enabled: true, EnforceBlocking: true, TestPassRequired: true, CoverageTarget: 80,
		VerifyCommand: plan.Command{"go", "test", "./..."}}
	b.Validation = &plan.Validation{Enabled: true, VerifyCommand: plan.Command{"npm", "test"}, ExpectedPackages: []string{"nowhere"}}
	f := begin(t, &book.Session{Features: []*book.Feature{a, b}})
	runs := 0
	f.Verify = func(_ context.Context, _ string, argv []string) (Checked, error) {
		switch strings.Join(argv, " ") {
		case "go test -coverprofile=/dev/stdout ./...":
			if runs++; runs == 1 {
				return Checked{OK: true, Output: "mode: set\na.go:1.1,2.2 1 0\na.go:3.1,4.2 1 1\n"}, nil
			}
			return Checked{OK: true, Output: "mode: set\na.go:1.1,2.2 1 9\na.go:3.1,4.2 1 1\n"}, nil
		case "npm test":
			return Checked{Output: "npm fails"}, nil
		}
		return Checked{OK: true}, nil
	}
	f.workers["a"] = func(h *hand) { adds("a", strings.Repeat("x", h.n+1)+"\n")(h) }
	f.workers["b"] = adds("b", "1\n")
	s := f.drive()
	got := f.want(s, "a", book.Completed, 1, 2)
	if !strings.Contains(f.prompts["a"][1], "the coverage is 50.0 %, and 80 % are wanted") ||
		!strings.Contains(f.prompts["a"][1], "- [x] this command passes on what you commit") || len(got.Last().Criteria) != 2 || runs != 3 {
		t.Errorf("%d runs; its worker was told:\n%s", runs, f.prompts["a"][1])
	}
	f.want(s, "b", book.Completed, 1, 1)
	if said := f.happened(); !strings.Contains(said,
		"a check fails: nothing is changed in nowhere") || !strings.Contains(said, "npm fails") {
		t.Errorf("no warning:\n%s", said)
	}
}
