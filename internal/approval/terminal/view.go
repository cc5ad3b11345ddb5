package terminal

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"mycelium/internal/approval"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// styles are the styles of the screen. Colour only repeats what the text says.
type styles struct{ bold, dim, warn, bad, good, chosen lipgloss.Style }

func (t *terminal) styles() styles {
	plain := lipgloss.NewStyle()
	if t.o.Plain {
		return styles{plain, plain, plain, plain, plain, plain}
	}
	colour := func(c string) lipgloss.Style { return plain.Foreground(lipgloss.Color(c)) }
	return styles{plain.Bold(true), plain.Faint(true), colour("3"), colour("1").Bold(true), colour("2"), plain.Reverse(true)}
}

// View draws the screen: title, list, details of the chosen request, keys. The result fits the screen.
func (t *terminal) View() tea.View {
	st := t.styles()
	_, at := t.current()
	list := window(t.rows(st), max(at, 0), max(2, t.height/3))
	rule := st.dim.Render(strings.Repeat("─", t.width))
	lines := append([]string{t.title(st), rule}, list...)
	lines = append(lines, rule)
	room := t.height - len(lines) - 2
	lines = append(lines, t.details(st, max(room, 0))...)
	for len(lines) < t.height-2 {
		lines = append(lines, "")
	}
	lines = append(lines[:max(0, t.height-2)], rule, t.bottom(st))
	for i, l := range lines {
		lines[i] = ansi.Truncate(l, t.width, "…")
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	v.WindowTitle = fmt.Sprintf("myc approvals (%d)", len(t.waiting))
	return v
}

// page returns how many lines a key scrolls.
func (t *terminal) page() int { return max(1, t.height/3) }

func (t *terminal) title(st styles) string {
	left := st.bold.Render("myc approvals") + st.dim.Render(" · "+text.OneLine(t.o.Title))
	return spread(left, fmt.Sprintf("%d waiting · %s", len(t.waiting), t.o.Now().Format("15:04:05")), t.width)
}

// spread puts a text at each end of a line, and cuts the left one if they do not fit.
func spread(left, right string, width int) string {
	left = ansi.Truncate(left, max(0, width-ansi.StringWidth(right)-1), "…")
	return left + strings.Repeat(" ", max(1, width-ansi.StringWidth(left)-ansi.StringWidth(right))) + right
}

// window returns at most n lines of a list, with line at among them.
func window(list []string, at, n int) []string {
	from := min(max(0, at-n/2), max(0, len(list)-n))
	return list[from:min(len(list), from+n)]
}

// rows returns the lines of the list: the requests that wait, then those that were settled last.
func (t *terminal) rows(st styles) []string {
	var out []string
	for _, r := range t.waiting {
		mark, style := " ", lipgloss.NewStyle()
		if r.ID == t.chosen {
			mark, style = "▸", st.chosen
		}
		left := fmt.Sprintf("%s %s %s %s %s", mark, pad(string(r.Risk), 8), pad(remaining(r.Deadline.Sub(t.o.Now())), 5),
			pad(who(r), min(max(t.width/5, 16), 30)), pad(subject(r), min(max(t.width/6, 14), 28)))
		if r.Waiting > 1 {
			left += fmt.Sprintf(" ×%d", r.Waiting)
		}
		line := ansi.Truncate(left+" "+Gist(r), t.width, "…")
		if r.ID == t.chosen {
			line += strings.Repeat(" ", max(0, t.width-ansi.StringWidth(line)))
		} else if r.Risk == policy.Critical || r.Risk == policy.High {
			style = st.warn
		}
		out = append(out, style.Render(line))
	}
	if len(t.waiting) == 0 {
		out = append(out, st.dim.Render("  nothing waits"))
	}
	for _, r := range t.settled {
		out = append(out, st.dim.Render(ansi.Truncate("  "+outcome(r)+": "+subject(r)+" "+Gist(r), t.width, "…")))
	}
	return out
}

// remaining writes a duration as minutes:seconds.
func remaining(d time.Duration) string {
	d = max(d, 0).Round(time.Second)
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// who returns what people call the agent of a request.
func who(r approval.Request) string {
	name := r.Label
	if r.Agent != "" {
		name = strings.TrimSpace(r.Agent + " " + r.Label)
	}
	if name == "" {
		name = r.Principal
	}
	return text.OneLine(name)
}

// subject returns what a request is about: a tool, a stop or a question.
func subject(r approval.Request) string {
	switch r.Kind {
	case approval.Stop:
		return "wants to stop"
	case approval.Question:
		return "asks"
	case approval.Call: // below
	}
	return text.OneLine(strings.TrimPrefix(r.Tool, "agent__"))
}

// Gist returns the main point of a request on one line: the command, the file, or the question.
func Gist(r approval.Request) string {
	switch {
	case r.Kind == approval.Question && len(r.Questions) > 0:
		return text.OneLine(r.Questions[0].Text)
	case r.Kind == approval.Stop:
		return text.OneLine(text.FirstLine(r.Text))
	}
	for _, p := range r.Facts.Parts {
		if len(p.Paths) > 0 && r.Tool != "agent__Bash" {
			return text.OneLine(p.Paths[0].Raw)
		}
	}
	args, _ := approval.ShowArgs(r)
	return text.OneLine(args)
}

// outcome says how a request was settled.
func outcome(r approval.Request) string {
	if r.Answer == nil {
		return string(r.State)
	}
	said := map[approval.State]string{approval.Allowed: "✓ allowed", approval.Denied: "✗ denied", approval.Expired: "✗ expired"}[r.State]
	if r.Answer.Overruled != "" {
		said = "✗ denied by the policy, although allowed"
	}
	if r.Answer.By == approval.ByDeadline {
		said += ": " + r.Kind.Lapse()
	}
	if r.Answer.By != "" && r.State != approval.Expired {
		said += " by " + text.OneLine(r.Answer.By)
	}
	if via := r.Answer.Via; via != "" && via != r.Answer.By && r.State != approval.Expired {
		said += " (" + via + ")"
	}
	if r.Answer.Overruled != "" {
		said += ": " + text.OneLine(r.Answer.Overruled)
	}
	switch r.Answer.For {
	case approval.Session:
		said += ", for the session"
	case approval.Never:
		said += ", never in this session"
	case approval.Rule:
		said += ", as rule " + text.OneLine(r.Answer.Rule)
	case approval.Once:
	}
	return said
}

// pad cuts or fills a text to a width in terminal cells.
func pad(s string, width int) string {
	s = ansi.Truncate(s, width, "…")
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}

// details returns the lines about the chosen request that fit.
func (t *terminal) details(st styles, room int) []string {
	r, at := t.current()
	if at < 0 || room == 0 {
		return nil
	}
	all := t.describe(r, st)
	t.scroll = min(t.scroll, max(0, len(all)-room))
	shown := all[t.scroll:min(len(all), t.scroll+room)]
	if rest := len(all) - t.scroll - len(shown); rest > 0 && len(shown) > 0 {
		shown = append(shown[:len(shown)-1:len(shown)-1], st.dim.Render(fmt.Sprintf(" … %d lines more (PgDn)", rest+1)))
	}
	return shown
}

// describe returns the lines about a request, wrapped to the screen.
func (t *terminal) describe(r approval.Request, st styles) []string {
	var out []string
	add := func(style lipgloss.Style, text string) {
		for _, line := range strings.Split(ansi.Wrap(text, t.width-2, ""), "\n") {
			out = append(out, " "+style.Render(line))
		}
	}
	plain := lipgloss.NewStyle()
	add(st.bold, strings.Join(nonEmpty(r.Tool, who(r), "role "+r.Role, "in "+r.Dir, r.Category, string(r.Risk)), " · "))
	if r.Reason != "" {
		add(plain, "asked because: "+text.OneLine(r.Reason)+bracketed(r.Rule))
	}
	if r.Opinion != "" {
		add(plain, "the model passed it on: "+text.OneLine(r.Opinion))
	}
	if r.Thinking != "" {
		add(st.dim, "the agent's reasoning (as it says): "+text.OneLine(r.Thinking))
	}
	for _, p := range r.Facts.Parts {
		if len(p.Unclear) > 0 {
			add(st.warn, "not understood: "+text.OneLine(strings.Join(p.Unclear, "; ")))
		}
	}
	terms, changed := approval.ShowTerms(r)
	for _, line := range terms {
		add(st.warn, line)
	}
	if changed != "" {
		add(st.warn, "since it was asked last: "+changed)
	}
	out = append(out, "")
	shown, diff := approval.ShowArgs(r)
	switch r.Kind {
	case approval.Stop:
		shown = text.Visible(r.Text)
	case approval.Question:
		shown = t.questionText(r)
	case approval.Call:
	}
	for _, line := range strings.Split(strings.ReplaceAll(shown, "\t", "    "), "\n") {
		style := plain
		if diff && strings.HasPrefix(line, "+") {
			style = st.good
		} else if diff && strings.HasPrefix(line, "-") {
			style = st.bad
		}
		add(style, line)
	}
	return out
}

// questionText returns the question that is asked now, with its options.
func (t *terminal) questionText(r approval.Request) string {
	if t.picks.at >= len(r.Questions) {
		return ""
	}
	q := r.Questions[t.picks.at]
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d: %s\n", t.picks.at+1, len(r.Questions), text.Visible(q.Text))
	for i, option := range q.Options {
		mark := " "
		if t.picks.chosen[i] {
			mark = "x"
		}
		if q.Many {
			fmt.Fprintf(&b, "[%s] %d %s\n", mark, i+1, text.OneLine(option))
		} else {
			fmt.Fprintf(&b, "  %d %s\n", i+1, text.OneLine(option))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func bracketed(rule string) string {
	if rule == "" {
		return ""
	}
	return " (" + text.OneLine(rule) + ")"
}

// nonEmpty drops empty parts.
func nonEmpty(parts ...string) []string {
	var out []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" && p != "role" && p != "in" {
			out = append(out, text.OneLine(p))
		}
	}
	return out
}

// lasting are the keys that allow a call for longer than once, and more than the call.
func lasting(r approval.Request) (keys string) {
	if r.Refuses(approval.Session) == "" {
		keys += "s session  "
	}
	if r.Refuses(approval.Rule) == "" {
		keys += "r rule  w wider  "
	}
	return keys
}

// bottom returns the last line: what the person types, a message, or the keys.
func (t *terminal) bottom(st styles) string {
	if t.ask != nil {
		line := t.ask.label
		if t.ask.keys == "" {
			line += ": " + string(t.ask.text) + "▏"
		}
		return st.bold.Render(ansi.TruncateLeft(line, max(0, ansi.StringWidth(line)-t.width), ""))
	}
	if t.said != "" {
		return t.said
	}
	keys, short := "↑↓ choose  PgDn more  q quit", "↑↓ PgDn  q quit"
	if t.inline {
		keys, short = "↑↓ choose  space more", "space more"
	}
	if r, at := t.current(); at >= 0 {
		switch r.Kind {
		case approval.Stop:
			keys = "c continue  l let it stop  " + keys
		case approval.Question:
			keys = "1-9 choose  t type an answer  x no answer  " + keys
			if t.picks.at < len(r.Questions) && r.Questions[t.picks.at].Many {
				keys = "1-9 mark  enter done  t type an answer  x no answer  " + short
			}
		case approval.Call:
			keys = "a allow  " + lasting(r) + "d deny  D why  n never  " + short
			if r.Rule == approval.PromotionRule {
				keys = PromotionKeys
			}
		}
	}
	return st.dim.Render(keys)
}
