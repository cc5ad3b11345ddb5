package screen

import (
	"encoding/json"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mycelium/internal/agent"
	"mycelium/internal/agent/markdown"
	"mycelium/internal/transcript"
)

// event draws one event of a turn.
func (c *chat) event(e agent.Event) tea.Cmd {
	switch {
	case e.Text != "":
		c.stream(e.Text)
	case e.Thinking != "":
		c.think(e.Thinking)
	case e.Call != nil:
		c.called(e.Call)
	case e.Waiting != nil:
		if one := c.calls[e.Waiting.CallID]; one != nil {
			one.state = "waits for an approval"
			c.touch(one.part)
		}
	case e.Done != nil:
		c.done(e.Done)
	case e.Skills != nil:
		c.changed(*e.Skills)
		return c.load()
	case e.Note != "":
		c.add(note{e.Note})
	case e.Spent != nil:
		c.spent = *e.Spent
	}
	return nil
}

// stream appends a piece of the answer. What nothing can change any more becomes a part of its own, so that it is drawn once.
func (c *chat) stream(piece string) {
	a, ok := asAnswer(c.answer)
	if !ok {
		if !c.headed {
			c.add(header{c.skills.Active})
			c.headed = true
		}
		c.answer = c.add(&answer{})
		a, _ = asAnswer(c.answer)
	}
	a.src += piece
	if done, rest := markdown.Split(a.src); done != "" {
		a.src = done
		c.touch(c.answer)
		c.answer = c.add(&answer{src: rest})
		return
	}
	c.touch(c.answer)
}

func asAnswer(p *part) (*answer, bool) {
	if p == nil {
		return nil, false
	}
	a, ok := p.drawn.(*answer)
	return a, ok
}

// think appends a piece of the model's reasoning.
func (c *chat) think(piece string) {
	if n := len(c.parts); n > 0 {
		if t, ok := c.parts[n-1].drawn.(*thought); ok {
			t.text += piece
			c.touch(c.parts[n-1])
			return
		}
	}
	c.answer = nil
	c.add(&thought{text: piece})
}

// called shows a call that begins.
func (c *chat) called(k *agent.Call) {
	c.answer = nil
	one := &call{Call: *k}
	one.part = c.add(one)
	c.calls[k.ID] = one
}

// past shows a call of a conversation that goes on.
func (c *chat) past(k *transcript.Call) {
	c.answer = nil
	c.add(&call{Call: agent.Call{Tool: k.Name, Args: json.RawMessage(k.Input)}, done: &agent.Done{Failed: k.Failed, Text: k.Output}})
}

// done shows the outcome of a call.
func (c *chat) done(d *agent.Done) {
	if one := c.calls[d.CallID]; one != nil {
		one.done, one.state = d, ""
		c.touch(one.part)
	}
}

// changed shows that the role or the skills are others now. The chat and the engine may both hear of one change: it is shown once.
func (c *chat) changed(s agent.Skills) {
	was := c.skills
	c.skills = s
	n := change{skills: s}
	n.skills.Added, n.skills.Removed = agent.Difference(was.Active, s.Active)
	if was.Role != s.Role {
		n.role = s.Role
	}
	if len(n.skills.Added)+len(n.skills.Removed) == 0 && n.role == "" {
		return
	}
	c.answer, c.headed = nil, false
	c.add(n)
}

// add shows one more part at the end.
func (c *chat) add(d drawn) *part {
	p := &part{drawn: d}
	c.parts = append(c.parts, p)
	if c.scroll > 0 {
		c.scroll += len(p.lines(c.width, c.o.Plain)) + 1
	}
	return p
}

// touch redraws a part that changed.
func (c *chat) touch(p *part) {
	was := len(p.kept)
	p.width = 0
	if c.scroll > 0 {
		c.scroll = max(1, c.scroll+len(p.lines(c.width, c.o.Plain))-was)
	}
}

// plural joins names for a line: [a, b].
func bracketed(names []string) string { return "[" + strings.Join(names, ", ") + "]" }
