package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mycelium/internal/agent/ink"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/confidence"
	"mycelium/internal/swarm/monitor"
	"mycelium/internal/swarm/schedule"
	"mycelium/internal/text"
)

// wide is the width from which features and workers stand side by side.
const wide = 120

// View implements [tea.Model].
func (s *Screen) View() tea.View {
	lines := []ink.Line{s.title(), s.progress()}
	room := s.height - 4
	switch {
	case s.seen.Session == nil:
	case s.log:
		lines = append(lines, s.worked(room)...)
	case s.width >= wide:
		lines = append(lines, s.sideBySide(room)...)
	default:
		lines = append(lines, s.stacked(room)...)
	}
	lines = append(fitted(lines, s.height-2), rule(s.width), s.bottom())
	drawn := make([]string, len(lines))
	for i, l := range lines {
		if l = l.Cut(s.width); s.o.Plain {
			drawn[i] = l.Raw()
		} else {
			drawn[i] = l.String()
		}
	}
	v := tea.NewView(strings.Join(drawn, "\n"))
	v.AltScreen, v.WindowTitle = true, "myc swarm"
	return v
}

// sideBySide is the body of a wide screen: features and workers above, the log below.
func (s *Screen) sideBySide(room int) []ink.Line {
	left := s.width * 11 / 20
	right := s.width - left - 3
	above := min(max(len(s.rows), len(s.seen.Workers)*2, 3)+1, room*2/3)
	features, workers := s.features(left, above), fitted(s.workers(right), above)
	out := make([]ink.Line, 0, room)
	for i := range above {
		out = append(out, slices.Concat(fill(features[i], left), ink.Text(ink.Faint, " │ "), workers[i]))
	}
	out = append(out, rule(s.width))
	return append(out, s.events(room-above-1)...)
}

// stacked is the body of a narrow screen: features, workers, the log.
func (s *Screen) stacked(room int) []ink.Line {
	workers := s.workers(s.width)
	workers = workers[:min(len(workers), max(room/3, 2))]
	above := min(len(s.rows)+1, room-len(workers)-2-min(len(s.seen.Events)+1, max(room/4, 3)))
	out := append(s.features(s.width, above), rule(s.width))
	out = append(append(out, workers...), rule(s.width))
	return append(out, s.events(room-len(out))...)
}

// mark is the sign of a state, and its colour. The sign alone tells the states apart.
func mark(s book.State) ink.Span {
	switch s {
	case book.Completed:
		return ink.Span{Style: ink.Green, Text: "✓"}
	case book.Going:
		return ink.Span{Style: ink.Cyan, Text: "●"}
	case book.Queued:
		return ink.Span{Style: ink.Blue, Text: "◆"}
	case book.Waiting:
		return ink.Span{Style: ink.Yellow.With(ink.Bold), Text: "?"}
	case book.Failed:
		return ink.Span{Style: ink.Red, Text: "✗"}
	default:
	}
	return ink.Span{Style: ink.Faint, Text: "○"}
}

// title is the first line.
func (s *Screen) title() ink.Line {
	left := ink.Line{{Style: ink.Bold, Text: "myc swarm"}}
	if s.seen.Session == nil {
		return left
	}
	of := s.seen.Session
	style := map[book.State]ink.Style{book.Going: ink.Cyan, book.Completed: ink.Green, book.Paused: ink.Yellow, book.Faulty: ink.Red}[of.State]
	left = append(left, ink.Span{Style: ink.Faint, Text: " · "}, ink.Span{Style: style, Text: of.State.Words()})
	if s.seen.Driver == "" && of.Open() {
		left = append(left, ink.Span{Style: ink.Yellow, Text: ", nobody drives it"})
	}
	left = append(left, ink.Span{Style: ink.Faint, Text: " · " + text.OneLine(s.o.Title)})
	end := of.Ended
	if end.IsZero() {
		end = s.o.Now()
	}
	landed, cost := 0, of.Cost()
	for _, f := range of.Features {
		if f.State == book.Completed {
			landed++
		}
	}
	for _, w := range s.seen.Workers { // what they cost is added to their attempts when they end
		cost += w.Fresh
	}
	right := fmt.Sprintf("%d of %d landed · $%.2f · %s", landed, len(of.Features), cost, schedule.Short(end.Sub(of.Began)))
	return spread(left, ink.Text(ink.Plain, right), s.width)
}

// progress is the line below the title: one piece for each feature, those that have landed first.
func (s *Screen) progress() ink.Line {
	if s.seen.Session == nil || len(s.seen.Session.Features) == 0 {
		return rule(s.width)
	}
	var out ink.Line
	n, at := len(s.seen.Session.Features), 0
	for _, state := range []book.State{book.Completed, book.Queued, book.Going, book.Waiting, book.Failed, book.Pending} {
		for _, f := range s.seen.Session.Features {
			if f.State != state {
				continue
			}
			piece := "━"
			switch state {
			case book.Pending:
				piece = "─"
			case book.Going, book.Waiting, book.Failed:
				piece = "╍"
			default:
			}
			from, to := at*s.width/n, (at+1)*s.width/n
			out = append(out, ink.Span{Style: mark(state).Style, Text: strings.Repeat(piece, to-from)})
			at++
		}
	}
	return out
}

// features is what waits for what, in exactly so many lines.
func (s *Screen) features(width, height int) []ink.Line {
	out := []ink.Line{heading("FEATURES", "")}
	room := max(height-1, 1)
	from := min(max(0, s.at()-room/2), max(0, len(s.rows)-room))
	for _, r := range s.rows[from:min(len(s.rows), from+room)] {
		out = append(out, s.feature(r, width))
	}
	if n := len(s.rows); n > room {
		out[0] = heading("FEATURES", fmt.Sprintf("%d to %d of %d", from+1, min(n, from+room), n))
	}
	return fitted(out, height)
}

// feature is one row of the graph.
func (s *Screen) feature(r schedule.Row, width int) ink.Line {
	f, err := s.seen.Session.Feature(r.Feature.ID)
	if err != nil {
		return nil
	}
	m := mark(f.State)
	what, style := text.Flatten(f.Description), ink.Faint
	if f.Reason != "" && f.State != book.Completed {
		what, style = text.Flatten(f.Reason), m.Style
	}
	if len(r.After) > 0 {
		what += "  (also after " + strings.Join(r.After, ", ") + ")"
	}
	before := ink.Span{Text: "  "}
	name := ink.Span{Text: text.OneLine(f.ID)}
	if f.ID == s.chosen {
		before, name.Style = ink.Span{Style: ink.Cyan.With(ink.Bold), Text: "▸ "}, ink.Bold.With(ink.Reverse)
	}
	left := ink.Line{before, {Style: ink.Faint, Text: r.Lead}, m, {Text: " "}, name, {Style: style, Text: "  " + what}}
	return spread(left, ink.Text(m.Style, s.seen.Session.Stands(f)), width)
}

// workers are the workers at work: a line each, and a second one for what they do where there is room.
func (s *Screen) workers(width int) []ink.Line {
	out := []ink.Line{heading("WORKERS", strconv.Itoa(len(s.seen.Workers))+" at work")}
	if len(s.seen.Workers) == 0 {
		return append(out, ink.Text(ink.Faint, "  nobody works now"))
	}
	name := 0
	for _, w := range s.seen.Workers {
		name = max(name, text.Width(w.Feature))
	}
	name = min(name, 20)
	for _, w := range s.seen.Workers {
		style := ink.Green
		switch {
		case w.Verdict == confidence.Stuck || w.Score < monitor.Threshold(s.seen.Session.Settings):
			style = ink.Red
		case w.Verdict == confidence.Waiting || w.Score < 60:
			style = ink.Yellow
		}
		full := min(max(w.Score, 0), 100) * bar / 100
		l := ink.Line{{Style: ink.Cyan, Text: "  ● "}, {Text: cell(w.Feature, name) + "  "}, {Style: style, Text: strings.Repeat("━", full)},
			{Style: ink.Faint, Text: strings.Repeat("─", bar-full)}, {Text: fmt.Sprintf(" %3d ", w.Score)},
			{Style: style, Text: cell(string(w.Verdict), 8)}, {Text: fmt.Sprintf(" $%.2f %4s", w.Cost, schedule.Short(s.o.Now().Sub(w.Began)))}}
		doing := ink.Text(ink.Faint, "  "+w.Doing)
		if s.width >= wide {
			out = append(out, l, append(ink.Text(ink.Plain, "    "), doing...).Cut(width))
		} else {
			out = append(out, append(l, doing...).Cut(width))
		}
	}
	return out
}

// bar is the width of a bar of confidence.
const bar = 8

// events is the log of the session: its last lines.
func (s *Screen) events(height int) []ink.Line {
	out := []ink.Line{heading("LOG", "")}
	events := s.seen.Events
	for _, e := range events[max(0, len(events)-max(height-1, 0)):] {
		about, style := e.Feature, ink.Plain
		if e.Attempt > 1 {
			about += "#" + strconv.Itoa(e.Attempt)
		}
		if e.Feature == s.chosen {
			style = ink.Bold
		}
		out = append(out, ink.Line{{Style: ink.Faint, Text: "  " + e.At.Local().Format(time.TimeOnly) + "  "},
			{Style: style, Text: cell(about, 16) + "  "}, {Text: text.Flatten(e.Text)}})
	}
	return fitted(out, max(height, 0))
}

// worked is what the last worker of the chosen feature did, in so many lines.
func (s *Screen) worked(height int) []ink.Line {
	f, err := s.seen.Session.Feature(s.chosen)
	if err != nil {
		return nil
	}
	head := ink.Line{mark(f.State), {Text: " "}, {Style: ink.Bold, Text: text.OneLine(f.ID)}, {Style: ink.Faint, Text: "  " +
		text.Flatten(f.Description)}}
	out := []ink.Line{spread(head, ink.Text(mark(f.State).Style, s.seen.Session.Stands(f)), s.width), nil}
	var all []ink.Line
	for _, e := range s.seen.Log {
		style := ink.Plain
		if e.Failed {
			style = ink.Red
		}
		lead := ink.Line{{Style: ink.Faint, Text: " " + e.At.Local().Format(time.TimeOnly) + "  " + cell(e.Kind, 8)}}
		rest := ink.Text(ink.Plain, strings.Repeat(" ", lead.Width()))
		all = append(all, ink.Wrap(ink.Text(style, text.Cell(what(e), 600)), s.width, lead, rest)...)
	}
	if len(all) == 0 {
		all = []ink.Line{ink.Text(ink.Faint, " no worker has done anything here yet")}
	}
	room := max(height-2, 1)
	s.scroll = min(s.scroll, max(0, len(all)-room))
	end := len(all) - s.scroll
	return append(out, all[max(0, end-room):end]...)
}

// bottom is the last line: what the person writes, a message, or the keys.
func (s *Screen) bottom() ink.Line {
	switch t := s.typed; {
	case t != nil && t.asks:
		return ink.Text(ink.Yellow, t.label)
	case t != nil:
		shown := string(t.text) + "▏"
		for room := s.width - text.Width(t.label) - 2; text.Width(shown) > max(room, 1); { // its end is what is written now
			_, shown, _ = strings.Cut(shown, string([]rune(shown)[:1]))
		}
		return ink.Line{{Style: ink.Bold, Text: t.label + ": "}, {Text: shown}}
	case s.said != "":
		return ink.Text(ink.Yellow, s.said)
	case s.log:
		return ink.Text(ink.Faint, "↑↓ PgUp PgDn scroll  a attach  m message  Esc back")
	}
	keys := "↑↓ choose  Enter log  a attach  m message  p pause  q quit"
	if of := s.seen.Session; of != nil && of.State == book.Paused {
		keys = strings.Replace(keys, "p pause", "p go on", 1)
	}
	return ink.Text(ink.Faint, keys)
}

// heading is the name of a part of the screen.
func heading(name, more string) ink.Line {
	return ink.Line{{Style: ink.Bold.With(ink.Faint), Text: name}, {Style: ink.Faint, Text: "  " + more}}
}

func rule(width int) ink.Line { return ink.Text(ink.Faint, strings.Repeat("─", width)) }

// fitted is a part of the screen in exactly so many lines.
func fitted(lines []ink.Line, height int) []ink.Line {
	for len(lines) < height {
		lines = append(lines, nil)
	}
	return lines[:max(height, 0)]
}

// fill is a line in exactly so many cells.
func fill(l ink.Line, width int) ink.Line {
	l = l.Cut(width)
	return append(slices.Clone(l), ink.Span{Text: strings.Repeat(" ", max(0, width-l.Width()))})
}

// spread puts a line at each end, and cuts the left one.
func spread(left, right ink.Line, width int) ink.Line {
	return append(fill(left, max(0, width-right.Width()-2)), append(ink.Text(ink.Plain, "  "), right...)...)
}

// cell is a text in exactly so many cells.
func cell(s string, width int) string {
	s = text.Cell(s, width)
	return s + strings.Repeat(" ", max(0, width-text.Width(s)))
}
