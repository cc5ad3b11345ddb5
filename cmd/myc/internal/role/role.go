// Package role has the commands that write the files of roles.
package role

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/op/failure"
)

// Commands are `myc roles create`, edit, delete, history and restore.
func Commands(a *base.App) []*cobra.Command {
	var force, all bool
	remove := &cobra.Command{Use: "delete ROLE", Short: "Delete a role's file",
		Long: "Deletes the file of a role, and puts that in force. It is refused while something names the role: a skill, another role, a\n" +
			"rule, mycelium.yaml or a live session. Each such place is listed. With --force the file goes all the same.\n" +
			"myc roles restore brings a deleted role back.",
		Example: "  myc roles delete intern", Args: base.ArgRange(1, 1, "one role"),
		RunE: func(c *cobra.Command, args []string) error { return (&app{a}).delete(c.Context(), args[0], force) }}
	remove.Flags().BoolVar(&force, "force", false, "also if something names the role")
	past := &cobra.Command{Use: "history ROLE", Short: "List the versions of a role's file that were accepted",
		Long: "Lists the contents of a role's file that were in force, the newest first: when each was accepted, by which account, and what\n" +
			"it changed. What a change means is said against the other files as they are accepted now.",
		Example: "  myc roles history developer", Args: base.ArgRange(1, 1, "one role"),
		RunE: func(_ *cobra.Command, args []string) error { return (&app{a}).history(args[0], all) }}
	past.Flags().BoolVar(&all, "all", false, fmt.Sprintf("every version that is kept, not only the last %d", shownVersions))
	return []*cobra.Command{createCmd(a), editCmd(a), remove, past,
		{Use: "restore ROLE VERSION", Short: "Put a former version of a role's file in force again",
			Long:    "Writes the file as it was in a version that myc roles history lists, and puts that in force. This is a new version.",
			Example: "  myc roles restore developer 3", Args: base.ArgRange(2, 2, "a role and a version"),
			RunE: func(c *cobra.Command, args []string) error {
				return (&app{a}).restore(c.Context(), args[0], args[1])
			}}}
}

// app is the program with the commands of this family.
type app struct{ *base.App }

// load returns the project, of which something has to be accepted.
func (a *app) load(act string) (*config.Project, error) {
	if err := a.NeedPerson("change roles"); err != nil {
		return nil, err
	}
	p, err := a.Load()
	if err != nil {
		return nil, err
	}
	a.SayProject()
	if !p.Trusted {
		return nil, failure.New(failure.Conflict, fmt.Errorf("%s: nothing of %s is accepted", act, p.Dir),
			"look at it and accept it first: myc trust")
	}
	return p, nil
}

// done prints what was changed as JSON, or in words.
func (a *app) done(ctx context.Context, c *update) error {
	a.TellRestart(ctx)
	if a.JSON {
		return a.PrintJSON(c.result)
	}
	fmt.Fprintln(a.Out, c.said)
	return nil
}
