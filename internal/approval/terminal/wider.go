package terminal

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mycelium/internal/approval"
	"mycelium/internal/text"
)

// wider lets the person choose by number what an approval is about, and then for how long.
func (t *terminal) wider(r approval.Request) {
	list := approval.Candidates(r)
	if len(list) < 2 {
		t.say("this call can only be approved as it is")
		return
	}
	list = list[1:] // the other keys approve this call
	var label, keys strings.Builder
	for i, c := range list {
		fmt.Fprintf(&label, "%d %s: %s  ", i+1, c.As, text.OneLine(c.Words))
		fmt.Fprint(&keys, i+1)
	}
	t.ask = &prompt{label: "Approve " + strings.TrimSpace(label.String()), keys: keys.String(), done: func(key string) tea.Cmd {
		t.howLong(r, list[key[0]-'1'])
		return nil
	}}
}

// howLong asks for how long a candidate is approved. It shows first what a rule would have allowed.
func (t *terminal) howLong(r approval.Request, c approval.Candidate) {
	words := c.Words
	if t.o.Preview != nil {
		words = t.o.Preview(r, c)
	}
	t.ask = &prompt{label: "Approve " + text.OneLine(words) + ": s for the session, r as a rule", keys: "sr", done: func(key string) tea.Cmd {
		how := approval.Session
		if key == "r" {
			how = approval.Rule
		}
		return t.answer(r, approval.Answer{Allow: true, For: how, As: c.As})
	}}
}
