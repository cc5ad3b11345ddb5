package monitor

import (
	"fmt"
	"testing"
	"time"

	"mycelium/internal/swarm/confidence"
	"mycelium/internal/swarm/worker"
)

// called is a call of the tool by which a worker reports, with its outcome.
func called(at time.Time, id, answer string, failed bool) []worker.Event {
	return []worker.Event{{At: at, Kind: worker.Call, Call: id, Tool: reportTool, Args: `{"score":1}`},
		{At: at, Kind: worker.Done, Call: id, Tool: reportTool, Text: answer, Failed: failed}}
}

// A report by the tool counts as the line in the prompt does. What was denied or has a mistake is none, whatever its arguments say.
func TestReportsByTheTool(t *testing.T) {
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		events []worker.Event
		want   int
	}{
		"a report":              {called(at, "1", `{"score":20}`, false), 20},
		"of nothing":            {called(at, "1", `{"score":0}`, false), 0},
		"the last one counts":   {append(called(at, "1", `{"score":20}`, false), called(at, "2", `{"score":70}`, false)...), 70},
		"it was denied":         {called(at, "1", `Denied by policy`, true), confidence.None},
		"it failed, whatever":   {called(at, "1", `{"score":20}`, true), confidence.None},
		"an answer without one": {called(at, "1", `{}`, false), confidence.None},
		"another tool": {[]worker.Event{{At: at, Kind: worker.Done, Call: "1", Tool: "s__report_confidence", Text: `{"score":20}`}},
			confidence.None},
	} {
		w := &Watch{}
		for _, e := range c.events {
			w.Take(e)
		}
		if j := w.Judge(at, confidence.None, confidence.Threshold); j.Report != c.want || j.Verdict != confidence.Working {
			t.Errorf("%s: the report is %d, want %d; it is %s", name, j.Report, c.want, j.Verdict)
		}
	}
}

// A worker that goes in circles is found although it reports between its calls, and one that only fails to report is found too.
func TestReportsHideNoLoop(t *testing.T) {
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	circles, fails := &Watch{}, &Watch{}
	for i := range 8 {
		id := fmt.Sprint(i)
		events := append(called(at, "r"+id, fmt.Sprintf(`{"score":%d}`, 50+i), false),
			worker.Event{At: at, Kind: worker.Call, Call: id, Tool: "agent__Bash", Args: "make", Sum: "a"},
			worker.Event{At: at, Kind: worker.Done, Call: id, Tool: "agent__Bash", Text: "no", Failed: true})
		for _, e := range events {
			circles.Take(e)
		}
		for _, e := range called(at, id, "Argument score is required", true) {
			fails.Take(e)
		}
	}
	for name, w := range map[string]*Watch{"in circles": circles, "a report that fails": fails} {
		if j := w.Judge(at, confidence.None, confidence.Threshold); j.Verdict != confidence.Stuck {
			t.Errorf("%s: it is %s: %s", name, j.Verdict, j.Reason)
		}
	}
}
