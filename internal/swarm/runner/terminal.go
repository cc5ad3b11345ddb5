package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/agent"
	"mycelium/internal/harness"
	"mycelium/internal/model"
	"mycelium/internal/rawjson"
	"mycelium/internal/run/pane"
	"mycelium/internal/text"
)

// TUI is a conversation with a Claude Code in its own terminal: what is said is pasted when its prompt is seen, and what it does is read
// from its transcript (2.1.197).
type TUI struct {
	Screen  pane.Terminal
	Pane    string
	Config  string // the folder of its own configuration, in which its transcripts are
	Session string // its session, by which its transcript is named
	Budget  float64
	Price   func(harness.Usage) (usd float64, known bool)
	Gone    <-chan error // gets how the program ended
	Stop    func()       // ends the program

	follow   *harness.Follower
	messages map[string]harness.Usage // by their ids: each has several lines
	said     string                   // the last text
	stop     string                   // why the model stopped; "": it works
	failed   string                   // an error that the program wrote in the place of an answer
	heard    bool                     // what was said last is in the transcript
	turn     agent.Turn
}

// Name is that of the runner.
func (*TUI) Name() string { return Terminal }

// Close ends the program.
func (c *TUI) Close() error {
	c.Stop()
	return nil
}

// How often the terminal and the transcript are looked at, and how long the program may take to show its prompt and to take what is said.
const (
	lookEvery   = 100 * time.Millisecond
	readyWithin = 60 * time.Second
	heardWithin = 30 * time.Second
	idleLooks   = 5  // looks in a row that see the prompt, before something is said and after the model has stopped
	againLooks  = 20 // looks in a row that see the prompt although something was said
)

// Say runs one turn.
func (c *TUI) Say(ctx context.Context, said string, tell func(agent.Event)) (agent.Turn, error) {
	c.turn = agent.Turn{}
	if err := c.ready(ctx); err != nil {
		return c.ended(ctx, err)
	}
	if c.follow == nil {
		c.messages = map[string]harness.Usage{}
	}
	c.heard, c.stop, c.failed = false, "", ""
	idle, unheard, typed := 0, 0, false
	err := c.look(ctx, heardWithin, "what was said is not in the transcript", func() (done, alive bool, err error) {
		if !typed {
			err := c.at().Type(ctx, said)
			if notNow := (*pane.NotNowError)(nil); err != nil && !errors.As(err, &notNow) {
				return false, false, err
			}
			typed = err == nil
		}
		if err := c.read(said, tell); err != nil {
			return false, c.heard, err
		}
		if c.Budget > 0 && c.turn.Cost >= c.Budget {
			c.stop = agent.StopBudget
			return true, true, nil
		}
		prompts, err := c.prompts(ctx)
		if err != nil {
			return false, c.heard, err
		}
		if idle++; c.stop == "" || !prompts {
			idle = 0
		}
		if unheard++; c.heard || !prompts {
			unheard = 0
		}
		if unheard == againLooks { // a terminal that was just opened may lose keys
			unheard, typed = 0, false
		}
		return c.heard && idle >= idleLooks, c.heard, nil
	})
	return c.ended(ctx, err)
}

// ended is the turn as it is now.
func (c *TUI) ended(ctx context.Context, err error) (agent.Turn, error) {
	c.turn.Text = c.said
	switch {
	case ctx.Err() != nil:
		c.turn.Stop = agent.StopAborted
		return c.turn, nil //nolint:nilerr // it was told to stop
	case err != nil:
		return c.turn, err
	case c.failed != "":
		return c.turn, errors.New("Claude Code: " + text.Truncate(c.failed, maxFailure)) //nolint:staticcheck,revive // a name
	case c.stop == "refusal":
		c.turn.Stop = agent.StopRefusal
	case c.stop == agent.StopBudget:
		c.turn.Stop = agent.StopBudget
	default:
		c.turn.Stop = agent.StopEnd
	}
	return c.turn, nil
}

// look calls see until it is done. It fails when the program has ended, and after a time in which nothing is alive.
func (c *TUI) look(ctx context.Context, within time.Duration, late string, see func() (done, alive bool, err error)) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	timer := time.NewTimer(within)
	defer timer.Stop()
	for alive := false; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-c.Gone:
			return fmt.Errorf("Claude Code ended: %w", orEnd(err)) //nolint:staticcheck,revive // a name
		case <-timer.C:
			if !alive {
				return fmt.Errorf("%s after %s", late, within)
			}
			continue
		case <-tick.C:
		}
		done, is, err := see()
		if alive = is; done || err != nil {
			return err
		}
	}
}

// orEnd is an error also for a program that ended well.
func orEnd(err error) error {
	if err == nil {
		return errors.New("it was left at its terminal")
	}
	return err
}

// at is the terminal.
func (c *TUI) at() *pane.Pane { return pane.Of(c.Screen, c.Pane, "claude") }

// prompts reports whether the screen shows the prompt of a Claude Code that does not work.
func (c *TUI) prompts(ctx context.Context) (bool, error) {
	screen, err := c.at().Read(ctx)
	return screen.Shown == harness.ShowsPrompt && !screen.Works, err
}

// ready waits until the prompt is seen. It answers the question about the folder: a worktree of the swarm has what the person committed, and
// what the agent may do there is the policy's affair. Every other question is a person's.
func (c *TUI) ready(ctx context.Context) error {
	asked, shown, idle := false, "", 0
	err := c.look(ctx, readyWithin, "its prompt is not seen", func() (bool, bool, error) {
		screen, err := c.Screen.Screen(ctx, c.Pane)
		if err != nil {
			return false, false, err
		}
		shown = strings.Join(strings.Fields(screen), " ")
		if !asked {
			if asked, err = c.at().Trust(ctx); asked || err != nil {
				return false, false, err
			}
		}
		prompts, err := c.prompts(ctx)
		if err != nil {
			return false, false, err
		}
		if idle++; !prompts || harness.AsksAtStart(shown) {
			idle = 0
		}
		return idle >= idleLooks, false, nil
	})
	if err != nil && harness.AsksAtStart(shown) {
		return fmt.Errorf("it asks something that a person has to answer (myc swarm attach): %w", err)
	}
	return err
}

// read takes the new lines of the transcript.
func (c *TUI) read(said string, tell func(agent.Event)) error {
	if c.follow == nil { // its folder is named after the one that it works in
		found, err := filepath.Glob(filepath.Join(c.Config, "projects", "*", c.Session+".jsonl"))
		if err != nil || len(found) == 0 {
			return err
		}
		c.follow = &harness.Follower{Path: found[0]}
	}
	return c.follow.Read(func(line []byte) { c.take(line, said, tell) })
}

// stopLine has why the model stopped.
type stopLine struct {
	Message struct {
		Stop string `json:"stop_reason"`
	} `json:"message"`
}

// take takes a line of the transcript.
func (c *TUI) take(line []byte, said string, tell func(agent.Event)) {
	var l harness.ClaudeLine
	if rawjson.Decode(line, &l) != nil || l.Message == nil || l.Meta || l.Sidechain {
		return
	}
	for _, b := range l.Blocks() {
		switch {
		case l.Type == "user" && b.Type == "text" && same(b.Text, said):
			c.heard = true
		case l.Type == "user" && b.Type == "tool_result":
			tell(agent.Event{Done: &agent.Done{CallID: b.ToolUse, Failed: b.Failed, Text: textOf(b.Content)}})
		case l.Type != "assistant" || !c.heard: // of an earlier turn
		case b.Type == "text":
			c.said = b.Text
			tell(agent.Event{Text: b.Text})
		case b.Type == "tool_use":
			tool := claudeTool(b.Name)
			if !slices.Contains(c.turn.Tools, tool) {
				c.turn.Tools = append(c.turn.Tools, tool)
			}
			tell(agent.Event{Call: &agent.Call{ID: b.ID, Tool: tool, Args: []byte(b.Input)}})
		}
	}
	var s stopLine
	if l.Type != "assistant" || !c.heard || rawjson.Decode(line, &s) != nil {
		return
	}
	if c.stop = s.Message.Stop; c.stop == "tool_use" {
		c.stop = ""
	}
	if c.failed = ""; l.APIError {
		c.failed, c.stop = c.said, "error"
	}
	c.count(line, tell)
}

// count adds what a message cost. Each of its lines has the usage of the whole message so far.
func (c *TUI) count(line []byte, tell func(agent.Event)) {
	u, ok, err := harness.ParseUsage(line)
	if err != nil || !ok {
		return
	}
	was, known := c.messages[u.Message]
	c.messages[u.Message] = u.Usage
	if !known {
		c.turn.Turns++
	}
	now, _ := c.Price(u.Usage)
	before := 0.0
	if known {
		before, _ = c.Price(was)
	}
	c.turn.Cost += max(0, now-before)
	var all model.Usage
	cost := 0.0
	for _, m := range c.messages {
		usd, _ := c.Price(m)
		cost += usd
		all = all.Plus(model.Usage{Input: m.Input, Output: m.Output, CacheRead: m.CacheRead, CacheWrite: m.CacheWrite})
	}
	tell(agent.Event{Spent: &agent.Spent{Usage: all, Cost: cost}})
}

// same reports whether a message of the transcript is what was said, but for white space.
func same(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

// claudeTool is the name of a tool of Claude Code as the policy knows it.
func claudeTool(name string) string {
	if ours, ok := strings.CutPrefix(name, "mcp__"+gateway+"__"); ok {
		return ours
	}
	return "agent__" + name
}

// textOf is the text of what a tool answered: a text, or blocks.
func textOf(content jsontext.Value) string {
	if s, ok := rawjson.Text(content); ok {
		return s
	}
	var blocks []harness.ClaudeBlock
	if rawjson.Decode(content, &blocks) != nil {
		return ""
	}
	var out []string
	for _, b := range blocks {
		out = append(out, b.Text)
	}
	return strings.Join(out, "\n")
}
