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
	case c.scrolled(name):
		return nil
	case c.asked.Types():
		return c.asked.Update(k)
	case name == "ctrl+c":
		c.interrupt()
		return nil
	case c.menu != nil:
		return c.menuKey(name)
	case (c.offer != nil || c.asked.Waits() && c.edit.String() == "") && name != "esc" && c.o.Approvals.Now().Before(c.armed):
		return nil
	case c.offer != nil:
		c.offerKey(name)
		return nil
	case c.asked.Waits() && c.edit.String() == "" && name != "esc" && name != "ctrl+o":
		return c.asked.Update(k)
	case c.chosen != nil && c.chosenKey(name):
		return nil
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

// scrolled handles a key that scrolls.
func (c *chat) scrolled(name string) bool {
	switch name {
	case "pgup", "ctrl+up", "shift+up":
		by := max(1, c.room()/2)
		if name != "pgup" {
			by = 1
		}
		c.scroll += by
	case "pgdown":
		c.scroll = max(0, c.scroll-max(1, c.room()/2))
	case "ctrl+down", "shift+down":
		c.scroll = max(0, c.scroll-1)
	case "ctrl+home":
		c.scroll = 1 << 30 // the view stops at the beginning
	case "ctrl+end":
		c.scroll = 0
	default:
		return false
	}
	return true
}

// offerKey answers the question whether a skill may be active.
func (c *chat) offerKey(name string) {
	switch name {
	case "y", "a":
		c.always = name == "a"
		c.offer.answer <- true
	case "n", "N", "esc", "enter":
		c.never[c.offer.skill] = name == "N"
		c.offer.answer <- false
	default:
		return
	}
	c.offer = nil
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
		c.choose(0)
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

// choose chooses a call to be unfolded: the last one, or else the one before or after the one that is chosen. With 0 it unfolds the one
// that is chosen, or folds it.
func (c *chat) choose(by int) {
	at := len(c.parts)
	for i, p := range c.parts {
		if p == c.chosen {
			at = i
		}
	}
	if by == 0 && c.chosen == nil {
		by = -1
		defer c.unfold()
	} else if by == 0 {
		c.unfold()
		return
	}
	for at += by; at >= 0 && at < len(c.parts); at += by {
		if foldable(c.parts[at]) {
			c.leave()
			c.chosen = c.parts[at]
			c.chosen.chosen = true
			c.touch(c.chosen)
			c.show(at)
			return
		}
	}
}

// foldable reports whether a part has more than it shows.
func foldable(p *part) bool {
	switch p.drawn.(type) {
	case *call, *thought:
		return true
	}
	return false
}

func (c *chat) unfold() {
	if c.chosen == nil {
		return
	}
	switch d := c.chosen.drawn.(type) {
	case *call:
		d.open = !d.open
	case *thought:
		d.open = !d.open
	}
	c.touch(c.chosen)
}

// leave chooses no call any more.
func (c *chat) leave() {
	if c.chosen != nil {
		c.chosen.chosen = false
		c.touch(c.chosen)
		c.chosen = nil
	}
}

// chosenKey handles a key while a call is chosen.
func (c *chat) chosenKey(name string) bool {
	switch name {
	case "up", "k":
		c.choose(-1)
	case "down", "j":
		c.choose(1)
	case "enter", "ctrl+o", "space":
		c.unfold()
	case "esc":
		c.leave()
		c.scroll = 0
	default:
		c.leave()
		return false
	}
	return true
}

// show scrolls so that a part is visible.
func (c *chat) show(at int) {
	below := 0
	for i := len(c.parts) - 1; i > at; i-- {
		below += c.heightOf(i)
	}
	top := below + c.heightOf(at)
	if below < c.scroll {
		c.scroll = below
	} else if room := c.room(); top > c.scroll+room {
		c.scroll = top - room
	}
}
