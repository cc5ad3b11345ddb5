package swarm

import (
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/text"
)

func verificationCmd(a *app) *cobra.Command {
	var add []string
	var none bool
	c := &cobra.Command{Use: "verification", Short: "Show or change the commands that each landing must pass", Args: base.NoArgs,
		Long: "An agent that leads the session may add commands, too, and may take away again only what agents have added. What was allowed\n" +
			"with --allow-program of myc swarm init may be added here.",
		Example: "  myc swarm verification\n  myc swarm verification --add \"go vet ./...\"\n" +
			"  myc swarm verification --clear --add \"make check\"",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "change the verification", func(o *open.Swarm, s *book.Session) (err error) {
				if none || len(add) > 0 {
					if s, err = o.Verification(c.Context(), s.ID, add, none); err != nil {
						return failure.New(failure.Usage, err, text.HintOf(err))
					}
				}
				if a.JSON {
					return a.PrintJSON(map[string][][]string{"verify": s.Settings.Verify, "added": s.Settings.Added})
				}
				fmt.Fprintf(a.Out, "verified with: %s\n", text.Visible(ops.Verifies(s)))
				return nil
			})
		}}
	c.Flags().StringArrayVar(&add, "add", nil, "a `COMMAND`, run in the sandbox; may be given again")
	c.Flags().BoolVar(&none, "clear", false, "take away first those that there are")
	return c
}
