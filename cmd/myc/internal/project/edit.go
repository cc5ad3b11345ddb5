package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/op/failure"
)

// Edit is `myc edit`.
func Edit(a *base.App) *cobra.Command { return (&app{a}).editCmd() }

// EditFile is `myc edit WHAT`, of the user's own files or of the project's.
func EditFile(ctx context.Context, a *base.App, what string, user bool) error {
	return (&app{a}).edit(ctx, what, user)
}

func (a *app) editCmd() *cobra.Command {
	var user bool
	c := &cobra.Command{
		Use: "edit rules | config | roles/NAME | skills/NAME", Short: "Edit a file that governs, and put it in force when it is saved",
		Long: "Opens a copy of the file in $VISUAL or $EDITOR. When you have saved it and left the editor, the command checks the\n" +
			"copy, shows what changed and what that means, accepts it, and writes the file. A copy that does not load changes\n" +
			"nothing: it is kept, and the next myc edit of the file goes on with it.\n" +
			"With --user it is your own file in ~/.config/mycelium, which governs every project.",
		Example: "  myc edit rules\n  myc edit roles/developer\n  myc edit --user rules\n  EDITOR=nano myc edit config",
		Args:    base.ArgRange(1, 1, "one of rules, config, roles/NAME, skills/NAME"),
		RunE:    func(c *cobra.Command, args []string) error { return a.edit(c.Context(), args[0], user) },
	}
	c.Flags().BoolVar(&user, "user", false, "your own file, for every project")
	return c
}

func (a *app) edit(ctx context.Context, what string, user bool) error {
	if err := a.NeedPerson("edit what governs agents"); err != nil {
		return err
	}
	if user {
		if err := a.Begin(a.Know); err != nil {
			return err
		}
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	a.SayProject()
	e := &editing{app: a, p: p, what: what, user: user, dir: p.Dir}
	if user {
		e.dir = p.UserDir
	}
	if !e.accepted().Trusted {
		return failure.New(failure.Conflict, fmt.Errorf("edit: nothing of %s is accepted", e.dir),
			"look at it and accept it first: myc trust")
	}
	if e.name, err = e.find(); err != nil {
		return err
	}
	if e.ships, err = e.accepted().Shipped(p); err != nil {
		return fmt.Errorf("edit %s: %w", e.name, err)
	}
	e.copy, e.base = filepath.Join(e.edits(), "copy", filepath.FromSlash(e.name)), filepath.Join(e.edits(), "base", filepath.FromSlash(e.name))
	if err := e.open(); err != nil {
		return fmt.Errorf("edit %s: %w", e.name, err)
	}
	return e.run(ctx)
}

// run opens the editor until the copy is in force or is given up.
func (e *editing) run(ctx context.Context) error {
	for {
		if err := base.Editor(ctx, e.App, e.copy); err != nil {
			return failure.Hint(fmt.Errorf("edit %s: %w", e.name, err),
				"nothing was changed; set VISUAL or EDITOR to a program that edits text")
		}
		switch again, err := e.take(); {
		case err != nil:
			return fmt.Errorf("edit %s: %w", e.name, err)
		case !again:
			e.TellRestart(ctx)
			return nil
		}
	}
}

// readFile reads a file; an absent one is empty.
func readFile(path string) ([]byte, error) {
	switch st, err := os.Lstat(path); {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is a link or no file; edit what it leads to", path)
	}
	return os.ReadFile(filepath.Clean(path))
}
