package screen

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"mycelium/internal/agent/ink"
	"mycelium/internal/agent/slash"
	"mycelium/internal/text"
)

// completion are the words that may stand where the person writes: commands, or files.
type completion struct {
	words []word
	at    int
	from  int // where the word begins in the text
	begun string
}

// word is one of them.
type word struct{ insert, name, about string }

// maxWords bounds the words that are shown.
const maxWords = 8

func (p *completion) open() bool { return len(p.words) > 0 }

func (p *completion) move(by int) { p.at = (p.at + by + len(p.words)) % len(p.words) }

// suggest finds the words for what stands before the cursor.
func (c *chat) suggest() tea.Cmd {
	before := string(c.edit.text[:c.edit.at])
	c.complete = completion{}
	if name, ok := strings.CutPrefix(before, "/"); ok && !strings.ContainsFunc(name, unicode.IsSpace) && slash.IsCommand("/x"+name) {
		for _, m := range c.o.Slash.Match(name) {
			about := text.Flatten(text.FirstLine(m.About))
			if m.Skill != "" {
				about += " [" + m.Skill + "]"
			}
			c.complete.words = append(c.complete.words, word{"/" + m.Name, strings.TrimSpace("/" + m.Name + " " + m.Args), about})
		}
		if len(c.complete.words) == 1 && c.complete.words[0].insert == before {
			c.complete = completion{}
		}
		return nil
	}
	at := strings.LastIndexByte(before, '@')
	if at < 0 || c.o.Files == nil || strings.ContainsFunc(before[at:], unicode.IsSpace) ||
		at > 0 && !unicode.IsSpace(rune(before[at-1])) {
		return nil
	}
	begun := before[at+1:]
	c.complete.from, c.complete.begun = len([]rune(before[:at])), begun
	return func() tea.Msg { return filesMsg{begun, c.o.Files(c.ctx, begun)} }
}

// files takes the files for a beginning, if the person still writes it.
func (p *completion) files(begun string, files []string) {
	if p.from+len([]rune(begun)) == 0 && begun == "" && len(p.words) > 0 || p.begun != begun {
		return
	}
	p.words, p.at = nil, 0
	for _, f := range files {
		p.words = append(p.words, word{"@" + f, f, ""})
	}
}

// take writes the chosen word. With Enter, a command that is written whole is not taken again, so that Enter sends it.
func (p *completion) take(e *editor, enter bool) bool {
	if !p.open() {
		return false
	}
	w := p.words[p.at]
	if enter && string(e.text[p.from:e.at]) == w.insert {
		*p = completion{}
		return false
	}
	e.remove(p.from)
	e.insert(w.insert)
	if !strings.HasSuffix(w.insert, "/") {
		e.insert(" ")
	}
	*p = completion{}
	return true
}

// lines draws the words below the line.
func (p *completion) lines(c *chat) []string {
	from := max(0, min(p.at-maxWords/2, len(p.words)-maxWords))
	wide := 0
	for _, w := range p.words {
		wide = min(max(wide, text.Width(text.OneLine(w.name))), c.width*2/3)
	}
	var out []string
	for i := from; i < min(len(p.words), from+maxWords); i++ {
		style, mark := ink.Plain, "  "
		if i == p.at {
			style, mark = ink.Cyan.With(ink.Bold), "▸ "
		}
		name := text.TruncateCells(text.OneLine(p.words[i].name), wide)
		out = append(out, c.paint(ink.Line{{Style: style, Text: mark + name + strings.Repeat(" ", wide-text.Width(name))},
			{Style: ink.Faint, Text: "  " + p.words[i].about}}.Cut(c.width)))
	}
	return out
}
