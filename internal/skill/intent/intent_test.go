package intent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/skill"
	"mycelium/internal/skill/intent"
)

// utterance is one line of the corpus.
type utterance struct {
	text                   string
	wants, either, forbids []string
	ends                   bool
}

func corpus(t testing.TB, name string) []utterance {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []utterance
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 3 {
			t.Fatalf("%s:%d: %d columns", name, i+1, len(f))
		}
		u := utterance{text: strings.ReplaceAll(f[0], `\n`, "\n")}
		for _, s := range strings.FieldsFunc(f[1], func(r rune) bool { return r == ',' }) {
			if bare, ok := strings.CutPrefix(s, "?"); ok {
				u.either = append(u.either, bare)
			} else {
				u.wants = append(u.wants, s)
			}
		}
		for _, s := range strings.FieldsFunc(f[2], func(r rune) bool { return r == ',' }) {
			if s == "*" {
				u.ends = true
			} else {
				u.forbids = append(u.forbids, s)
			}
		}
		out = append(out, u)
	}
	return out
}

// tasks are the shipped skills that the corpus is about.
var tasks = []string{
	"build-check", "code-modifier", "code-reviewer", "doc-updater", "editor", "git-workflow", "reader", "skill-admin", "test-runner",
}

// index returns the index of the corpus's skills, and their names.
func index(t testing.TB) (*intent.Index, []string) {
	t.Helper()
	shipped, problems := skill.Load(skill.Shipped(), "shipped", "shipped")
	more, others := skill.Load(os.DirFS("testdata/skills"), "skills", "project")
	if n := len(problems) + len(others); n > 0 {
		t.Fatal(problems, others)
	}
	shipped = slices.DeleteFunc(shipped, func(s skill.Skill) bool { return !slices.Contains(tasks, s.Name) })
	var list []intent.Skill
	var names []string
	for _, s := range append(shipped, more...) {
		list = append(list, intent.Skill{Name: s.Name, Description: s.Description, Triggers: s.Triggers})
		names = append(names, s.Name)
	}
	if len(names) != 15 {
		t.Fatalf("%d skills", len(names))
	}
	return intent.New(list), names
}

// score is what the reading of a file comes to.
type score struct{ right, wrong, missed, forbidden, ends, wrongEnds, missedEnds int }

func (s score) precision() float64 { return float64(s.right) / float64(max(s.right+s.wrong, 1)) }
func (s score) recall() float64    { return float64(s.right) / float64(max(s.right+s.missed, 1)) }

func measure(t testing.TB, file string, tell func(u utterance, got intent.Intent, wrong, missed []string)) score {
	x, names := index(t)
	var sum score
	for _, u := range corpus(t, file) {
		got := x.Read(u.text, names)
		var have, wrong, missed []string
		for _, w := range got.Wanted {
			have = append(have, w.Skill)
			switch {
			case slices.Contains(u.wants, w.Skill):
				sum.right++
			case !slices.Contains(u.either, w.Skill):
				wrong = append(wrong, w.Skill)
			}
			if slices.Contains(u.forbids, w.Skill) {
				sum.forbidden++
			}
		}
		for _, w := range u.wants {
			if !slices.Contains(have, w) {
				missed = append(missed, w)
			}
		}
		ends := got.Ends && len(got.Wanted) > 0
		switch {
		case ends && u.ends:
			sum.ends++
		case ends:
			sum.wrongEnds++
			wrong = append(wrong, "*")
		case u.ends:
			sum.missedEnds++
			missed = append(missed, "*")
		}
		tell(u, got, wrong, missed)
		sum.wrong += len(slices.DeleteFunc(wrong, func(s string) bool { return s == "*" }))
		sum.missed += len(slices.DeleteFunc(missed, func(s string) bool { return s == "*" }))
	}
	return sum
}

// The figures below which a part of the corpus must not fall. What was reached is in docs/proofs/performance.md.
const leastPrecision, leastRecall = 0.95, 0.95

// TestTrain reads the parts of the corpus on which the rules were made, or judged, and tells every line that is read wrongly.
func TestTrain(t *testing.T) {
	for _, file := range []string{"train.tsv", "more.tsv", "dev2.tsv"} {
		t.Run(file, func(t *testing.T) {
			var lines []string
			s := measure(t, file, func(u utterance, got intent.Intent, wrong, missed []string) {
				if len(wrong)+len(missed) > 0 {
					lines = append(lines, fmt.Sprintf("%s\n    wrong %v, missed %v, %+v", u.text, wrong, missed, got.Wanted))
				}
			})
			s.check(t)
			if t.Failed() || os.Getenv("TELL") != "" {
				t.Log(strings.Join(lines, "\n"))
			}
		})
	}
}

// TestUnseen reads the part of the corpus on which no rule was made. It tells no line of it.
func TestUnseen(t *testing.T) {
	measure(t, "test.tsv", func(utterance, intent.Intent, []string, []string) {}).check(t)
}

// check fails below the least figures. At most one utterance in a hundred may find a skill that it forbids.
func (s score) check(t *testing.T) {
	t.Helper()
	t.Logf("precision %.4f, recall %.4f, %+v", s.precision(), s.recall(), s)
	if s.precision() < leastPrecision || s.recall() < leastRecall || s.forbidden > 3 || s.wrongEnds > 0 || s.missedEnds > 0 {
		t.Errorf("precision %.4f, recall %.4f, %+v", s.precision(), s.recall(), s)
	}
}
