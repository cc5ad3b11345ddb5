package swarm

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/text"
)

func exportCmd(a *app) *cobra.Command {
	var force bool
	c := &cobra.Command{Use: "export FOLDER", Short: "Write the session as files for people and other programs",
		Args: base.ArgRange(1, 1, "the folder"),
		Long: "Writes claude-progress.txt (the last 100 entries of the log), feature_list.json (id, description, status and passes of each\n" +
			"feature) and init.sh, which makes a worktree of what has landed and says how it is verified. They are views of the session:\n" +
			"nothing reads them back, and the next export replaces them.",
		Example: "  myc swarm export ../views\n  sh ../views/init.sh",
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "see the swarm", func(o *open.Swarm, s *book.Session) error {
				paths, err := o.Export(c.Context(), s, args[0], force)
				if taken, ok := errors.AsType[*ops.TakenError](err); ok {
					return failure.New(failure.Conflict, taken, "name another folder; --force replaces it")
				}
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(exported{s.ID, paths})
				}
				for _, p := range paths {
					fmt.Fprintln(a.Out, text.OneLine(p))
				}
				return nil
			})
		}}
	c.Flags().BoolVar(&force, "force", false, "replace files that no export has written")
	return c
}

// exported is what an export has written, for programs.
type exported struct {
	Session string   `json:"session"`
	Files   []string `json:"files"`
}
