package confidence

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// stream is one labelled stream of testdata/streams.txt, whose head describes the form.
type stream struct {
	number int
	name   string
	label  Verdict
	body   string
}

// half is the part of the streams that a stream belongs to.
func (s stream) half() string {
	switch {
	case s.number > 134:
		return "last"
	case s.number > 90:
		return "later"
	case s.number%2 == 0:
		return "held out"
	}
	return "tuning"
}

func readStreams(t testing.TB) []stream {
	t.Helper()
	var data []byte
	for _, file := range []string{"testdata/streams.txt", "testdata/later.txt", "testdata/last.txt"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, b...)
	}
	var out []stream
	for line := range strings.Lines(string(data)) {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "== "):
			f := strings.Fields(line)
			if len(f) != 4 {
				t.Fatalf("%q: want == NUMBER NAME LABEL", line)
			}
			n, err := strconv.Atoi(f[1])
			if err != nil || n != len(out)+1 {
				t.Fatalf("%q: the next number is %d", line, len(out)+1)
			}
			out = append(out, stream{number: n, name: f[2], label: Verdict(f[3])})
		case len(out) > 0:
			out[len(out)-1].body += line
		}
	}
	return out
}

var epoch = time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)

// player makes events from the steps of a stream. visit is called for each.
type player struct {
	t     testing.TB
	at    time.Time
	gap   time.Duration
	open  []string
	calls int
	visit func(Event)
}

// play gives the events of a stream to visit and returns the time of the verdict.
func play(t testing.TB, s stream, visit func(Event)) time.Time {
	t.Helper()
	p := &player{t: t, at: epoch, gap: time.Second, visit: visit}
	visit(Event{At: p.at, Kind: Start})
	p.steps(s.body, "", "")
	if p.gap != time.Second {
		p.at = p.at.Add(p.gap)
	}
	return p.at
}

// next cuts one step off.
func next(s string) (step, rest string) {
	s = strings.TrimSpace(s)
	quoted := false
	for i, r := range s {
		if r == '"' {
			quoted = !quoted
		}
		if !quoted && (r == ' ' || r == '\n') {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

func (p *player) steps(s, round, outer string) {
	for {
		step, rest := next(s)
		if step == "" {
			return
		}
		if n, ok := strings.CutSuffix(step, "x{"); ok {
			count, err := strconv.Atoi(n)
			if err != nil {
				p.t.Fatalf("%q: %v", step, err)
			}
			depth, end := 1, 0
			for i, r := range rest {
				switch r {
				case '{':
					depth++
				case '}':
					depth--
				}
				if depth == 0 {
					end = i
					break
				}
			}
			for i := range count {
				p.steps(rest[:end], strconv.Itoa(i), round)
			}
			s = rest[end+1:]
			continue
		}
		s = rest
		p.step(strings.ReplaceAll(strings.ReplaceAll(step, "#", round), "&", outer))
	}
}

func (p *player) emit(e Event) {
	p.at = p.at.Add(p.gap)
	p.gap = time.Second
	e.At = p.at
	p.visit(e)
}

func seconds(t testing.TB, s string) time.Duration {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%q is no number of seconds", s)
	}
	return time.Duration(n) * time.Second
}

func (p *player) step(step string) {
	switch {
	case step == "|": // see outcome
	case step == ".":
		p.emit(Event{Kind: Progress, ID: p.open[len(p.open)-1]})
	case step == "?":
		p.emit(Event{Kind: Question})
	case step == "!?":
		p.emit(Event{Kind: Answer})
	case step == "$":
		p.emit(Event{Kind: End})
	case step == "L":
		p.emit(Event{Kind: Limit})
	case strings.HasPrefix(step, "L+"):
		p.emit(Event{Kind: Limit, Until: p.at.Add(p.gap).Add(seconds(p.t, step[2:]))})
	case strings.HasPrefix(step, "+"):
		p.gap = seconds(p.t, step[1:])
	case strings.HasPrefix(step, "@"):
		n, _ := strconv.Atoi(step[1:])
		p.emit(Event{Kind: Report, Score: n})
	case strings.HasPrefix(step, `"`):
		p.emit(Event{Kind: Text, Text: strings.Trim(step, `"`)})
	case strings.HasPrefix(step, `E"`):
		p.emit(Event{Kind: Error, Text: strings.Trim(step[1:], `"`)})
	case strings.HasPrefix(step, "="), strings.HasPrefix(step, "!"):
		id := p.open[0]
		p.open = p.open[1:]
		p.emit(Event{Kind: Result, ID: id, Result: step[1:], Failed: step[0] == '!'})
	default:
		p.call(step)
	}
}

func actOf(tool string) Act {
	switch tool {
	case "Read", "Grep", "Glob", "LS", "WebFetch":
		return Look
	case "Edit", "Write":
		return Change
	case "Bash":
		return Run
	}
	return Other
}

func (p *player) call(step string) {
	tool, rest, ok1 := strings.Cut(step, "(")
	args, rest, ok2 := strings.Cut(rest, ")")
	if !ok1 || !ok2 || rest == "" {
		p.t.Fatalf("%q is no step", step)
	}
	p.calls++
	id := fmt.Sprintf("call_%d", p.calls)
	p.emit(Event{Kind: Call, ID: id, Tool: tool, Act: actOf(tool), Args: args})
	if rest == "~" {
		p.open = append(p.open, id)
		return
	}
	result, took, timed := strings.Cut(rest[1:], "/")
	if timed {
		p.gap = seconds(p.t, took)
	}
	p.emit(Event{Kind: Result, ID: id, Result: strings.ReplaceAll(result, "_", " "), Failed: rest[0] == '!'})
}

// outcome is what the detector says of a stream: its verdict at the end, and when it called a stream stuck that is not.
func outcome(t testing.TB, s stream) (end Judgement, alarm string) {
	var w Watch
	judged := func(at time.Time, where string) {
		if j := w.Judge(at, None, Threshold); j.Verdict == Stuck && s.label != Stuck && alarm == "" {
			alarm = where + ": " + j.Reason
		}
	}
	recovers := strings.Contains(s.body, "|") // it was stuck before: its end is judged only
	now := play(t, s, func(e Event) {
		if !recovers && e.Kind != Start {
			judged(e.At.Add(-time.Millisecond), "before "+e.At.Sub(epoch).String())
		}
		w.Add(e)
		if !recovers {
			judged(e.At, "at "+e.At.Sub(epoch).String())
		}
	})
	return w.Judge(now, None, Threshold), alarm
}

// TestStreams measures the verdict on labelled streams: those for tuning, those held out while the detector was written, and those that
// were written later. A stream that is not
// stuck must not be called stuck at any moment: before each event and after it.
func TestStreams(t *testing.T) {
	for _, half := range []string{"tuning", "held out", "later", "last"} {
		var streams, right, found, missed, wrong int
		for _, s := range readStreams(t) {
			if s.half() != half {
				continue
			}
			streams++
			j, alarm := outcome(t, s)
			got, want := j.Verdict, s.label
			if strings.Contains(s.body, "$") && want == Working {
				want = Ended
			}
			if alarm != "" {
				got, j.Reason = Stuck, alarm
			}
			switch {
			case got == Stuck && want == Stuck:
				found++
			case want == Stuck:
				missed++
			case got == Stuck:
				wrong++
			}
			if got == want {
				right++
			} else {
				t.Logf("%s: %d %s: %s, want %s (%s)", half, s.number, s.name, got, want, j.Reason)
			}
		}
		precision, recall := float64(found)/float64(found+wrong), float64(found)/float64(found+missed)
		t.Logf("%s: %d streams, %d verdicts right; stuck: %d found, %d missed, %d wrong: precision %.3f, recall %.3f", half, streams,
			right, found, missed, wrong, precision, recall)
		if streams < 40 || precision < 0.95 || recall < 0.95 {
			t.Errorf("%s: %d streams, precision %.3f, recall %.3f, want 40 and 0.95 at least", half, streams, precision, recall)
		}
	}
}
