package confidence

import (
	"fmt"
	"time"

	"mycelium/internal/text"
)

// When a worker is stuck.
const (
	silence    = 5 * time.Minute  // without a sign of life and without a call under way: the critical idle alert of row C88
	loopAt     = 5                // repetitions since something new came: the sixth time of the same
	textWeight = 0.5              // of a text that is said again
	lookWeight = 0.5              // of a look at another place that finds the same
	oldWeight  = 0.2              // of what was done before the last new thing
	sameFail   = 10               // times the same failure, although something was changed in between
	slow       = 20 * time.Second // commands that succeed, take half as long on average, and one of them as long, wait for something
	patience   = 30 * time.Minute // and may do so for as long
)

// Judge says what the worker does now, and how confident one can be in it. previous is the score of the last judgement, or [None].
// threshold is the score below which an alert is raised.
func (w *Watch) Judge(now time.Time, previous, threshold int) Judgement {
	j := Judgement{Report: w.report(), Trend: Stable}
	j.Verdict, j.Reason, j.Idle = w.verdict(now)
	if j.Verdict == Waiting && w.limited && w.asks == 0 {
		j.Until = w.until
	}
	j.Activity, j.Output = w.activity(j.Idle), w.output()
	if j.Report == None {
		j.Score = (50*j.Activity + 50*j.Output + 50) / 100
	} else {
		j.Score = (35*j.Activity + 35*j.Report + 30*j.Output + 50) / 100
	}
	j.Level = LevelOf(j.Score)
	switch {
	case previous == None:
	case j.Score > previous+5:
		j.Trend = Improving
	case j.Score < previous-5:
		j.Trend = Declining
	}
	w.alert(&j, threshold)
	return j
}

func (w *Watch) verdict(now time.Time) (v Verdict, reason string, idle time.Duration) {
	switch {
	case w.ended:
		return Ended, "the stream is over", 0
	case w.asks > 0:
		return Waiting, "a question waits for a person", 0
	case w.limited && w.until.IsZero():
		return Waiting, "the provider's limit is hit", 0
	case w.limited && now.Before(w.until):
		return Waiting, "the provider's limit is hit until " + w.until.Format(time.TimeOnly), 0
	}
	idle = w.idle(now)
	if why := w.loop(); why != "" {
		return Stuck, why, idle
	}
	switch {
	case idle > silence && len(w.open) > 0:
		return Stuck, fmt.Sprintf("the call of %s has sent no progress for %v", w.open[0].tool, idle.Round(time.Second)), idle
	case idle > silence:
		return Stuck, fmt.Sprintf("no sign of life for %v, and no call is under way", idle.Round(time.Second)), idle
	case len(w.open) > 0:
		return Working, "a call of " + w.open[len(w.open)-1].tool + " is under way", idle
	}
	return Working, "it goes on", idle
}

// idle is how long the worker has shown no sign of life. A call under way is one, unless it sent progress and does so no more.
func (w *Watch) idle(now time.Time) time.Duration {
	since := w.last
	if w.limited && w.until.After(since) {
		since = w.until
	}
	for _, c := range w.open {
		if c.progress.IsZero() {
			return 0
		}
	}
	if since.IsZero() {
		return 0 // nothing is known, not even when it was started
	}
	return max(now.Sub(since), 0)
}

// loop says which loop the worker is in, if it is in one. A new call under way may be the way out.
func (w *Watch) loop() string {
	if w.fails >= sameFail {
		return fmt.Sprintf("%s has failed %d times in the same way, whatever was changed in between", w.lastTool(), w.fails)
	}
	s := w.since
	if s.weight < loopAt {
		return ""
	}
	for _, c := range w.open {
		if !c.known {
			return ""
		}
	}
	if s.calls > 0 && !s.busy && s.longest >= slow && s.took >= time.Duration(s.calls)*slow/2 && s.took < patience {
		return ""
	}
	if s.calls == 0 {
		return "it repeats itself or fails, and calls no tool"
	}
	return fmt.Sprintf("the last %s repeated what was known", text.Count(s.calls, "call"))
}

// lastTool is the tool of the last completed call that failed.
func (w *Watch) lastTool() string {
	for i := len(w.steps) - 1; i >= 0; i-- {
		if s := w.steps[i]; s.kind == Result && s.failed {
			return s.tool
		}
	}
	return ""
}

// report is the last confidence that the worker reported, or [None].
func (w *Watch) report() int {
	for i := len(w.steps) - 1; i >= 0; i-- {
		if w.steps[i].kind == Report {
			return w.steps[i].score
		}
	}
	return None
}

// activity is the score of the tools (row C87): 70, +5 for each healthy cycle (a look, a change and a command that succeeds), -10 for
// each loop, +3 for each failure that was overcome, and -5 for each idle minute, 20 at most.
func (w *Watch) activity(idle time.Duration) int {
	score, at := 70, Other
	for _, s := range w.steps {
		if s.loops {
			score -= 10
		}
		if s.kind != Result {
			continue
		}
		if s.overcame {
			score += 3
		}
		switch {
		case s.act == Look && at == Other, s.act == Change && at == Look && !s.failed:
			at = s.act
		case s.act == Run && at == Change && !s.failed:
			score += 5
			at = Other
		}
	}
	return clamp(score - min(5*int(idle/time.Minute), 20))
}

// output is the score of what the worker says (row C87): 70, +5 for each success, +20 once for completion, -5 for each error or
// repeated failure, 30 at most, -3 for each retry and -15 for each frustration.
func (w *Watch) output() int {
	score, complete := 70, 0
	for _, s := range w.steps {
		if s.text.has(success) {
			score += 5
		}
		if s.text.has(completion) {
			complete = 20
		}
		if s.text.has(retry) {
			score -= 3
		}
		if s.text.has(frustration) {
			score -= 15
		}
	}
	return clamp(score + complete - min(5*w.errors(), 30))
}

// errors counts the errors, and the failures that repeat one: a test that fails in a new way is none.
func (w *Watch) errors() int {
	n := 0
	for _, s := range w.steps {
		if s.kind == Error || s.refails {
			n++
		}
	}
	return n
}

func clamp(n int) int { return min(max(n, 0), 100) }

// alert adds the alerts of row C88.
func (w *Watch) alert(j *Judgement, threshold int) {
	add := func(kind string, critical bool, format string, args ...any) {
		j.Alerts = append(j.Alerts, Alert{kind, critical, fmt.Sprintf(format, args...)})
	}
	loops := 0
	for _, s := range w.steps {
		if s.loops {
			loops++
		}
	}
	if j.Idle > 3*time.Minute {
		add("idle", j.Idle > silence, "no sign of life for %v", j.Idle.Round(time.Second))
	}
	if loops > 0 {
		add("stuck_loop", loops > 2, "%s in the last %s", text.Count(loops, "loop"), text.Count(len(w.steps), "step"))
	}
	if n := w.errors(); n > 3 {
		add("high_errors", n > 5, "%s in the last %s", text.Count(n, "error"), text.Count(len(w.steps), "step"))
	}
	if j.Report != None && j.Report < 30 {
		add("self_reported_low", j.Report < 15, "the worker reports a confidence of %d", j.Report)
	}
	if j.Trend == Declining {
		add("declining_trend", j.Score < 40, "the score has fallen to %d", j.Score)
	}
	if j.Score < threshold {
		add("threshold", j.Score < 20, "the score %d is below the threshold of %d", j.Score, threshold)
	}
}
