package swarm

import (
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/monitor"
)

func statusCmd(a *app) *cobra.Command {
	var graph, compact bool
	c := &cobra.Command{Use: "status", Short: "Show the features of the session and their workers", Args: base.NoArgs,
		Example: "  myc swarm status --graph\n  myc swarm status --json",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "see the swarm", func(o *open.Swarm, s *book.Session) error {
				if graph || compact {
					return a.graph(s, compact)
				}
				return a.show(c.Context(), o, s)
			})
		}}
	c.Flags().BoolVar(&graph, "graph", false, "show what waits for what; with --json also files, routes and context")
	c.Flags().BoolVar(&compact, "compact", false, "the graph with one line for each feature")
	return c
}

// shown is a session as `myc swarm status --json` prints it.
type shown struct {
	*book.Session
	Driver   string          `json:"driver,omitempty"`
	Cost     float64         `json:"costUSD"`
	Features []*book.Feature `json:"features"`
	// Account is with what workers reach their model: subscription, key, service, or signed-out.
	Account string                       `json:"account,omitempty"`
	Workers map[string]monitor.Heartbeat `json:"workers,omitempty"` // at work, by feature
}
