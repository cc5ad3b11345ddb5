// Package export renders the views of a session that people and their other programs read as files: claude-progress.txt,
// feature_list.json and init.sh (requirements, C59). The book has the truth; nothing reads these files back. It is pure.
package export

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
)

// The names of the views.
const (
	Progress = "claude-progress.txt"
	Features = "feature_list.json"
	Init     = "init.sh"
)

// Entries is how many entries of the log claude-progress.txt has at most (requirements, C59).
const Entries = 100

// by is what each view begins with, so that a later one may replace it and no other file.
const by = "Written by myc swarm export, which replaces it. Nothing reads it back."

// File is a view.
type File struct {
	Name    string
	Head    string // what it begins with, whatever the session
	Data    string
	Program bool // a person may run it
}

// Files are the views of a session. events are its last ones, in order.
func Files(s *book.Session, events []book.Event, at Place) ([]File, error) {
	list, err := features(s)
	if err != nil {
		return nil, err
	}
	return []File{
		{Name: Progress, Head: "# " + by, Data: progress(s, events)},
		{Name: Features, Head: listHead, Data: list},
		{Name: Init, Head: scriptHead, Data: script(s, at), Program: true},
	}, nil
}

// stands says in a line how a session stands.
func stands(s *book.Session) string {
	landed := 0
	for _, f := range s.Features {
		if f.State == book.Completed {
			landed++
		}
	}
	return fmt.Sprintf("Session %s is %s: %d of %s landed. Its last change: %s.", text.OneLine(s.ID), s.State.Words(), landed,
		text.Count(len(s.Features), "feature"), s.Changed.UTC().Format(time.RFC3339))
}

func progress(s *book.Session, events []book.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n# %s\n# The last %d entries at most; myc swarm logs -n shows more.\n\n", by, stands(s), Entries)
	for _, e := range events[max(0, len(events)-Entries):] {
		about := e.Feature
		if e.Attempt > 0 {
			about += fmt.Sprintf("#%d", e.Attempt)
		}
		if about != "" {
			about = text.OneLine(about) + ": "
		}
		fmt.Fprintf(&b, "%s  %s%s\n", e.At.UTC().Format(time.RFC3339), about, text.Flatten(e.Text))
	}
	return b.String()
}

// listHead is how feature_list.json begins.
const listHead = "{\n  \"generatedBy\": \"myc swarm export\""

// list is feature_list.json.
type list struct {
	By       string `json:"generatedBy"`
	Session  string `json:"session"`
	Features []item `json:"features"`
}

type item struct {
	ID          string     `json:"id"`
	Description string     `json:"description"`
	Status      book.State `json:"status"`
	Passes      bool       `json:"passes"` // it has landed, so it has passed all that was asked of it
}

func features(s *book.Session) (string, error) {
	l := list{By: "myc swarm export", Session: s.ID, Features: []item{}}
	for _, f := range s.Features {
		l.Features = append(l.Features, item{f.ID, f.Description, status(f.State), f.State == book.Completed})
	}
	b, err := json.Marshal(l, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return "", fmt.Errorf("write %s: %w", Features, err)
	}
	return string(b) + "\n", nil
}

// status is a state of a feature in the four words of requirements, C60: what planners, the merge queue or a person have is in progress.
func status(s book.State) book.State {
	switch s {
	case book.Pending, book.Completed, book.Failed:
		return s
	default:
	}
	return book.Going
}
