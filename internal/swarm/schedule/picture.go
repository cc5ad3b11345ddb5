package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mycelium/internal/swarm/plan"
	"mycelium/internal/text"
)

// minColumns is the narrowest picture; a narrower terminal breaks its lines.
const minColumns = 40

// Gantt draws the timeline for a terminal of a width in columns: a line for each feature with its worker and its time, and a last line
// with the figures.
func (t Timeline) Gantt(columns int) string {
	columns = max(columns, minColumns)
	name, title := 0, 0
	for _, s := range t.Slots {
		name = max(name, text.Width(s.ID))
		title = max(title, text.Width(t.titles[s.ID]))
	}
	name = min(name, columns/4)
	if title = min(title, columns/3); columns < 80 {
		title = 0
	}
	worker := len(fmt.Sprint(t.Workers))
	head := name + 1 + worker + 2 // id, "w", worker, a space
	if title > 0 {
		head += title + 1
	}
	const times = 7 // " 12h30m"
	width := columns - head - times
	var b strings.Builder
	b.WriteString(strings.TrimRight(strings.Repeat(" ", head)+t.scale(width), " ") + "\n")
	for _, s := range t.Slots {
		b.WriteString(cell(s.ID, name) + " ")
		if title > 0 {
			b.WriteString(cell(t.titles[s.ID], title) + " ")
		}
		from, to := t.column(s.Start, width), t.column(s.End, width)
		if to = max(to, from+1); to > width {
			from, to = width-1, width
		}
		mark := "▒"
		if slices.Contains(t.Critical, s.ID) {
			mark = "█"
		}
		fmt.Fprintf(&b, "w%-*d %s%s%s %6s\n", worker, s.Worker, strings.Repeat(" ", from), strings.Repeat(mark, to-from),
			strings.Repeat(" ", width-to), Short(s.End-s.Start))
	}
	for _, line := range []string{
		fmt.Sprintf("%s: %s; one after the other: %s", text.Count(t.Workers, "worker"), Short(t.Makespan), Short(t.Total)),
		fmt.Sprintf("█ longest path  ▒ other work  no schedule is under %s", Short(t.Bound)),
	} {
		b.WriteString(text.TruncateCells(line, columns) + "\n")
	}
	return b.String()
}

// column is where a time lies in a bar.
func (t Timeline) column(at time.Duration, width int) int {
	if t.Makespan <= 0 {
		return 0
	}
	return int((float64(at)/float64(t.Makespan))*float64(width) + 0.5)
}

// scale is the line above the bars: the beginning, the end, and times between them where there is room.
func (t Timeline) scale(width int) string {
	end := Short(t.Makespan)
	line := "0"
	for i := 1; i < 4 && t.Makespan > 0; i++ {
		at := t.Makespan * time.Duration(i) / 4
		if place := t.column(at, width); place > len(line) && place+len(Short(at))+len(end) < width {
			line += strings.Repeat(" ", place-len(line)) + Short(at)
		}
	}
	return line + strings.Repeat(" ", max(width-len(line)-len(end), 1)) + end
}

// cell is a text in exactly so many columns.
func cell(s string, columns int) string {
	s = text.TruncateCells(text.OneLine(s), columns)
	return s + strings.Repeat(" ", max(columns-text.Width(s), 0))
}

// Short is a length of time for people: 45s, 25m, 1h30m, 2h.
func Short(d time.Duration) string {
	if d < time.Minute {
		return d.Round(time.Second).String()
	}
	s := strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	if hours, ok := strings.CutSuffix(s, "h0m"); ok {
		return hours + "h"
	}
	return s
}

// Row is a feature in the picture of what waits for what.
type Row struct {
	Feature plan.Feature
	Lead    string   // the lines of the tree before it
	After   []string // what it depends on besides the feature above it
}

// Rows are the features of a plan as a tree, from top to bottom, for a terminal of a width in columns. A feature stands once, below that of
// its dependencies which comes last; its other dependencies are named beside it.
func Rows(p plan.Plan, columns int) (rows []Row) {
	g := newGraph(p)
	var draw func(i int, before, branch, below string)
	draw = func(i int, before, branch, below string) {
		rows = append(rows, Row{p.Features[i], indent(before+branch, columns), g.others(i)})
		for n, child := range g.children[i] {
			if n == len(g.children[i])-1 {
				draw(child, before+below, "└─ ", "   ")
			} else {
				draw(child, before+below, "├─ ", "│  ")
			}
		}
	}
	for _, i := range g.roots {
		draw(i, "", "", "")
	}
	return rows
}

// Graph draws the rows of a plan as text. label is what stands before a feature, such as the mark of its state; it may be nil.
func Graph(p plan.Plan, columns int, label func(id string) string) string {
	var b strings.Builder
	columns = max(columns, minColumns)
	for _, r := range Rows(p, columns) {
		line := r.Feature.ID
		if label != nil {
			line = strings.TrimSpace(label(r.Feature.ID) + " " + line)
		}
		line += "  " + text.OneLine(r.Feature.Description)
		if len(r.After) > 0 {
			line = text.TruncateCells(line, columns*3/5) + "  (also after " + strings.Join(r.After, ", ") + ")"
		}
		b.WriteString(text.TruncateCells(r.Lead+line, columns) + "\n")
	}
	return b.String()
}

// indent is what stands before a feature that is deep in a tree: half the width at most, so that the feature is readable.
func indent(s string, columns int) string {
	if r, most := []rune(s), max(columns, minColumns)/2; len(r) > most {
		return "…" + string(r[len(r)-most+1:])
	}
	return s
}

// graph is the tree of a plan, by the numbers of features.
type graph struct {
	plan     plan.Plan
	parent   []int // -1 for a root
	roots    []int
	children [][]int
}

func newGraph(p plan.Plan) graph {
	n := len(p.Features)
	g := graph{plan: p, parent: make([]int, n), children: make([][]int, n)}
	at, level := map[string]int{}, make([]int, n)
	for i, f := range p.Features {
		at[f.ID] = i
	}
	for range n { // a plan has no circle, so this many rounds are enough
		changed := false
		for i, f := range p.Features {
			for _, on := range f.DependsOn {
				if o, known := at[on]; known && level[o] >= level[i] && level[o] < n {
					level[i], changed = level[o]+1, true
				}
			}
		}
		if !changed {
			break
		}
	}
	for i, f := range p.Features {
		g.parent[i] = -1
		for _, on := range f.DependsOn {
			if o, known := at[on]; known && level[o] < level[i] && (g.parent[i] < 0 || level[o] > level[g.parent[i]]) {
				g.parent[i] = o
			}
		}
		if g.parent[i] < 0 {
			g.roots = append(g.roots, i)
		} else {
			g.children[g.parent[i]] = append(g.children[g.parent[i]], i)
		}
	}
	return g
}

// others are the dependencies of a feature except its parent in the tree.
func (g graph) others(i int) []string {
	return slices.DeleteFunc(slices.Clone(g.plan.Features[i].DependsOn), func(on string) bool {
		return g.parent[i] >= 0 && g.plan.Features[g.parent[i]].ID == on
	})
}
