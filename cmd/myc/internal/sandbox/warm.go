package sandbox

import (
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox/warm"
	"mycelium/internal/text"
)

func (a *app) warmCmd() *cobra.Command {
	return &cobra.Command{
		Use: "warm", Short: "Make what the caches of commands in the sandbox begin with", Args: base.NoArgs,
		Long: "Compiles Go's standard library for the toolchain of this project, in a sandbox without the project. That takes a minute or more,\n" +
			"once for all projects with this toolchain. Without it, the first build of each project in the sandbox compiles what it needs.\n" +
			"Takes the modules and packages that lock files of the project name from your caches, and names those whose hash is another.",
		Example: "  myc sandbox warm",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.NeedPerson("make what caches of the sandbox begin with"); err != nil {
				return err
			}
			of, err := a.ofProject()
			if err != nil {
				return err
			}
			paths, err := a.Know()
			if err != nil {
				return err
			}
			seed, err := sandboxed.MakeSeed(c.Context(), of.Project, paths, of.Home, a.Environ, false)
			if err != nil {
				return err
			}
			refused, err := sandboxed.Take(c.Context(), of.Project, paths, of.Home, a.Environ)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(struct {
					sandboxed.Seed
					Refused warm.Refused `json:"refused,omitempty"`
				}{seed, refused})
			}
			for _, path := range refused {
				fmt.Fprintf(a.Err, "myc: %s does not have the hash that a lock file of the project names: commands do not find it\n", text.Visible(path))
			}
			switch {
			case seed.Of == "":
				_, err = fmt.Fprintln(a.Out, "The project finds no program go in the sandbox: there is nothing to make.")
			case seed.Made:
				_, err = fmt.Fprintf(a.Out, "Go's standard library is compiled: %s.\n", text.Visible(seed.Of))
			default:
				_, err = fmt.Fprintf(a.Out, "Go's standard library was compiled before: %s.\n", text.Visible(seed.Of))
			}
			return err
		},
	}
}
