package screen

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/agent"
	"mycelium/internal/agent/ink"
	"mycelium/internal/agent/markdown"
	"mycelium/internal/approval"
	"mycelium/internal/text"
)

// drawn is something in a conversation.
type drawn interface{ draw(width int) []ink.Line }

// part is something in a conversation with the lines that it has at a width.
type part struct {
	drawn
	kept   []string
	width  int  // for which kept was drawn; 0: it must be drawn
	chosen bool // by the person, to be unfolded
}

// lines returns the part as it is on the screen.
func (p *part) lines(width int, plain bool) []string {
	if p.width == width {
		return p.kept
	}
	p.width, p.kept = width, p.kept[:0:0]
	for _, l := range p.draw(width) {
		if plain {
			p.kept = append(p.kept, l.Raw())
		} else {
			p.kept = append(p.kept, l.String())
		}
	}
	return p.kept
}

// close reports whether a part stands below the one before without a blank line.
func (p *part) close(before *part) bool {
	switch p.drawn.(type) {
	case *call, note, *thought:
		switch before.drawn.(type) {
		case *call, note, *thought, header, change:
			return true
		}
	case *answer, change:
		switch before.drawn.(type) {
		case header, change:
			return true
		}
	}
	return false
}

// said is what the person said.
type said struct{ text string }

func (s said) draw(width int) []ink.Line {
	var out []ink.Line
	first := ink.Text(ink.Cyan.With(ink.Bold), "❯ ")
	for line := range strings.SplitSeq(ink.Clean(s.text), "\n") {
		out = append(out, ink.Wrap(ink.Text(ink.Bold, line), width, first, ink.Text("", "  "))...)
		first = ink.Text("", "  ")
	}
	return out
}

// header begins an answer: the skills that are active (B18).
type header struct{ skills []string }

func (h header) draw(width int) []ink.Line { return []ink.Line{headline(h.skills).Cut(width)} }

func headline(skills []string) ink.Line {
	return ink.Line{{Style: ink.Green, Text: "● "}, {Style: ink.Bold, Text: text.OneLine(bracketed(skills))}}
}

// answer is Markdown of the model.
type answer struct{ src string }

func (a *answer) draw(width int) []ink.Line { return markdown.Render(a.src, width) }

// thought is the model's reasoning, of which the last line is shown.
type thought struct {
	text string
	open bool
}

func (t *thought) draw(width int) []ink.Line {
	s := strings.TrimSpace(ink.Clean(t.text))
	if !t.open {
		return []ink.Line{ink.Text(ink.Faint.With(ink.Italic), "✻ "+s[strings.LastIndexByte(s, '\n')+1:]).Cut(width)}
	}
	var out []ink.Line
	first := "✻ "
	for line := range strings.SplitSeq(s, "\n") {
		out = append(out, ink.Wrap(ink.Text(ink.Faint.With(ink.Italic), line), width, ink.Text(ink.Faint, first), ink.Text("", "  "))...)
		first = "  "
	}
	return out
}

// note is a line beside the conversation.
type note struct{ text string }

func (n note) draw(width int) []ink.Line {
	return ink.Wrap(ink.Text(ink.Faint, text.OneLine(n.text)), width, ink.Text(ink.Faint, "· "), ink.Text("", "  "))
}

// change says which skills and which role are others now (B18).
type change struct {
	skills agent.Skills
	role   string // the new one; empty: it is the same
}

func (n change) draw(width int) []ink.Line { return ink.Wrap(n.line(), width, nil, ink.Text("", "  ")) }

func (n change) line() ink.Line {
	var signs []string
	for _, s := range n.skills.Added {
		signs = append(signs, "+"+s)
	}
	for _, s := range n.skills.Removed {
		signs = append(signs, "−"+s)
	}
	l := ink.Line{{Style: ink.Green, Text: "✓ "}}
	if n.role != "" {
		l = append(l, ink.Span{Text: "role " + text.OneLine(n.role) + "  "})
	}
	l = append(l, ink.Span{Style: ink.Bold, Text: text.OneLine(bracketed(n.skills.Active))})
	if len(signs) > 0 {
		l = append(l, ink.Span{Style: ink.Faint, Text: " (" + text.OneLine(strings.Join(signs, ", ")) + ")"})
	}
	return l
}

// printed is what a command shows.
type printed struct{ text string }

func (p printed) draw(width int) []ink.Line {
	var out []ink.Line
	for line := range strings.SplitSeq(ink.Clean(p.text), "\n") {
		rest := ink.Text("", strings.Repeat(" ", min(2+column(line), width/2)))
		out = append(out, ink.Wrap(ink.Text(ink.Plain, line), width, ink.Text("", "  "), rest)...)
	}
	return out
}

// column is where the second column of a line begins, in cells: behind the first words that two spaces follow. 0: there is none.
func column(line string) int {
	begin := len(line) - len(strings.TrimLeft(line, " "))
	gap := strings.Index(line[begin:], "  ")
	if gap < 0 {
		return text.Width(line[:begin])
	}
	rest := line[begin+gap:]
	return text.Width(line[:len(line)-len(strings.TrimLeft(rest, " "))])
}

// greeting is what an empty chat shows.
type greeting struct{ title string }

func (g greeting) draw(width int) []ink.Line {
	out := []ink.Line{ink.Line{{Style: ink.Bold, Text: "Mycelium"}, {Style: ink.Faint, Text: "  " + text.OneLine(g.title)}}.Cut(width), nil}
	for _, said := range []string{"Only the tools of the active skills exist for the agent. Each call passes the policy and is recorded.",
		"Say what you want to have done, or /help."} {
		out = append(out, ink.Wrap(ink.Text(ink.Faint, said), width, nil, nil)...)
	}
	return out
}

// failed is an error with its hint.
type failed struct{ what, hint string }

func (f failed) draw(width int) []ink.Line {
	out := ink.Wrap(ink.Text(ink.Red, f.what), width, ink.Text(ink.Red, "✗ "), ink.Text("", "  "))
	if f.hint != "" {
		out = append(out, ink.Wrap(ink.Text(ink.Faint, text.OneLine(f.hint)), width, ink.Text("", "  "), ink.Text("", "  "))...)
	}
	return out
}

// call is a call of a tool with its outcome.
type call struct {
	agent.Call
	part  *part
	done  *agent.Done
	state string
	open  bool
}

// maxShown bounds the lines of a result that is unfolded. The rest is in the log.
const maxShown = 200

func (k *call) draw(width int) []ink.Line {
	mark, end := ink.Span{Style: ink.Yellow, Text: "○ "}, ink.Span{Style: ink.Faint, Text: k.state}
	if d := k.done; d != nil {
		mark = ink.Span{Style: ink.Green, Text: "✓ "}
		end.Text = approval.Short(text.FirstLine(d.Text), 60)
		if lines := strings.Count(strings.TrimSpace(d.Text), "\n") + 1; lines > 1 && !d.Failed {
			end.Text = text.Count(lines, "line")
		}
		if d.Failed {
			mark, end.Style = ink.Span{Style: ink.Red, Text: "✗ "}, ink.Red
			end.Text = approval.Short(d.Text, 200)
		}
		// A conversation that goes on has no effects, and is read as the engine reads a result.
		if reason, said := strings.CutPrefix(d.Text, "Denied by policy: "); d.Effect == "deny" || said && d.Failed {
			end.Text = "denied: " + approval.Short(reason, 200)
		}
	}
	if k.part != nil && k.part.chosen {
		mark.Style = mark.Style.With(ink.Reverse)
	}
	request := approval.Request{Tool: k.Tool, Args: jsontext.Value(k.Args)}
	name := text.OneLine(strings.TrimPrefix(k.Tool, "agent__"))
	l := ink.Line{mark, {Style: ink.Bold, Text: name}}
	if gist := Gist(k.Args); gist != "" && !k.open {
		l = append(l, ink.Span{Text: " " + text.TruncateCells(gist, max(10, width/2))})
	}
	if end.Text != "" {
		l = append(l, ink.Span{Style: ink.Faint, Text: "  "}, end)
	}
	out := []ink.Line{l.Cut(width)}
	if !k.open {
		return out
	}
	bar := ink.Text(ink.Faint, "  │ ")
	shown, diff := approval.ShowArgs(request)
	for line := range strings.SplitSeq(ink.Clean(shown), "\n") {
		style := ink.Plain
		if diff {
			style = markdown.DiffStyle(line)
		}
		out = append(out, ink.Chop(style, line, width, bar)...)
	}
	if k.done == nil {
		return out
	}
	out = append(out, ink.Text(ink.Faint, "  ├ "+strings.Repeat("─", min(20, width-4))))
	lines := strings.Split(strings.TrimRight(ink.Clean(k.done.Text), "\n"), "\n")
	for i, line := range lines {
		if i == maxShown {
			out = append(out, append(bar[:1:1], ink.Span{Style: ink.Faint, Text: fmt.Sprintf("… %d lines more", len(lines)-i)}))
			break
		}
		out = append(out, ink.Chop(ink.Faint, line, width, bar)...)
	}
	return out
}
