// Package settings has the commands about the configuration: mycelium.yaml, and what it comes to with the user's own file.
package settings

import (
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/project"
	"mycelium/internal/op/failure"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Command is `myc config`.
func Command(b *base.App) *cobra.Command {
	a := &app{b}
	c := &cobra.Command{Use: "config", Short: "Show, change and check the configuration",
		Long: "The configuration of a project is mycelium.yaml, and your own is in ~/.config/mycelium, for every project. Flags and variables\n" +
			"of the environment count before both. A project can only narrow what your own files say.",
		Example: "  myc config show --sources\n  myc config set session.promotion confirm",
		Args:    elsewhere(map[string]string{"init": "myc init sets up a project"}),
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(a.showCmd(), a.getCmd(), a.setCmd(), a.editCmd(), a.exportCmd(), a.mcpCmd(), a.migrateCmd(), a.schemaCmd(),
		&cobra.Command{Use: "validate", Short: "Check every file; exit with 4 if one is wrong",
			Example: "  myc config validate --json", Args: base.NoArgs,
			RunE: func(*cobra.Command, []string) error { return a.validate() }})
	return c
}

// editCmd is `myc edit config`, where somebody looks for it.
func (a *app) editCmd() *cobra.Command {
	var user bool
	c := &cobra.Command{Use: "edit", Short: "Edit mycelium.yaml, and put it in force when it is saved (myc edit config)",
		Example: "  myc config edit\n  EDITOR=nano myc config edit --user", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return project.EditFile(c.Context(), a.App, "config", user) }}
	c.Flags().BoolVar(&user, "user", false, "your own file, for every project")
	return c
}

// elsewhere refuses arguments, and says where what somebody looks for is.
func elsewhere(where map[string]string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 && where[args[0]] != "" {
			return failure.New(failure.Usage, fmt.Errorf("%sunknown command %q", base.CommandName(c), args[0]), where[args[0]])
		}
		return base.NoArgs(c, args)
	}
}
