package screen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/agent/ink"
	"mycelium/internal/approval"
	"mycelium/internal/approval/terminal"
	"mycelium/internal/text"
)

// View implements [tea.Model]: the skills at the top, the conversation, and at the bottom what asks or is written.
func (c *chat) View() tea.View {
	bottom, x, y := c.bottom()
	room := max(1, c.height-len(bottom)-2)
	lines := append([]string{c.top(), c.paint(ink.Text(ink.Faint, strings.Repeat("─", c.width)))}, c.window(room)...)
	for len(lines) < room+2 {
		lines = append(lines, "")
	}
	y += len(lines)
	v := tea.NewView(strings.Join(append(lines, bottom...), "\n"))
	v.AltScreen, v.WindowTitle = true, "myc · "+text.OneLine(c.o.Title)
	if x >= 0 {
		v.Cursor = tea.NewCursor(x, y)
	}
	return v
}

// room is the number of lines for the conversation.
func (c *chat) room() int {
	bottom, _, _ := c.bottom()
	return max(1, c.height-len(bottom)-2)
}

// paint writes a line for the terminal.
func (c *chat) paint(l ink.Line) string {
	if c.plain {
		return l.Raw()
	}
	return l.String()
}

// top is the first line: the active skills, the role, the model, and what the conversation has used. Where that is too long for the
// screen, the skills come first.
func (c *chat) top() string {
	left := headline(c.skills.Active)
	facts := []string{text.OneLine(c.skills.Role), text.OneLine(c.talk.Model), "", ""}
	if n := c.spent.Context; n > 0 {
		facts[2] = thousands(n) + " tokens"
	}
	if c.spent.Cost >= 0.005 {
		facts[3] = fmt.Sprintf("$%.2f", c.spent.Cost)
	}
	right := ink.Line{}
	for _, leave := range []int{-1, 2, 1, 3, 0} { // what is left out first, where there is no room
		if leave >= 0 {
			facts[leave] = ""
		}
		right = ink.Text(ink.Faint, strings.Join(slices.DeleteFunc(slices.Clone(facts), func(f string) bool { return f == "" }), " · "))
		if left.Width()+2+right.Width() <= c.width {
			break
		}
	}
	left = left.Cut(c.width - right.Width())
	space := ink.Span{Text: strings.Repeat(" ", c.width-left.Width()-right.Width())}
	return c.paint(append(append(slices.Clone(left), space), right...))
}

// thousands is a number of tokens as people say it.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}

// spinner is the sign that something runs.
var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// bottom is what stands below the conversation, with the place of the cursor in it: a question, a menu, or the person's line. x is -1
// where there is no cursor.
func (c *chat) bottom() (lines []string, x, y int) {
	add := func(l ink.Line) { lines = append(lines, c.paint(l.Cut(c.width))) }
	rule := ink.Text(ink.Faint, strings.Repeat("─", c.width))
	switch {
	case c.scroll > 0:
		add(ink.Text(ink.Faint, fmt.Sprintf("── %s below · PgDn ", text.Count(c.scroll, "line"))+strings.Repeat("─", c.width)))
	default:
		add(rule)
	}
	if c.cancel != nil {
		seconds := int(time.Since(c.began).Seconds())
		doing := " %ds · Esc cancels"
		if c.talk.Engine == nil {
			doing = " %ds · opens the session"
		}
		add(ink.Line{{Style: ink.Cyan, Text: spinner[c.frame%len(spinner)]}, {Style: ink.Faint, Text: fmt.Sprintf(doing, seconds)}})
	}
	switch {
	case c.menu != nil:
		lines = append(lines, c.menu.lines(c)...)
		return lines, -1, 0
	case c.offer != nil:
		add(ink.Line{{Style: ink.Yellow, Text: "⚠ "}, {Text: "This asks for the skill "}, {Style: ink.Bold, Text: text.OneLine(c.offer.skill)},
			{Text: ". Activate it?"}})
		add(ink.Text(ink.Faint, "  "+terminal.PromotionKeys))
	case c.asked.Waits():
		lines = append(lines, c.asked.Lines(c.width, max(6, c.height/2))...)
		add(rule)
	}
	prompt := ink.Text(ink.Cyan.With(ink.Bold), "❯ ")
	written, x, y := c.edit.lines(prompt, c.width, max(1, c.height/3))
	y += len(lines)
	for _, l := range written {
		add(l)
	}
	if c.chosen != nil {
		x = -1
	}
	add(rule)
	if c.complete.open() {
		lines = append(lines, c.complete.lines(c)...)
		return lines, x, y
	}
	add(ink.Text(ink.Faint, c.keys()))
	return lines, x, y
}

// keys is the last line.
func (c *chat) keys() string {
	switch {
	case c.hint != "":
		return c.hint
	case c.picks():
		return "Enter answers with " + c.edit.String() + " · a longer line is a message"
	case c.offer != nil || c.asked.Waits():
		return "a letter and Enter answer · Esc cancels · Ctrl-O unfolds the last call"
	case c.chosen != nil:
		return "↑↓ another call · Enter unfolds · Esc leaves"
	case len(c.others) > 0:
		return text.Count(len(c.others), "call") + " of other agents " + text.Plural(len(c.others), "waits", "wait") + ": myc approvals watch"
	case c.cancel != nil:
		return "Esc cancels · Ctrl-O unfolds the last call · PgUp scrolls"
	}
	return "/help · @file · Alt-Enter new line · Ctrl-O unfolds · Ctrl-D ends"
}

// mains are the arguments that say what a call is about, the most telling first.
var mains = [...]string{"command", "file_path", "path", "url", "pattern", "query", "name", "id"}

// Gist is what a call is about on one line: its command, file or address; else its arguments, as far as they are short.
func Gist(args []byte) string {
	var members map[string]jsontext.Value
	if json.Unmarshal(args, &members) != nil {
		return approval.Short(string(args), 200)
	}
	for _, name := range mains {
		var said string
		if json.Unmarshal(members[name], &said) == nil && said != "" {
			return approval.Short(said, 200)
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		parts = append(parts, name+": "+approval.Short(string(members[name]), 60))
	}
	return approval.Short(strings.Join(parts, ", "), 200)
}
