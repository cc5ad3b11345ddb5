package confidence

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"
)

// judge plays the steps of a stream and judges its end.
func judge(t testing.TB, steps string, previous int) Judgement {
	t.Helper()
	var w Watch
	return w.Judge(play(t, stream{body: steps}, w.Add), previous, Threshold)
}

// TestScore: the parts of the score and their weights (rows C87 and CT1).
func TestScore(t *testing.T) {
	for _, c := range []struct {
		name, steps                     string
		activity, output, report, score int
	}{
		{"nothing yet", ``, 70, 70, None, 70},
		{"a healthy cycle", `Read(a)=1 Edit(a)=ok Bash(t)=ok`, 75, 70, None, 73},
		{"two healthy cycles", `2x{ Read(a#)=# Edit(a#)=ok Bash(t#)=ok# }`, 80, 70, None, 75},
		{"a cycle needs its order", `Bash(t)=ok Edit(a)=ok Read(a)=1`, 70, 70, None, 70},
		{"a loop", `6x{ Bash(t)=same }`, 60, 70, None, 65},
		{"a recovery", `Bash(t)!bad Bash(t)=ok`, 73, 70, None, 72},
		{"idle for a minute", `Read(a)=1 +60`, 65, 70, None, 68},
		{"idle for an hour", `Read(a)=1 +3600`, 50, 70, None, 60},
		{"a call under way is not idle", `Read(a)=1 Bash(t)~ +3600`, 70, 70, None, 70},
		{"waiting is not idle", `Read(a)=1 L +3600`, 70, 70, None, 70},
		{"success", `"All tests pass."`, 70, 75, None, 73},
		{"completion counts once", `"All done." "The task is complete."`, 70, 90, None, 80},
		{"success and completion", `"The tests pass and the task is done."`, 70, 95, None, 83},
		{"errors", `E"a" E"b"`, 70, 60, None, 65},
		{"errors have a limit", `Bash(t)=ok 9x{ E"a#" }`, 60, 40, None, 50},
		{"a retry", `"I will try again."`, 70, 67, None, 69},
		{"frustration", `"It still fails."`, 70, 55, None, 63},
		{"frustration in Japanese", `"まだ失敗します。"`, 70, 55, None, 63},
		{"failures that are new are no errors", `4x{ Bash(t)!f# }`, 70, 70, None, 70},
		{"failures that repeat are", `3x{ Bash(t)!f }`, 70, 60, None, 65},
		{"a report", `@90`, 70, 70, 90, 77},
		{"the last report", `@90 @10`, 70, 70, 10, 49},
		{"a report too high", `@900`, 70, 70, 100, 81},
		{"a report too low", `@-5`, 70, 70, 0, 46},
		{"never above 100", `12x{ "All tests pass." }`, 60, 100, None, 80},
		{"never below 0", `9x{ "It still fails #." }`, 70, 0, None, 35},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := judge(t, c.steps, None)
			if j.Activity != c.activity || j.Output != c.output || j.Report != c.report || j.Score != c.score {
				t.Errorf("activity %d, output %d, report %d, score %d, want %d %d %d %d", j.Activity, j.Output, j.Report, j.Score,
					c.activity, c.output, c.report, c.score)
			}
		})
	}
}

// TestScoreWindow: what lies more than a hundred steps back does not count.
func TestScoreWindow(t *testing.T) {
	if j := judge(t, `@5 "All done." `+`99x{ Read(a#)=# }`, None); j.Report != None || j.Output != 90 {
		t.Errorf("after 101 steps: report %d, output %d, want the report gone and the text still there", j.Report, j.Output)
	}
	if j := judge(t, `@5 "All done." `+`100x{ Read(a#)=# }`, None); j.Output != 70 {
		t.Errorf("after 102 steps: output %d, want 70", j.Output)
	}
}

func TestTrend(t *testing.T) {
	for previous, want := range map[int]Trend{None: Stable, 70: Stable, 65: Stable, 64: Improving, 75: Stable, 76: Declining} {
		if j := judge(t, ``, previous); j.Trend != want {
			t.Errorf("70 after %d is %s, want %s", previous, j.Trend, want)
		}
	}
}

func TestLevels(t *testing.T) {
	for score, want := range map[int]Level{100: "high", 80: "high", 79: "medium", 50: "medium", 49: "low", 25: "low", 24: "critical",
		0: "critical"} {
		if got := LevelOf(score); got != want {
			t.Errorf("%d is %s, want %s", score, got, want)
		}
	}
}

// TestAlerts: each alert of row C88, at its thresholds.
func TestAlerts(t *testing.T) {
	for _, c := range []struct {
		steps    string
		previous int
		want     string
	}{
		{`Read(a)=1 +180`, None, ""},
		{`Read(a)=1 +181`, None, "idle"},
		{`Read(a)=1 +300`, None, "idle"},
		{`Read(a)=1 +301`, None, "idle!"},
		{`5x{ Bash(t)=same }`, None, ""},
		{`6x{ Bash(t)=same }`, None, "stuck_loop"},
		{`16x{ Bash(t)=same }`, None, "stuck_loop!"},
		{`3x{ E"a" }`, None, ""},
		{`4x{ E"a" }`, None, "high_errors"},
		{`5x{ E"a" }`, None, "stuck_loop high_errors"},
		{`6x{ E"a" }`, None, "stuck_loop high_errors!"},
		{`@30`, None, ""},
		{`@29`, None, "self_reported_low"},
		{`@14`, None, "self_reported_low!"},
		{``, 76, "declining_trend"},
		{`9x{ "It still fails #." }`, 70, "declining_trend!"},
		{`@0 9x{ "It still fails #." }`, None, "self_reported_low! threshold"},
		{`@0 16x{ Bash(t)!same } 4x{ "It still fails #." }`, None, "stuck_loop! high_errors! self_reported_low! threshold!"},
	} {
		var got []string
		for _, a := range judge(t, c.steps, c.previous).Alerts {
			if a.Message == "" {
				t.Errorf("%s: the alert %s says nothing", c.steps, a.Kind)
			}
			if a.Critical {
				a.Kind += "!"
			}
			got = append(got, a.Kind)
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s: alerts %q, want %q", c.steps, g, c.want)
		}
	}
	var w Watch
	if j := w.Judge(play(t, stream{body: ``}, w.Add), None, 71); len(j.Alerts) != 1 || j.Alerts[0].Kind != "threshold" {
		t.Errorf("a score of 70 below a threshold of 71: %v", j.Alerts)
	}
}

// TestSamePytest: a test with new results is progress, and one whose results differ in what tells nothing is a loop.
func TestSamePytest(t *testing.T) {
	for _, c := range []struct {
		result string
		want   Verdict
	}{
		{"FAILED test_a.py::test_%d - assert\n1 failed in 0.12s", Working},
		{"%d failed, 3 passed in 0.12s", Working},
		{"1 failed in 0.%ds", Stuck},
		{"1 failed in 3.%d seconds", Stuck},
		{"ok  	example.org/a	1.%ds", Stuck},
		{"2026-11-26T09:00:%d1Z error: no such column", Stuck},
		{"panic at 0xc0000%d", Stuck},
		{"cannot open /tmp/go-build%d/b001", Stuck},
		{"main.go:%d: undefined: x", Working},
	} {
		var w Watch
		at := epoch
		for i := range 8 {
			at = at.Add(3 * time.Second)
			w.Add(Event{At: at, Kind: Result, Tool: "agent__Bash", Act: Run, Args: "pytest", Failed: true, Result: fmt.Sprintf(c.result, i+1)})
		}
		if j := w.Judge(at, None, Threshold); j.Verdict != c.want {
			t.Errorf("%q: %s (%s), want %s", c.result, j.Verdict, j.Reason, c.want)
		}
	}
}

// TestReported: what a worker says about its own confidence (row CT1).
func TestReported(t *testing.T) {
	for s, want := range map[string]int{
		"":                           None,
		"I have confidence.":         None,
		"Confidence: 80":             80,
		"Done.\n**Confidence:** 75%": 75,
		"- confidence:  60/100 ":     60,
		"Confidence: 10\nand now\nConfidence: 90.": 90,
		"Confidence: -5":                0,
		"Confidence: 200":               100,
		"Confidence: high":              None,
		"Confidence: NaN":               None,
		"Confidence: 1e99":              100,
		"自信：４０":                         None,
		"自信：40":                         40,
		"Overall confidence: 5 of ten":  None,
		"confidence: 55\nconfidence: ?": 55,
	} {
		if got := reported(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
	if j := judge(t, `"Confidence: 12"`, None); j.Report != 12 {
		t.Errorf("a report in a text: %d", j.Report)
	}
}

// TestWayOut: in a loop, a call that is new is given its time, and one more of the same is not.
func TestWayOut(t *testing.T) {
	for call, want := range map[string]Verdict{`Task(read_the_log)~ +900`: Working, `Bash(t)~ +2`: Stuck} {
		if j := judge(t, `9x{ Bash(t)!same } `+call, None); j.Verdict != want {
			t.Errorf("%s: %s (%s), want %s", call, j.Verdict, j.Reason, want)
		}
	}
}

// TestLongResult: of a long result the beginning and the end are compared, so a flood costs little.
func TestLongResult(t *testing.T) {
	for where, same := range map[int]bool{0: false, maxResult: true, 2*maxResult - 1: false} {
		long := strings.Repeat("x", 2*maxResult)
		if other := long[:where] + "y" + long[where+1:]; (stable(long) == stable(other)) != same {
			t.Errorf("a difference at %d: the same is %v", where, !same)
		}
	}
}

// TestTold: after a message the worker has as long as at its start, whatever it did before.
func TestTold(t *testing.T) {
	var w Watch
	now := play(t, stream{body: `30x{ Bash(t)!same }`}, w.Add)
	if j := w.Judge(now, None, Threshold); j.Verdict != Stuck {
		t.Fatalf("after thirty failures: %s", j.Verdict)
	}
	w.Add(Event{At: now, Kind: Told})
	for i := range 5 {
		now = now.Add(time.Second)
		w.Add(Event{At: now, Kind: Result, Tool: "Bash", Act: Run, Args: "t", Result: "same", Failed: true})
		if j := w.Judge(now, None, Threshold); j.Verdict != Working {
			t.Fatalf("failure %d after the message: %s (%s)", i+1, j.Verdict, j.Reason)
		}
	}
	now = now.Add(time.Second)
	w.Add(Event{At: now, Kind: Result, Tool: "Bash", Act: Run, Args: "t", Result: "same", Failed: true})
	if j := w.Judge(now, None, Threshold); j.Verdict != Stuck {
		t.Fatalf("failure 6 after the message: %s", j.Verdict)
	}
}

// TestWaitingUntil: the end of a limit is told, and a text about the limit does not end it.
func TestWaitingUntil(t *testing.T) {
	j := judge(t, `Read(a)=1 L+900 "You have hit your limit." +400`, None)
	if j.Verdict != Waiting || !j.Until.Equal(epoch.Add(903*time.Second)) {
		t.Errorf("%s until %v (%s)", j.Verdict, j.Until, j.Reason)
	}
	if j := judge(t, `Read(a)=1 L+900 Read(b)=2`, None); j.Verdict != Working || !j.Until.IsZero() {
		t.Errorf("after a call: %s until %v", j.Verdict, j.Until)
	}
}

// TestJudgeLaws: whatever comes, the scores stay within 0 and 100, judging changes nothing, a call under way that never sent progress
// is never stuck for its silence, and the memory of a watch has a limit.
func TestJudgeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w Watch
		now := epoch
		word := rapid.SampledFrom([]string{"", "a", "b", "done.", "try again", "完了"})
		for range rapid.IntRange(0, 250).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "gap")) * time.Second)
			w.Add(Event{At: now, Kind: Kind(rapid.Uint8Range(0, 13).Draw(t, "kind")), ID: word.Draw(t, "id"), Tool: word.Draw(t, "tool"),
				Act: Act(rapid.Uint8Range(0, 3).Draw(t, "act")), Args: word.Draw(t, "args"), Result: word.Draw(t, "result"),
				Failed: rapid.Bool().Draw(t, "failed"), Text: word.Draw(t, "text"), Score: rapid.Int().Draw(t, "score"), Until: now.Add(time.Minute)})
		}
		previous := rapid.IntRange(None, 100).Draw(t, "previous")
		j, again := w.Judge(now, previous, Threshold), w.Judge(now, previous, Threshold)
		if fmt.Sprint(j) != fmt.Sprint(again) {
			t.Fatalf("judged twice: %v, then %v", j, again)
		}
		for _, score := range []int{j.Score, j.Activity, j.Output} {
			if score < 0 || score > 100 {
				t.Fatalf("score out of range: %+v", j)
			}
		}
		if j.Reason == "" || j.Level != LevelOf(j.Score) || j.Idle < 0 {
			t.Fatalf("%+v", j)
		}
		if len(w.steps) > window || len(w.open) > maxOpen {
			t.Fatalf("%d steps and %d calls are remembered", len(w.steps), len(w.open))
		}
		w.Add(Event{At: now, Kind: Start})
		w.Add(Event{At: now, Kind: Call, ID: "new", Tool: "Bash", Args: "never seen"})
		if j := w.Judge(now.Add(100*time.Hour), None, Threshold); j.Verdict != Working {
			t.Fatalf("a call under way: %s (%s)", j.Verdict, j.Reason)
		}
	})
}

// FuzzStable: what is removed from a result is removed whole, so nothing is left to remove.
func FuzzStable(f *testing.F) {
	for _, s := range []string{"1 failed in 0.12s", "12:30:01 x", "2026-11-26T12:30:00Z", "0xc000012345", "/tmp/x/y:12", "1m30s", "3 s",
		"試験 2 秒",
		"\xff\xfe", "0.1.2.3 seconds", strings.Repeat("1", 99)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := stable(s)
		if len(once) > len(s) {
			t.Fatalf("%q grew to %q", s, once)
		}
		if again := stable(once); again != once {
			t.Fatalf("%q became %q, and then %q", s, once, again)
		}
		signsOf(s)
		if n := reported(s); n < None || n > 100 {
			t.Fatalf("%q reports %d", s, n)
		}
	})
}

// A judgement is a part of what commands print for programs.
func TestJudgementAsJSON(t *testing.T) {
	if b, err := json.Marshal(Judgement{Score: 70, Idle: 90 * time.Second}); err != nil || !strings.Contains(string(b), `"score":70`) {
		t.Errorf("%s %v", b, err)
	}
}
