// Package timeline shows what was recorded as rows: calls, what happened to sessions, and what was said. Rows come in groups, the newest
// first. A group names the groups before and after it, so that a long log is read part by part.
package timeline

import (
	"embed"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
	"mycelium/internal/text"
	"mycelium/internal/web/site"
)

//go:embed pages/*.html
var pages embed.FS

// Room has the templates of rows. It has no page of its own.
func Room() site.Room { return site.Room{Pages: pages} }

// Assets are the files that a page with rows loads.
func Assets() []string { return []string{"timeline.js", "timeline.css"} }

// What a row shows of reasoning and of a message, in characters, and of a result, in bytes.
const (
	maxThinking = 2000
	maxSaid     = 8000
	maxResult   = 4000 // bytes
)

// Group is a part of a log. Its template is "rows".
type Group struct {
	Rows []Row
	// Newer and Older are the addresses of the groups beside it; "": there is none. The newest group has a Newer too, by which a page
	// that is open gets what comes.
	Newer, Older string
	Newest       bool
}

// Row is one thing that happened: exactly one of the pointers is set. Its template is "row".
type Row struct {
	Time    time.Time
	Lane    int    // 0: of the session itself; else the number of a sub-agent, from 1
	Name    string // of the lane; "": the session itself
	Call    *Call
	Message *Message
	Change  *Change
}

// Call is a recorded call.
type Call struct {
	ID                              string
	Seq                             int64
	Role, Tool, Outcome, Rule       string
	Reason, By, Session, Agent, Box string
	Effect                          string
	Args                            []site.Line
	Millis                          string
	Thinking                        string
	Claimed                         bool   // the reasoning is what the client says it is
	Result                          string // as far as it is recorded
	Failed                          bool   // the result is of a failure
	Page                            string // the address of its session; "": this is that page
	Look                            string // where this row alone is, while its end is not recorded
}

// Message is what a person or an agent said.
type Message struct{ By, Text, Thinking string }

// Change is what happened to a session.
type Change struct{ Note, Role, Skills string }

// CallOf returns a recorded call as pages show it.
func CallOf(e index.Entry) Row {
	one := text.OneLine
	args, diff := approval.ShowArgs(approval.Request{Tool: e.Tool, Args: jsontext.Value(e.Args)})
	c := Call{ID: one(e.ID), Seq: e.Seq, Role: one(e.Role), Tool: one(e.Tool), Outcome: one(e.Outcome), Rule: one(e.Rule),
		Reason: text.Visible(e.Reason), By: one(e.DecidedBy), Session: one(e.Session), Agent: one(e.Agent), Box: one(e.Sandbox),
		Effect: one(e.Effect), Args: site.Lines(args, diff), Millis: strconv.FormatFloat(e.DurationMs, 'f', 1, 64)}
	if e.Error != "" {
		c.SetResult(e.Error, true)
	}
	if e.Thinking != nil {
		c.Thinking, c.Claimed = text.Visible(text.TruncateRunes(e.Thinking.Thinking, maxThinking)), e.Thinking.Claimed
	}
	return Row{Time: e.Time, Call: &c}
}

// SetResult shows what the call gave.
func (c *Call) SetResult(result string, failed bool) {
	c.Result, c.Failed = text.Visible(text.Middle(result, maxResult)), failed
}

// Open reports whether the end of the call is not recorded.
func (c *Call) Open() bool { return c.Outcome == "unfinished" }

// ChangeOf returns a change of a session as pages show it.
func ChangeOf(r audit.Record) Row {
	c := Change{Note: text.OneLine(r.Note), Role: text.OneLine(r.Role)}
	for i, s := range r.Skills {
		if i > 0 {
			c.Skills += ", "
		}
		c.Skills += text.OneLine(s)
	}
	return Row{Time: r.Time, Change: &c}
}

// MessageOf returns what was said as pages show it.
func MessageOf(at time.Time, by, said, thinking string) Row {
	return Row{Time: at, Message: &Message{By: text.OneLine(by), Text: text.Visible(text.TruncateRunes(said, maxSaid)),
		Thinking: text.Visible(text.TruncateRunes(thinking, maxThinking))}}
}
