package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/agent/journal"
)

// player is a program that speaks stream-json: it answers each line of its input with lines.
type player struct {
	args  []string
	plays func(line string, say func(lines ...string)) (goOn bool)
}

// start starts the program. It ends when its input does, or when plays says so.
func (p *player) start(args []string) (*Program, error) {
	p.args = args
	in, inside := io.Pipe()
	out, outside := io.Pipe()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer outside.Close()
		defer in.Close()
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			if !p.plays(lines.Text(), func(lines ...string) { fmt.Fprintln(outside, strings.Join(lines, "\n")) }) {
				return
			}
		}
	}()
	end := func(time.Duration) error { <-gone; return nil }
	return &Program{In: inside, Out: out, End: end, Stderr: func() string { return "not logged in" }}, nil
}

// driven is an engine that drives a player.
func driven(t *testing.T, p *player, o Options) (c *Claude, dir string) {
	t.Helper()
	dir = t.TempDir()
	j, err := journal.New(dir, journal.Head{Engine: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	o.Began = Standing{Role: "guest", Active: []string{"common"}}
	c = NewClaude(p.start, func(context.Context) (Standing, error) {
		return Standing{Role: "guest", Active: []string{"common", "reader"}}, nil
	}, j, o)
	return c, dir
}

const (
	playedInit = `{"type":"system","subtype":"init","session_id":"s-1"}`
	playedText = `{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"Look"}}}`
	playedUse  = `{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"Look"},` +
		`{"type":"tool_use","id":"u1","name":"mcp__mycelium__files__read_file","input":{"path":"a"}},` +
		`{"type":"tool_use","id":"u2","name":"Bash","input":{"command":"ls"}}]}}`
	playedResults = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"u1","content":[{"type":"text","text":"A"}]},` +
		`{"type":"tool_result","tool_use_id":"u2","is_error":true,"content":"Denied by policy: no"}]}}`
	playedEnd = `{"type":"result","subtype":"success","result":"done","num_turns":2,"total_cost_usd":0.5,` +
		`"usage":{"input_tokens":7,"output_tokens":3}}`
)

// A turn of a program: its pieces, calls by the names of the policy, outcomes, cost; and the conversation goes on by the program's own
// id.
func TestDriven(t *testing.T) {
	p := &player{plays: func(line string, say func(...string)) bool {
		if !strings.Contains(line, `"content":"look"`) {
			t.Errorf("the program reads %s", line)
		}
		say("not JSON", playedInit, playedText, playedUse, playedResults, playedEnd)
		return true
	}}
	c, dir := driven(t, p, Options{Budget: 0.4})
	var told []Event
	turn, err := c.Say(t.Context(), "look", func(e Event) { told = append(told, e) })
	if err != nil || turn.Text != "done" || turn.Stop != StopEnd || turn.Cost != 0.5 || turn.Usage.Input != 7 ||
		!slices.Equal(turn.Tools, []string{"files__read_file", "agent__Bash"}) {
		t.Errorf("%+v %v", turn, err)
	}
	var kinds []string
	for _, e := range told {
		switch {
		case e.Skills != nil:
			kinds = append(kinds, "+"+strings.Join(e.Skills.Added, ","))
		case e.Text != "":
			kinds = append(kinds, e.Text)
		case e.Call != nil:
			kinds = append(kinds, e.Call.Tool)
		case e.Done != nil:
			kinds = append(kinds, e.Done.Text+e.Done.Effect)
		}
	}
	if want := []string{"+reader", "Look", "files__read_file", "agent__Bash", "A", "Denied by policy: nodeny"}; !slices.Equal(kinds, want) {
		t.Errorf("told %q, want %q", kinds, want)
	}
	if turn, err := c.Say(t.Context(), "more", func(Event) {}); err != nil || turn.Stop != StopBudget {
		t.Errorf("past the budget: %+v %v", turn, err)
	}
	id := c.ID()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	again := NewClaude(p.start, c.stands, j, Options{})
	_, _ = again.Say(t.Context(), "look", func(Event) {})
	if i := slices.Index(p.args, "--resume"); i < 0 || p.args[i+1] != "s-1" {
		t.Errorf("it goes on with %q", p.args)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// A person ends a turn: the program is asked to, and the next turn uses it again.
func TestDrivenAbort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &player{plays: func(line string, say func(...string)) bool {
		switch {
		case strings.Contains(line, `"subtype":"interrupt"`):
			say(`{"type":"result","subtype":"error_during_execution","is_error":true}`)
		case strings.Contains(line, "first"):
			say(playedInit, playedText)
			cancel()
		default:
			say(playedEnd)
		}
		return true
	}}
	c, _ := driven(t, p, Options{})
	defer c.Close()
	if turn, err := c.Say(ctx, "first", func(Event) {}); err != nil || turn.Stop != StopAborted {
		t.Errorf("%+v %v", turn, err)
	}
	if turn, err := c.Say(t.Context(), "second", func(Event) {}); err != nil || turn.Text != "done" {
		t.Errorf("%+v %v", turn, err)
	}
}

// A program that ends in the middle of a turn is an error with what it said, and the next turn starts another one.
func TestDrivenDies(t *testing.T) {
	p := &player{plays: func(_ string, say func(...string)) bool { say(playedInit, playedText); return false }}
	c, _ := driven(t, p, Options{})
	defer c.Close()
	if _, err := c.Say(t.Context(), "look", func(Event) {}); err == nil || !strings.Contains(err.Error(), "not logged in") {
		t.Errorf("%v", err)
	}
	p.plays = func(_ string, say func(...string)) bool { say(playedEnd); return true }
	if turn, err := c.Say(t.Context(), "look", func(Event) {}); err != nil || turn.Text != "done" {
		t.Errorf("%+v %v", turn, err)
	}
	p.plays = func(_ string, say func(...string)) bool {
		say(`{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key"}`)
		return true
	}
	if _, err := c.Say(t.Context(), "look", func(Event) {}); err == nil || !strings.Contains(err.Error(), "Invalid API key") {
		t.Errorf("%v", err)
	}
}

// A limit of the provider is told, with its end, also that it is over; a turn that ends because of one says so.
func TestDrivenLimit(t *testing.T) {
	const retry = `{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":60000,"error_status":%d,"error":"x"}`
	hit := `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":4102444800,"rateLimitType":"five_hour"}}`
	said := `{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"You've hit your limit"}]},` +
		`"error":"rate_limit"}`
	end := `{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"You've hit your limit"}`
	p := &player{plays: func(line string, say func(...string)) bool {
		if strings.Contains(line, "first") {
			say(playedInit, `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":4102444800}}`,
				fmt.Sprintf(retry, 500), fmt.Sprintf(retry, 429), fmt.Sprintf(retry, 529), playedText, playedText, playedEnd)
			return true
		}
		say(hit, said, end)
		return true
	}}
	c, _ := driven(t, p, Options{})
	defer c.Close()
	var told []Event
	keep := func(e Event) {
		if e.Skills == nil && e.Spent == nil {
			told = append(told, e)
		}
	}
	if turn, err := c.Say(t.Context(), "first", keep); err != nil || turn.Stop != StopEnd {
		t.Fatalf("%+v %v", turn, err)
	}
	var kinds []string
	for _, e := range told {
		switch {
		case e.Limit != nil && e.Limit.Until.IsZero():
			kinds = append(kinds, "over")
		case e.Limit != nil && time.Until(e.Limit.Until) > 50*time.Second:
			kinds = append(kinds, e.Limit.Why)
		default:
			kinds = append(kinds, e.Text)
		}
	}
	if want := []string{"too many requests", "it is overloaded", "over", "Look", "Look"}; !slices.Equal(kinds, want) {
		t.Errorf("told %q, want %q", kinds, want)
	}
	told = nil
	turn, err := c.Say(t.Context(), "second", keep)
	until := time.Unix(4102444800, 0)
	if limit := (*LimitError)(nil); turn.Stop != StopLimit || !errors.As(err, &limit) || !limit.Until.Equal(until) ||
		!strings.Contains(limit.Why, "hit your limit") {
		t.Errorf("%+v %v", turn, err)
	}
	if len(told) != 1 || told[0].Limit == nil || !told[0].Limit.Until.Equal(until) || !strings.Contains(told[0].Limit.Why, "five_hour") {
		t.Errorf("told %+v", told)
	}
}

// What is said while the program works reaches it in the turn, with a receipt. What it has not taken by the end of the turn begins another
// one, and the turn goes on until that is over.
func TestDrivenMessages(t *testing.T) {
	const early, late = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	echo := func(id string) string {
		return `{"type":"user","message":{"role":"user","content":"x"},"parent_tool_use_id":null,"uuid":"` + id + `","isReplay":true}`
	}
	var mu sync.Mutex
	inbox := []Message{{ID: early, Text: "early"}}
	p := &player{plays: func(line string, say func(...string)) bool {
		switch {
		case strings.Contains(line, early):
			say(echo(early), playedResults)
			mu.Lock()
			defer mu.Unlock()
			inbox = append(inbox, Message{ID: late, Text: "late"})
		case strings.Contains(line, late):
			say(playedEnd, echo(late), playedText, strings.Replace(playedEnd, "done", "all done", 1))
		case strings.Contains(line, "go"):
			say(playedInit, echo("00000000-0000-4000-8000-000000000000"), playedUse)
		}
		return true
	}}
	var heard []string
	c, _ := driven(t, p, Options{Messages: func() ([]Message, error) {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(inbox), nil
	}})
	defer c.Close()
	turn, err := c.Say(t.Context(), "go", func(e Event) {
		if e.Heard != "" {
			heard = append(heard, e.Heard)
		}
	})
	if err != nil || turn.Text != "all done" || turn.Turns != 4 || turn.Cost != 0.5 || !slices.Equal(heard, []string{early, late}) {
		t.Errorf("%+v %v; heard %q", turn, err, heard)
	}
	if !slices.Contains(p.args, "--replay-user-messages") {
		t.Errorf("it was started with %q", p.args)
	}
}
