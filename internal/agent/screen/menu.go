package screen

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mycelium/internal/agent/ink"
	"mycelium/internal/agent/slash"
	"mycelium/internal/text"
)

// menu lets the person choose with the arrow keys.
type menu struct {
	*slash.Choice
	at int
}

func newMenu(c *slash.Choice) *menu {
	return &menu{c, max(0, slices.IndexFunc(c.Options, func(o slash.Option) bool { return o.Current }))}
}

// menuKey handles a key while the menu is open.
func (c *chat) menuKey(name string) tea.Cmd {
	m := c.menu
	switch name {
	case "up", "k", "ctrl+p", "shift+tab":
		m.at = (m.at + len(m.Options) - 1) % len(m.Options)
	case "down", "j", "ctrl+n", "tab":
		m.at = (m.at + 1) % len(m.Options)
	case "esc", "q", "ctrl+d":
		c.menu = nil
	case "enter":
		c.menu = nil
		id := m.Options[m.at].ID
		return c.start(func(ctx context.Context) tea.Msg {
			r, err := m.Then(ctx, id)
			return resultMsg{r, err}
		})
	}
	return nil
}

// lines draws the menu: at most half of the screen, with the chosen option among them.
func (m *menu) lines(c *chat) []string {
	out := []string{c.paint(ink.Text(ink.Bold, text.OneLine(m.Title)))}
	most := max(3, c.height/2)
	from := max(0, min(m.at-most/2, len(m.Options)-most))
	wide := 0
	for _, o := range m.Options {
		wide = min(max(wide, text.Width(text.OneLine(o.Name))), c.width/2)
	}
	for i := from; i < min(len(m.Options), from+most); i++ {
		o := m.Options[i]
		mark, style := "  ", ink.Plain
		if i == m.at {
			mark, style = "▸ ", ink.Cyan.With(ink.Bold)
		}
		name := text.TruncateCells(text.OneLine(o.Name), wide)
		l := ink.Line{{Style: style, Text: mark + name + strings.Repeat(" ", wide-text.Width(name))},
			{Style: ink.Faint, Text: "  " + text.Flatten(text.FirstLine(o.About))}}
		if o.Current {
			l = append(l, ink.Span{Style: ink.Green, Text: " ✓"})
		}
		out = append(out, c.paint(l.Cut(c.width)))
	}
	return append(out, c.paint(ink.Text(ink.Faint, "↑↓ choose · Enter takes · Esc leaves")))
}
