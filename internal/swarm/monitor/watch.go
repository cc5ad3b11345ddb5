// Package monitor follows what workers do, for the driver and for people who look on.
package monitor

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"mycelium/internal/policy"
	guard "mycelium/internal/policy/worker"
	"mycelium/internal/rawjson"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/confidence"
	"mycelium/internal/swarm/worker"
)

// Watch follows the stream of a worker.
type Watch struct {
	confidence.Watch
	Provider
	offset int64
	Begun  bool    // it has done something
	Waits  string  // a call waits for a person
	Cost   float64 // in US dollars
}

// Read takes what is new.
func (w *Watch) Read(f worker.Folder) error {
	offset, err := f.Follow(w.offset, func(e worker.Event) {
		w.Begun = true
		w.Take(e)
	})
	w.offset = offset
	return err
}

// Take takes one event.
func (w *Watch) Take(e worker.Event) {
	out := confidence.Event{At: e.At, ID: e.Call, Tool: e.Tool, Failed: e.Failed}
	switch e.Kind {
	case worker.Began:
		out.Kind = confidence.Start
	case worker.Call:
		if e.Tool == reportTool { // its outcome tells whether it is a report
			return
		}
		out.Kind, out.Act, out.Args = confidence.Call, actOf(e.Tool), e.Args+e.Sum
	case worker.Done:
		if w.Waits != "" {
			w.Add(confidence.Event{At: e.At, Kind: confidence.Answer})
		}
		out.Kind, out.Result, w.Waits = confidence.Result, e.Text, ""
		if line, is := report(e); is {
			out.Kind, out.Text = confidence.Text, line
		}
	case worker.Says:
		out.Kind, out.Text = confidence.Text, e.Text
	case worker.Waits:
		out.Kind, w.Waits = confidence.Question, e.Text
	case worker.Limited:
		out.Kind, out.Until = confidence.Limit, cmp.Or(e.Until, e.At)
		if w.News = true; e.Until.IsZero() {
			w.Answered = e.At
		} else {
			w.Limit = book.Limit{Since: e.At, Until: e.Until, Why: e.Text}
		}
	case worker.Heard:
		out.Kind = confidence.Told
	case worker.Spent:
		w.Cost = e.Cost
		return
	default:
		return
	}
	w.Add(out)
}

// reportTool is the tool with which a worker reports its confidence.
const reportTool = policy.RouterServer + "__" + guard.Report

// report is what a worker has reported with its tool, as the line that it could have said: no more is made of it. The answer of the gate
// has the score, so a call that was denied is no report.
func report(e worker.Event) (line string, is bool) {
	var r struct {
		Score *int `json:"score"`
	}
	if e.Tool != reportTool || e.Failed || rawjson.Decode([]byte(e.Text), &r) != nil || r.Score == nil {
		return "", false
	}
	return fmt.Sprintf("Confidence: %d", *r.Score), true
}

// actOf is what a tool of Claude Code, or of our own agent, does, as far as it concerns progress.
func actOf(tool string) confidence.Act {
	switch strings.TrimPrefix(tool, "agent__") {
	case "Bash", "mycelium-sandbox__bash", "mycelium-sandbox__sandbox_exec", "mycelium-sandbox__sandbox_exec_script":
		return confidence.Run
	case "Edit", "Write", "MultiEdit", "NotebookEdit", "files__write_file", "files__edit_file", "files__move_file", "files__delete_file":
		return confidence.Change
	case "Read", "Glob", "Grep", "LS", "files__read_file", "files__list_directory", "files__search_files", "files__stat_file":
		return confidence.Look
	}
	return confidence.Other
}

// Judge is what the stream of a worker of a session amounts to now.
func Judge(s book.Settings, f worker.Folder) (confidence.Judgement, error) {
	w := &Watch{}
	err := w.Read(f)
	return w.Judge(time.Now(), confidence.None, Threshold(s)), err
}

// Threshold is the confidence below which a worker of a session is reported.
func Threshold(s book.Settings) int {
	if s.Threshold != nil {
		return *s.Threshold
	}
	return confidence.Threshold
}

// Provider is what the stream of a worker says about the limits of its provider.
type Provider struct {
	Limit    book.Limit
	Answered time.Time // when it last answered after a limit
	News     bool      // what the account does not have on record yet
}

// Over reports whether the limit is over because the provider has answered.
func (p *Provider) Over() bool { return p.Answered.After(p.Limit.Since) }
