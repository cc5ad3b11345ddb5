package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"mycelium/internal/agent"
)

// event draws one event of a turn.
func (c *chat) event(e agent.Event) tea.Cmd {
	switch {
	case e.Text != "":
		c.stream(e.Text, c.skills.Active)
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

// plural joins names for a line: [a, b].
func bracketed(names []string) string { return "[" + strings.Join(names, ", ") + "]" }
