// Package notices says what people are told of a session of the swarm who do not look at it: what landed, failed, is stuck, would make the
// branch red, waits for them, what the reviews found, and that the session ended.
package notices

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
)

// Kind is what a notice is about.
type Kind int

// The kinds of notices.
const (
	Done   Kind = iota // a feature has landed, reviews are ready, or the session is completed
	Failed             // a feature failed, or would make the branch red, or the session ended with failures
	Stuck              // a worker is stuck, or gets on badly
	Waits              // a feature waits for a person
	Paused             // the session is paused
	Phase              // the session is at something else, such as its reviews
)

// Notice is a message about a feature, or about the session if that is empty.
type Notice struct {
	Kind    Kind
	Feature string
	Text    string
}

// Told is what people were told of a session. It survives a driver, so that the next one tells nothing again and leaves nothing out.
type Told struct {
	Seq      int64                 `json:"seq"` // the last event
	Session  book.State            `json:"session"`
	Features map[string]book.State `json:"features"`
	Reviews  []string              `json:"reviews,omitempty"` // that are over, such as "code 2"
}

// maxAtOnce bounds the notices of one look: a driver that was away for long has one more, which says how many are left out.
const maxAtOnce = 10

// Next returns what people are to be told, and what they were told then. events are those after t.Seq.
func (t Told) Next(s *book.Session, events []book.Event) (Told, []Notice) {
	next := Told{Seq: t.Seq, Session: s.State, Features: map[string]book.State{}}
	var out []Notice
	said := map[string]string{} // the last event of a feature, and of the session by ""
	for _, e := range events {
		next.Seq = e.Seq
		said[e.Feature] = e.Text
		if e.Kind == book.Stuck || e.Kind == book.Alert {
			out = append(out, Notice{Stuck, e.Feature, e.Text})
		}
		if e.Kind == book.Red {
			out = append(out, Notice{Failed, e.Feature, "its commit would make the branch red: it did not land, and went back to its worker"})
		}
	}
	for _, f := range s.Features {
		next.Features[f.ID] = f.State
		if f.State == t.Features[f.ID] {
			continue
		}
		switch f.State {
		case book.Completed:
			out = append(out, Notice{Done, f.ID, "it has landed: " + text.Cell(f.Description, 200)})
		case book.Failed:
			out = append(out, Notice{Failed, f.ID, f.Reason})
		case book.Waiting:
			out = append(out, Notice{Waits, f.ID, f.Reason})
		default:
		}
	}
	next.Reviews = t.Reviews
	if over := ready(s); over != nil && !slices.Equal(over, t.Reviews) {
		next.Reviews = over
		out = append(out, Notice{Done, "", found(s)})
	}
	if s.State != t.Session && s.State != book.Going {
		kind, known := map[book.State]Kind{book.Completed: Done, book.Faulty: Failed, book.Paused: Paused}[s.State]
		if !known {
			kind = Phase
		}
		what := said[""]
		if what == "" {
			what = "the session is " + s.State.Words()
		}
		out = append(out, Notice{kind, "", what})
	}
	if more := len(out) - maxAtOnce; more > 0 {
		out = append(out[more:], Notice{Phase, "", fmt.Sprintf("%s more: myc swarm logs", text.Count(more, "notice"))})
	}
	return next, out
}

// ready names the reviews of a session that count, once all of them are over; nil: one is not, or there are none.
func ready(s *book.Session) (out []string) {
	for _, r := range s.Reviews {
		switch {
		case s.Review(r.Type) != r:
		case !r.Over():
			return nil
		default:
			out = append(out, r.Type+" "+strconv.Itoa(r.N))
		}
	}
	slices.Sort(out)
	return out
}

// found says what the reviews found, the last one of each type.
func found(s *book.Session) string {
	var parts []string
	for _, r := range s.Reviews {
		switch {
		case s.Review(r.Type) != r:
		case r.Findings == nil:
			parts = append(parts, fmt.Sprintf("that of the %s failed (%s)", r.Type, text.Cell(r.Reason, 200)))
		default:
			parts = append(parts, fmt.Sprintf("of the %s: %s, %s", r.Type, r.Findings.Severity, text.Count(len(r.Findings.Issues), "issue")))
		}
	}
	return "the reviews are ready: " + strings.Join(parts, "; ") + ". myc swarm review show tells what"
}

// file is where it is kept what people were told of a session, in the folder of the swarm.
func file(folder, session string) string { return filepath.Join(folder, session+".told.json") }

// Read returns what people were told of a session. They were told nothing of one that has just begun.
func Read(folder, session string) (t Told, err error) {
	b, err := os.ReadFile(file(folder, session))
	if errors.Is(err, fs.ErrNotExist) {
		return Told{Session: book.Going}, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err != nil {
		return t, fmt.Errorf("read what people were told of the swarm: %w", err)
	}
	return t, nil
}

// Keep records what people are told, before they are: a driver that is killed in between tells too little, never the same again.
func (t Told) Keep(folder, session string) error {
	b, err := json.Marshal(t, json.Deterministic(true))
	if err != nil {
		return err
	}
	return atomicfile.Write(file(folder, session), b, 0o600)
}
