package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// question is the question that is shown: its identity and the letters that answer it. Without a question both are empty.
func (c *chat) question() (id, letters string) {
	if c.offer != nil {
		return "skill " + c.offer.skill, "yanN"
	}
	return c.asked.Question()
}

// picks reports whether what stands in the line is a letter that answers the question which is shown, and was written for it.
func (c *chat) picks() bool {
	id, _ := c.question()
	line := c.edit.String()
	return id != "" && line != "" && c.picked == id+" "+line
}

// questionKey handles a key while a question is shown, and reports whether it was one for it. A letter of an answer stands in the line, and
// Enter makes it the answer: so no letter of a message, and no / or @, answers anything. A key that came before the question could be seen
// is no answer.
func (c *chat) questionKey(k tea.KeyPressMsg, name string) (cmd tea.Cmd, taken bool) {
	id, letters := c.question()
	line := c.edit.String()
	switch {
	case id == "":
	case name == "enter" && (line == "" || c.picks()):
		if c.o.Approvals.Now().Before(c.armed) {
			return nil, true
		}
		c.picked = ""
		c.edit.set("")
		return c.reply(k, line), true
	case line != "":
	case len(k.Text) == 1 && strings.Contains(letters, k.Text):
		c.picked = id + " " + k.Text
	case name == "esc" && c.offer != nil:
		return c.reply(k, ""), true
	case c.offer == nil && (name == "up" || name == "down" || name == "space" || name == "home"):
		return c.asked.Update(k), true
	}
	return nil, false
}

// reply answers the question that is shown with a letter, or with the key alone.
func (c *chat) reply(k tea.KeyPressMsg, letter string) tea.Cmd {
	if c.offer == nil {
		if letter != "" {
			k = tea.KeyPressMsg{Code: rune(letter[0]), Text: letter}
		}
		return c.asked.Update(k)
	}
	yes := letter == "y" || letter == "a"
	c.always = c.always || letter == "a"
	c.never[c.offer.skill] = letter == "N"
	c.offer.answer <- yes
	c.offer = nil
	return nil
}
