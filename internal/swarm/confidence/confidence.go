// Package confidence judges a worker by the events of its stream: whether it works, waits or is stuck, and how much it can be trusted
// to finish, as a score with a level, a trend and alerts. It is pure: the time is in the events and is an argument.
//
// A worker is stuck if it goes round in a loop or if it is silent. A loop is judged by outcomes and not by calls alone: the same test
// with a new result is progress, and new arguments with the same failure are not. A call under way is work, however long it takes.
package confidence

import "time"

// Kind is what an event is. The zero kind is no event.
type Kind uint8

// The kinds of events.
const (
	Start    Kind = iota + 1 // the process of the worker was started; what came before is forgotten
	Call                     // a tool was called and is under way: ID, Tool, Act, Args
	Result                   // a call returned: ID (or Tool, Act, Args of a call that was not announced), Result, Failed
	Progress                 // a call under way is alive (tool_progress)
	Text                     // the worker said something: Text. A line such as "Confidence: 80" in it is a report
	Report                   // the worker reports its own confidence: Score
	Error                    // the worker or its provider failed: Text
	Limit                    // the provider's limit was hit: Until, or the zero time if its end is not known
	Question                 // a question waits for a person
	Answer                   // the question was answered
	Told                     // a message was delivered to the worker; what it did before is not held against it
	End                      // the stream is over
)

// Act is what a tool does. The names of tools differ from agent to agent, so the caller says it.
type Act uint8

// The acts.
const (
	Other  Act = iota
	Look       // it reads or searches
	Change     // it writes a file
	Run        // it runs a command
)

// Event is one event of a worker's stream. At is when it happened.
type Event struct {
	At     time.Time
	Kind   Kind
	ID     string // joins a call and its result
	Tool   string
	Act    Act
	Args   string
	Result string // what the call returned; durations, times and addresses in it do not make it new
	Failed bool
	Text   string
	Score  int // 0 to 100
	Until  time.Time
}

// Verdict is what a worker does now.
type Verdict string

// The verdicts.
const (
	Working Verdict = "working"
	Stuck   Verdict = "stuck"
	Waiting Verdict = "waiting" // for a limit or for a person
	Ended   Verdict = "ended"   // the stream is over; what it achieved is for the facts to say
)

// Level is a range of the score.
type Level string

// LevelOf is the level of a score (row C88 of the requirements): high from 80, medium from 50, low from 25, critical below.
func LevelOf(score int) Level {
	switch {
	case score >= 80:
		return "high"
	case score >= 50:
		return "medium"
	case score >= 25:
		return "low"
	}
	return "critical"
}

// Trend compares a score with the one before it.
type Trend string

// The trends: a change of more than five points counts (row C87).
const (
	Stable    Trend = "stable"
	Improving Trend = "improving"
	Declining Trend = "declining"
)

// Alert is a reason for a person to look.
type Alert struct {
	Kind     string `json:"kind"` // idle, stuck_loop, high_errors, self_reported_low, declining_trend, threshold
	Critical bool   `json:"critical,omitempty"`
	Message  string `json:"message"`
}

// None is the absence of a score: no self-report, or no score before.
const None = -1

// Threshold is the score below which an alert is raised, unless the session has set another (row C26).
const Threshold = 35

// Judgement is what the events of a worker amount to at one moment. The scores are 0 to 100. Activity, Output and Report are the
// parts of Score; Report is [None] if the worker has not reported.
type Judgement struct {
	Verdict  Verdict       `json:"verdict"`
	Reason   string        `json:"reason"`
	Until    time.Time     `json:"until,omitzero"` // when the limit that it waits for ends, if that is known
	Score    int           `json:"score"`
	Level    Level         `json:"level"`
	Trend    Trend         `json:"trend"`
	Activity int           `json:"activity"`
	Output   int           `json:"output"`
	Report   int           `json:"report"`
	Idle     time.Duration `json:"-"` // since the last sign of life; 0 while a call is under way or the worker waits
	Alerts   []Alert       `json:"alerts,omitempty"`
}
