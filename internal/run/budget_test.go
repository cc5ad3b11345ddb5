package run

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mycelium/internal/harness"
)

// cents prices every output token at a cent, so that sums are readable. The price of model "?" is unknown.
func cents(u harness.Usage) (float64, bool) { return float64(u.Output) / 100, u.Model != "?" }

// spent returns a line of a transcript: a message that costs so many cents.
func spent(id string, cents int, more ...string) string {
	request, model, at := "", "claude-opus-4-8", "2026-11-22T10:00:00.000Z"
	for _, m := range more {
		switch k, v, _ := strings.Cut(m, "="); k {
		case "request":
			request = fmt.Sprintf(`"requestId":%q,`, v)
		case "model":
			model = v
		case "at":
			at = v
		}
	}
	return fmt.Sprintf(`{"type":"assistant",%s"timestamp":%q,"message":{"id":%q,"model":%q,"usage":{"input_tokens":3,"output_tokens":%d}}}`,
		request, at, id, model, cents) + "\n"
}

// world is a folder with transcripts, a clock, and a budget over both.
type budgetWorld struct {
	t    *testing.T
	dir  string
	now  time.Time
	lim  Limits
	logs bytes.Buffer
	*Budget
}

func newBudgetWorld(t *testing.T, l Limits) *budgetWorld {
	w := &budgetWorld{t: t, dir: t.TempDir(), now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), lim: l}
	w.restart()
	return w
}

// restart starts a new process over the same files.
func (w *budgetWorld) restart() {
	w.Budget = NewBudget(BudgetOptions{Limits: func() Limits { return w.lim }, Price: cents, Dir: filepath.Join(w.dir, "costs"),
		Now: func() time.Time { return w.now }, Logger: slog.New(slog.NewTextHandler(&w.logs, nil))})
}

func (w *budgetWorld) path(name string) string { return filepath.Join(w.dir, name+".jsonl") }

// add appends to a transcript.
func (w *budgetWorld) add(name string, text ...string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(w.path(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.WriteString(f, strings.Join(text, "")); err != nil {
		w.t.Fatal(err)
	}
}

// want checks a session and compares the result.
func (w *budgetWorld) want(session string, usd, total float64, warn, stop string) {
	w.t.Helper()
	s := w.Check(session, harness.Transcript(w.path(session)))
	if math.Abs(s.USD-usd) > 1e-9 || math.Abs(s.Total-total) > 1e-9 || (s.Warn != "") != (warn != "") || !strings.Contains(s.Warn, warn) ||
		(s.Stop != "") != (stop != "") || !strings.Contains(s.Stop, stop) {
		w.t.Errorf("%s: %+v, want $%v of $%v, warn %q, stop %q", session, s, usd, total, warn, stop)
	}
}

func TestBudgetOfASession(t *testing.T) {
	w := newBudgetWorld(t, Limits{Session: 5})
	// no transcript yet
	w.want("a", 0, 0, "", "")
	// one message, three blocks
	w.add("a", `{"type":"user","message":{"content":"a \"usage\" of words"}}`+"\n", spent("m1", 100), spent("m1", 100), spent("m1", 100))
	w.want("a", 1, 1, "", "")
	half := spent("m2", 290)
	w.add("a", half[:40])
	w.want("a", 1, 1, "", "") // an incomplete line
	w.add("a", half[40:])
	w.want("a", 3.9, 3.9, "", "")
	w.add("a/subagents/agent-1", spent("m1", 20)) // another message, because its file is another
	w.want("a", 4.1, 4.1, "$4.10 of its $5.00", "")
	w.want("a", 4.1, 4.1, "", "") // warned once
	w.add("a", spent("m3", 90))
	w.want("a", 5, 5, "", "$5.00 of $5.00")
	w.want("a", 5, 5, "", "Stop here")
	w.want("b", 0, 5, "", "") // another session has its own budget
	w.lim.Session = 0
	w.want("a", 5, 5, "", "")
	if usd, total := w.Spent("a"); usd != 5 || total != 5 {
		t.Errorf("%v %v", usd, total)
	}
}

// The calls of one answer more than the bound are refused (E2). The lines of one answer count once, and those of a subagent do not count.
func TestTurnsOfASession(t *testing.T) {
	w := newBudgetWorld(t, Limits{Turns: 2})
	w.add("a", spent("m1", 1), spent("m1", 2))
	w.add("a/subagents/agent-1", spent("c1", 1), spent("c2", 1))
	w.want("a", 0.04, 0.04, "", "")
	w.add("a", spent("m2", 1))
	w.want("a", 0.05, 0.05, "", "") // the last turn may use its tools
	w.add("a", spent("m3", 1))
	w.want("a", 0.06, 0.06, "", "This session has used up its 2 turns")
}

func TestBudgetOfADayOutlivesTheProcess(t *testing.T) {
	w := newBudgetWorld(t, Limits{Total: 10, Warn: 0.5})
	w.add("old", spent("m0", 700, "at=2026-11-21T10:00:00Z"))
	w.want("old", 7, 0, "", "") // spent yesterday
	w.add("a", spent("m1", 400))
	w.add("b", spent("m1", 200))
	w.want("a", 4, 4, "", "")
	w.want("b", 2, 6, "All sessions have used $6.00 of today's $10.00", "")
	w.Forget("a")
	w.restart()
	w.want("b", 2, 6, "All sessions", "") // the sum of the ended session a is kept; people are warned again
	w.add("b", spent("m2", 400))
	w.want("b", 6, 10, "", "$10.00 of $10.00")
	w.want("c", 0, 10, "", "The budget of today is used up")
	w.now = w.now.Add(12*time.Hour + time.Second)
	w.want("b", 6, 0, "", "") // a new day
	w.add("b", spent("m3", 100, "at=2026-11-23T00:00:01Z"), spent("m4", 100, "at=2027-01-01T00:00:00Z"), spent("m5", 100, "at=never"))
	w.want("b", 9, 3, "", "") // a time in the future, or no time, counts as today
	entries, err := os.ReadDir(filepath.Join(w.dir, "costs"))
	if err != nil || len(entries) != 2 || entries[0].Name() != "agents-2026-11-22.json" {
		t.Errorf("%v %v", entries, err)
	}
}

func TestUnreadableSumsRestart(t *testing.T) {
	for _, text := range []string{"{", "[]", `{"a":-5}`, `{"a":"x"}`, "null", ""} {
		w := newBudgetWorld(t, Limits{Total: 10})
		if err := os.MkdirAll(filepath.Join(w.dir, "costs"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.dir, "costs", "agents-2026-11-22.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w.add("a", spent("m1", 100))
		w.want("a", 1, 1, "", "")
		if text != "null" && !strings.Contains(w.logs.String(), "the count restarts") {
			t.Errorf("%q is not reported", text)
		}
	}
}

// Changes of an agent to its transcript do not lower the sum.
func TestATranscriptThatIsTamperedWith(t *testing.T) {
	w := newBudgetWorld(t, Limits{Session: 5})
	w.add("a", spent("m1", 300), spent("m2", 100))
	w.want("a", 4, 4, "$4.00", "")
	if err := os.WriteFile(w.path("a"), []byte(spent("m1", 300)), 0o644); err != nil { // truncated
		t.Fatal(err)
	}
	w.want("a", 4, 4, "", "")
	w.add("a", spent("m3", 200), spent("m3", -9999))
	w.want("a", 6, 6, "", "used up")
	w.lim.Session = 50
	w.want("a", 6, 6, "", "")
	if err := os.Remove(w.path("a")); err != nil {
		t.Fatal(err)
	}
	w.want("a", 6, 6, "", "the transcript is gone")
	w.lim = Limits{}
	w.want("a", 6, 6, "", "") // without limits there is no warning
	w.lim = Limits{Total: 100}
	w.add("d/subagents/agent-1", spent("m1", 100))
	w.want("d", 1, 7, "", "")
	if err := os.Remove(w.path("d/subagents/agent-1")); err != nil {
		t.Fatal(err)
	}
	w.want("d", 1, 7, "", "gone")
	if err := os.Mkdir(w.path("e"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.want("e", 0, 7, "", "not a regular file")
}

// A resumed session begins with a copy of the earlier transcript.
func TestCopiesAreCountedOnce(t *testing.T) {
	w := newBudgetWorld(t, Limits{Total: 100})
	w.add("a", spent("m1", 300, "request=r1"), spent("m1", 300, "request=r1"))
	w.want("a", 3, 3, "", "")
	w.add("b", spent("m1", 300, "request=r1"), spent("m2", 50, "request=r2"), spent("m2", 70, "request=r2"))
	w.want("b", 0.7, 3.7, "", "") // the later line of m2 has more tokens
	w.Forget("b")
	w.want("b", 0.7, 3.7, "", "") // resumed under its own id
}

func TestAModelWithoutAPriceIsSaid(t *testing.T) {
	w := newBudgetWorld(t, Limits{Session: 1})
	w.add("a", spent("m1", 100, "model=?"), spent("s", 0, "model=<synthetic>"))
	s := w.Check("a", harness.Transcript(w.path("a")))
	if !s.Guessed || !strings.Contains(s.Stop, "the price of a model is not known") {
		t.Errorf("%+v", s)
	}
}

// A transcript of Claude Code 2.1.197 with two subagents, one of which is kept here.
func TestARealTranscript(t *testing.T) {
	b := NewBudget(BudgetOptions{Limits: func() Limits { return Limits{} }, Price: func(u harness.Usage) (float64, bool) {
		if u.Model != "claude-opus-4-8" {
			t.Errorf("model %q", u.Model)
		}
		return (float64(u.Input)*5 + float64(u.Output)*25 + float64(u.CacheRead)*0.5 + float64(u.CacheWrite)*6.25) / 1e6, true
	}})
	s := b.Check("s", harness.Transcript(filepath.Join("testdata", "transcript", "session.jsonl")))
	if want := 2 * (0.014 + 0.000605 + 0.000055); math.Abs(s.USD-want) > 1e-12 || s.Stop != "" {
		t.Errorf("%+v, want $%v", s, want)
	}
}

// The sum does not depend on how the transcript is split into writes, nor on how often it is read, and it never decreases.
func TestReadingInPiecesChangesNothing(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		var text strings.Builder
		want := map[int]int{}
		for i := range rapid.IntRange(0, 12).Draw(t, "lines") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				text.WriteString(rapid.SampledFrom([]string{"\n", "{}\n", `{"usage":1}` + "\n", `"usage"` + "\n", strings.Repeat("x", 300_000) +
					"\n"}).Draw(t, "noise"))
			default:
				id, c := rapid.IntRange(0, 4).Draw(t, "id"), rapid.IntRange(0, 500).Draw(t, "cents")
				text.WriteString(spent(fmt.Sprint("m", id), c))
				want[id] = max(want[id], c)
			}
			_ = i
		}
		path := filepath.Join(dir, fmt.Sprint(n, ".jsonl"))
		b := NewBudget(BudgetOptions{Limits: func() Limits { return Limits{} }, Price: cents})
		before := 0.0
		for left := text.String(); left != ""; {
			k := rapid.IntRange(1, len(left)).Draw(t, "piece")
			f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(f, left[:k])
			f.Close()
			left = left[k:]
			s := b.Check("s", harness.Transcript(path))
			if s.USD < before {
				t.Fatalf("it fell from %v to %v", before, s.USD)
			}
			before = s.USD
		}
		sum := 0
		for _, c := range want {
			sum += c
		}
		if math.Abs(before-float64(sum)/100) > 1e-9 {
			t.Fatalf("%v, want %v", before, float64(sum)/100)
		}
	})
}

func FuzzUsage(f *testing.F) {
	f.Add([]byte(spent("m1", 100, "request=r")))
	f.Add([]byte(`{"type":"assistant","message":{"usage":{}}}`))
	f.Add([]byte(`{"type":"assistant","message":{"id":"x","usage":{"output_tokens":-1,"speed":"fast"}}}`))
	recorded, err := os.ReadFile(filepath.Join("testdata", "transcript", "session.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(recorded) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		s, ok, err := harness.ParseUsage(line)
		if ok && (err != nil || s.Message == "") || !ok && s != (harness.UsageLine{}) {
			t.Fatalf("%+v %v %v", s, ok, err)
		}
		if u := s.Usage; u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.CacheWriteHour < 0 || u.Searches < 0 {
			t.Fatalf("%+v", u)
		}
	})
}

func TestDenialsInARow(t *testing.T) {
	alert, end := 3, 5
	d := &Denials{Limits: func() (int, int) { return alert, end }}
	want := func(key string, allowed bool, row int, advice, halt bool, tell string) {
		t.Helper()
		s := d.Decided(key, allowed)
		if s.Length != row || (s.Advice != "") != advice || (s.Halt != "") != halt || (s.Tell != "") != (tell != "") ||
			!strings.Contains(s.Tell, tell) {
			t.Errorf("%+v, want row %d, advice %v, halt %v, tell %q", s, row, advice, halt, tell)
		}
	}
	want("a", false, 1, false, false, "")
	want("a", false, 2, false, false, "")
	want("b", false, 1, false, false, "") // another session
	want("a", false, 3, true, false, "3 calls in a row were refused")
	want("a", false, 4, true, false, "") // people are notified once
	want("a", true, 0, false, false, "")
	for i := range 4 {
		s := d.Decided("a", false)
		if s.Length != i+1 || s.Halt != "" {
			t.Errorf("%+v", s)
		}
	}
	want("a", false, 5, true, true, "the session was ended")
	want("a", false, 6, true, true, "")
	d.Forget("a")
	want("a", false, 1, false, false, "")
	alert, end = 0, 0 // off
	for range 20 {
		want("a", false, d.rows["a"]+1, false, false, "")
	}
	alert, end = 0, 2
	want("c", false, 1, false, false, "")
	want("c", false, 2, false, true, "ended")
	if s := (&Denials{}).Decided("x", false); s != (Row{}) {
		t.Errorf("the zero value: %+v", s)
	}
}

// TestCosts: the sums of a day say what each session cost with each model, also those that an earlier version kept as numbers.
func TestCosts(t *testing.T) {
	w := newBudgetWorld(t, Limits{})
	dir := filepath.Join(w.dir, "costs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "agents-2026-11-21.json"), []byte(`{"claude old":1.5}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w.add("claude a", spent("m1", 400), spent("m2", 100, "model=claude-haiku-4-5"), spent("m2", 150, "model=claude-haiku-4-5"))
	w.add("codex b", spent("m3", 200))
	w.want("claude a", 5.5, 5.5, "", "")
	w.want("codex b", 2, 7.5, "", "")
	w.restart()
	w.add("claude a", spent("m4", 100))
	w.want("claude a", 6.5, 8.5, "", "")
	if today, err := CostOn(dir, w.now); err != nil || today != 8.5 {
		t.Errorf("today: %v %v", today, err)
	}
	opus, haiku := "claude-opus-4-8", "claude-haiku-4-5"
	all := map[Cost]bool{{"claude", "a", opus, 5}: true, {"claude", "a", haiku, 1.5}: true, {"codex", "b", opus, 2}: true,
		{"claude", "old", "", 1.5}: true}
	for since, n := range map[time.Time]int{w.now.AddDate(0, 0, -1): 4, w.now: 3, w.now.AddDate(0, 0, 1): 0} {
		got, err := Costs(dir, since)
		if err != nil || len(got) != n {
			t.Errorf("since %v: %v %v", since, got, err)
		}
		for _, c := range got {
			if !all[c] {
				t.Errorf("since %v: %+v", since, c)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "agents-2026-11-20.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Costs(dir, w.now.AddDate(0, 0, -2)); err == nil || !strings.Contains(err.Error(), "agents-2026-11-20.json") {
		t.Errorf("a broken file: %v", err)
	}
}
