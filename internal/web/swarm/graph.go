package swarm

import (
	"fmt"
	"slices"

	"mycelium/internal/state"
	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
)

// graph is the picture of what waits for what: a column for each step from what waits for nothing, an arrow from each feature to those
// that wait for it. Lengths are in pixels.
type graph struct {
	Width, Height int
	Nodes         []node
	Edges         []edge
}

// node is a feature in the picture.
type node struct {
	X, Y          int
	TextX, TextY  int
	WordsY        int
	ID, Title     string
	State, Stands string
	Href          string
}

// edge is an arrow between two features.
type edge struct{ Path string }

// The measures of the picture.
const (
	nodeWidth  = 176
	nodeHeight = 52
	nodeGapX   = 56
	nodeGapY   = 16
	graphEdge  = 8
	nodeChars  = 19 // of a name, in the width of a node
)

// graphOf lays the features of a session out.
func graphOf(p state.Paths, of *book.Session) (g graph) {
	level := levels(of)
	rows := map[int]int{}
	at := map[string]node{}
	for _, f := range of.Features {
		l := level[f.ID]
		n := node{X: graphEdge + l*(nodeWidth+nodeGapX), Y: graphEdge + rows[l]*(nodeHeight+nodeGapY), ID: text.Cell(f.ID, nodeChars),
			Title: text.OneLine(f.ID) + ": " + text.Flatten(f.Description), State: string(f.State), Stands: text.Cell(of.Stands(f), 24),
			Href: addressOf(p, "features", f.ID)}
		n.TextX, n.TextY, n.WordsY = n.X+14, n.Y+22, n.Y+40
		rows[l]++
		at[f.ID] = n
		g.Nodes = append(g.Nodes, n)
		g.Width, g.Height = max(g.Width, n.X+nodeWidth+graphEdge), max(g.Height, n.Y+nodeHeight+graphEdge)
	}
	for _, f := range of.Features {
		for _, on := range f.DependsOn {
			from, known := at[on]
			if !known {
				continue
			}
			to := at[f.ID]
			x1, y1, x2, y2 := from.X+nodeWidth, from.Y+nodeHeight/2, to.X, to.Y+nodeHeight/2
			g.Edges = append(g.Edges, edge{fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+nodeGapX/2, y1, x2-nodeGapX/2, y2, x2-4, y2)})
		}
	}
	return g
}

// levels is how many steps each feature is from one that waits for nothing. A plan has no circle, so as many rounds as it has features are
// enough.
func levels(of *book.Session) map[string]int {
	level := map[string]int{}
	for range of.Features {
		changed := false
		for _, f := range of.Features {
			for _, on := range f.DependsOn {
				known := slices.ContainsFunc(of.Features, func(d *book.Feature) bool { return d.ID == on })
				if known && on != f.ID && level[on] >= level[f.ID] && level[on] < len(of.Features) {
					level[f.ID], changed = level[on]+1, true
				}
			}
		}
		if !changed {
			break
		}
	}
	return level
}
