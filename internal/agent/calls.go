package agent

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mycelium/internal/agent/journal"
	"mycelium/internal/model"
	"mycelium/internal/run"
	"mycelium/internal/text"
)

const (
	maxTogether = 8         // calls at once
	maxResult   = 200 << 10 // bytes of text of one result; the middle of a longer one is left out
)

// aborted is the outcome of a call that was under way when a person ended the turn.
const aborted = "A person ended this call. It is not known whether it ran to its end."

// run runs the calls of an answer. Calls that say that they change nothing and follow each other run at once; any other one runs alone,
// in the order of the model. A call that has not begun when ctx ends does not run.
func (t *turn) run(ctx context.Context, uses []model.Block, r model.Reply) error {
	why := thinkingOf(r.Message)
	for len(uses) > 0 {
		n := 1
		for n < len(uses) && n < maxTogether && t.reads(uses[n-1]) && t.reads(uses[n]) {
			n++
		}
		use := Use{Thinking: why, Model: r.Model}
		if t.Budget > 0 {
			use.Budget = max(t.Budget-t.journal.Cost, math.SmallestNonzeroFloat64) // what is spent is not the same as no budget
		}
		t.together(ctx, uses[:n], use)
		if uses = uses[n:]; ctx.Err() != nil || t.err != nil || t.halt {
			return ctx.Err()
		}
	}
	return t.err
}

// reads reports whether a call says that it changes nothing.
func (t *turn) reads(use model.Block) bool {
	return t.offered[use.Name].ReadOnly && use.Malformed == ""
}

// happening is what a running call tells the goroutine of Say.
type happening struct {
	use     model.Block
	waiting *Waiting
	result  *Result
}

// together runs calls at once and tells what happens, in this goroutine.
func (t *turn) together(ctx context.Context, uses []model.Block, as Use) {
	events := make(chan happening)
	open := 0
	for _, use := range uses {
		as.ID, as.Tool, as.Args = use.ID, t.nameOf(use.Name), []byte(use.Input)
		if !slices.Contains(t.out.Tools, as.Tool) {
			t.out.Tools = append(t.out.Tools, as.Tool)
		}
		t.tell(Event{Call: &Call{ID: as.ID, Tool: as.Tool, Args: as.Args}})
		if use.Malformed != "" {
			t.done(use, malformed(use.Malformed))
			continue
		}
		t.write(journal.Line{Kind: journal.Called, ID: as.ID, Tool: as.Tool, Args: use.Input})
		if t.err != nil {
			break // a call that is not kept does not run
		}
		open++
		go func(use model.Block, u Use) {
			result := t.call(ctx, u, func(w Waiting) { events <- happening{use: use, waiting: &w} })
			events <- happening{use: use, result: &result}
		}(use, as)
	}
	for open > 0 {
		h := <-events
		if h.waiting != nil {
			h.waiting.CallID = h.use.ID
			t.tell(Event{Waiting: h.waiting})
			continue
		}
		open--
		t.done(h.use, *h.result)
	}
}

// nameOf is the name by which the gateway knows a tool of the model. A name that was not offered stays, and the gateway refuses it.
func (t *turn) nameOf(name string) string {
	if tool, ok := t.offered[name]; ok {
		return tool.Name
	}
	return name
}

// call makes one call at the door. Whatever happens has a result.
func (t *turn) call(ctx context.Context, u Use, waits func(Waiting)) Result {
	r, err := t.door.Call(ctx, u, waits)
	switch {
	case err != nil && ctx.Err() != nil:
		return failed(aborted)
	case err != nil:
		return failed("The gateway could not be asked: " + text.Describe(err))
	}
	return r
}

// done keeps and tells the outcome of a call.
func (t *turn) done(use model.Block, r Result) {
	size := 0
	for i, b := range r.Content {
		if b.Type == "text" {
			r.Content[i].Text = text.Middle(b.Text, max(1000, maxResult-size))
			size += len(r.Content[i].Text)
		}
		t.news += text.Tokens(r.Content[i].Text)
		if b.Source != nil {
			t.news += 1600 // tokens, of the largest picture (https://platform.claude.com/docs/en/build-with-claude/vision)
		}
	}
	r.Text = text.Middle(r.Text, maxResult)
	t.out.Cost += r.Cost
	t.halt = t.halt || r.Effect == "deny" && run.Halts(r.Text)
	t.write(journal.Line{Kind: journal.Outcome, ID: use.ID, Text: r.Text, Blocks: r.Content, Failed: r.Failed, Cost: r.Cost})
	t.tell(Event{Done: &Done{CallID: use.ID, Effect: r.Effect, Failed: r.Failed, Text: r.Text}})
}

func failed(why string) Result {
	return Result{Failed: true, Text: why, Content: []model.Block{textBlock(why)}}
}

// malformed is the outcome of a call whose arguments are no JSON object.
func malformed(raw string) Result {
	return failed(fmt.Sprintf("This call was not run: its arguments are not a JSON object. You wrote: %s", text.Truncate(raw, 400)))
}
