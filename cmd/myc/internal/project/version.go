package project

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/op/failure"
)

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version, the commit and its date",
		Example: "  myc version --json", Args: base.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			build := base.BuildOf()
			if a.JSON {
				return a.PrintJSON(map[string]any{"version": base.Version(), "commit": build.Commit, "date": build.Date,
					"modified": build.Modified, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			_, err := fmt.Fprintf(a.Out, "myc %s (%s; %s %s/%s)\n", base.Release, build.Origin(), runtime.Version(),
				runtime.GOOS, runtime.GOARCH)
			return err
		}}
}

func (a *app) completionCmd() *cobra.Command {
	return &cobra.Command{Use: "completion bash|zsh|fish", Short: "Print a completion script for a shell",
		Example: "  source <(myc completion bash)",
		Args:    base.ArgRange(1, 1, "bash, zsh or fish"), ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(c *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return c.Root().GenBashCompletionV2(a.Out, true)
			case "zsh":
				return c.Root().GenZshCompletion(a.Out)
			case "fish":
				return c.Root().GenFishCompletion(a.Out, true)
			}
			return failure.Usagef("completion: unknown shell %q: choose bash, zsh or fish", args[0])
		}}
}
