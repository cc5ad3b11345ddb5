package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// key handles a key: for a question first, then for the menu, for a chosen call, and else for the line.
func (c *chat) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	twice := c.once && name == "ctrl+c"
	c.hint = ""
	if name != "ctrl+c" {
		c.once = false
	}
	switch {
	case twice:
		return c.quit()
	case c.scrolled(name, c.room()):
		return nil
	case c.asked.Types():
		return c.asked.Update(k)
	case name == "ctrl+c":
		c.interrupt()
		return nil
	case c.menu != nil:
		return c.menuKey(name)
	case c.chosen != nil && c.chosenKey(name, c.room()):
		return nil
	}
	if cmd, taken := c.questionKey(k, name); taken {
		return cmd
	}
	return c.lineKey(k, name)
}

// quit ends the chat, and the turn that runs.
func (c *chat) quit() tea.Cmd {
	if c.cancel != nil {
		c.cancel()
	}
	return tea.Quit
}

// interrupt cancels what runs, or else empties the line; pressed twice, Ctrl-C ends the chat.
func (c *chat) interrupt() {
	c.once, c.menu = true, nil
	switch {
	case c.cancel != nil:
		c.stop()
	default:
		c.edit.set("")
	}
	c.hint = "Ctrl-C again ends the chat"
}

// stop cancels what runs.
func (c *chat) stop() {
	c.cancel()
	c.hint = "cancelled; waiting for the call that runs"
}

// lineKey handles a key for the line that the person writes.
func (c *chat) lineKey(k tea.KeyPressMsg, name string) tea.Cmd {
	switch name {
	case "enter":
		if c.complete.take(&c.edit, true) {
			return c.suggest()
		}
		if before, ok := strings.CutSuffix(c.edit.String(), `\`); ok && c.edit.at == len(c.edit.text) {
			c.edit.set(before + "\n")
			return nil
		}
		return c.submit()
	case "tab":
		if c.complete.take(&c.edit, false) {
			return c.suggest()
		}
		return c.suggest()
	case "esc":
		switch {
		case c.complete.open():
			c.complete = completion{}
		case c.cancel != nil:
			c.queued = false
			c.stop()
		}
		return nil
	case "ctrl+d":
		if c.edit.String() == "" {
			return c.quit()
		}
		c.edit.key("delete", "")
		return c.suggest()
	case "ctrl+l":
		return tea.ClearScreen
	case "ctrl+o":
		c.choose(0, c.room())
		return nil
	case "up", "down", "ctrl+p", "ctrl+n":
		c.vertical(name)
		return nil
	}
	typed := k.Text
	if c.edit.key(name, typed) {
		return c.suggest()
	}
	return nil
}

// vertical moves in the completions, in the text, or in what was written before.
func (c *chat) vertical(name string) {
	by := 1
	if name == "up" || name == "ctrl+p" {
		by = -1
	}
	if c.complete.open() {
		c.complete.move(by)
		return
	}
	if c.edit.vertical(by) {
		return
	}
	if said, ok := c.history.move(by, c.edit.String()); ok {
		c.edit.set(said)
		c.complete = completion{}
	}
}
