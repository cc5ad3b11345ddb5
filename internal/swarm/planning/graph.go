package planning

import (
	"fmt"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/material"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/text"
	"slices"
	"strings"
)

// Node is a feature in the graph of a session (row C34).
type Node struct {
	ID          string            `json:"id"`
	Description string            `json:"description"`
	State       book.State        `json:"state"`
	DependsOn   []string          `json:"dependsOn"`
	Blocks      []string          `json:"blocks"`        // that depend on it
	Ready       bool              `json:"ready"`         // what it depends on has landed, and no worker has it
	Complexity  int               `json:"complexity"`    // 0 to 100
	Files       []string          `json:"files"`         // that it or its chosen plan names
	Apart       []string          `json:"conflictsWith"` // that would touch the same files
	Route       plan.Route        `json:"route,omitzero"`
	Plan        string            `json:"plan,omitempty"` // A, B or none
	Context     *material.Context `json:"context,omitempty"`
}

// GraphOf is the graph of a session, in the order of the plan. Without context the nodes have none.
func GraphOf(s *book.Session, context bool) []Node {
	p := Foreseen(s)
	conflicts := plan.Conflicts(p.Features)
	out := []Node{}
	for i, f := range s.Features {
		n := Node{ID: f.ID, Description: f.Description, State: f.State, DependsOn: append([]string{}, f.DependsOn...), Blocks: []string{},
			Ready: f.State == book.Pending && s.Startable(f), Complexity: plan.Score(f.Feature).Total,
			Files: append([]string{}, p.Features[i].Files...), Apart: []string{}, Route: f.Route}
		for _, o := range s.Features {
			if slices.Contains(o.DependsOn, f.ID) {
				n.Blocks = append(n.Blocks, o.ID)
			}
		}
		for _, c := range conflicts {
			switch {
			case !c.SameFiles():
			case c.A == f.ID:
				n.Apart = append(n.Apart, c.B)
			case c.B == f.ID:
				n.Apart = append(n.Apart, c.A)
			}
		}
		if f.Planning != nil {
			n.Plan = f.Planning.Winner
		}
		if context && !f.Context.Empty() {
			n.Context = &f.Context
		}
		out = append(out, n)
	}
	return out
}

// Compact is a graph with one line for each feature: its id, its state, and what it waits for.
func Compact(nodes []Node) string {
	var b strings.Builder
	for _, n := range nodes {
		after := ""
		if len(n.DependsOn) > 0 {
			after = " <- " + strings.Join(n.DependsOn, ", ")
		}
		fmt.Fprintf(&b, "%s [%s]%s\n", text.OneLine(n.ID), strings.ReplaceAll(string(n.State), "_", " "), after)
	}
	return b.String()
}
