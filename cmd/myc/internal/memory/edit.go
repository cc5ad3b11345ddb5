package memory

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/memory"
	"mycelium/internal/node/acts"
	"mycelium/internal/op/failure"
)

func (a *app) editCmd() *cobra.Command {
	return &cobra.Command{
		Use: "edit [ROLE]", Short: "Edit the memory of a role in your editor", Args: base.ArgRange(0, 1, "at most one role"),
		Long: "Opens a copy of the role's file in $VISUAL or $EDITOR. What agents save meanwhile stays. What cannot be read in the\n" +
			"file afterwards is reported with its line, and stays in the file.",
		Example: "  myc memory edit\n  EDITOR=nano myc memory edit developer",
		RunE: func(c *cobra.Command, args []string) error {
			return a.edit(c.Context(), append(args, "")[0])
		},
	}
}

func (a *app) edit(ctx context.Context, named string) error {
	f, p, role, err := a.ofRole("edit a memory", named)
	if err != nil {
		return err
	}
	d, _, err := f.Read(role)
	if err != nil {
		return err
	}
	was := d.Bytes()
	if len(was) == 0 { // a head to begin with
		if err := d.Add(time.Now()); err != nil {
			return err
		}
	}
	copied, err := a.inEditor(ctx, f, d.Bytes())
	if err != nil {
		return err
	}
	edited, err := os.ReadFile(filepath.Clean(copied))
	if err != nil {
		return err
	}
	if bytes.Equal(edited, d.Bytes()) {
		fmt.Fprintln(a.Out, "nothing changed")
		return os.Remove(copied)
	}
	var after *memory.Doc
	err = acts.Do(ctx, p, acts.Act{Act: "memory edit", Role: role}, func() error {
		return f.Change(role, func(now *memory.Doc) (*memory.Doc, error) {
			after, err = memory.Merge(role, was, edited, now, time.Now())
			return after, err
		})
	})
	if err != nil {
		return failure.Hint(fmt.Errorf("edit the memory of role %s: %w", role, err), "what you wrote is in "+copied)
	}
	for _, p := range after.Problems {
		p.File = f.Path(role)
		a.say([]memory.Problem{p})
	}
	fmt.Fprintf(a.Out, "the memory of role %s has %d entries\n", role, len(after.Entries()))
	return os.Remove(copied)
}

// inEditor lets the person edit a copy, which lies where no agent writes, and returns its path.
func (a *app) inEditor(ctx context.Context, f memory.Folder, data []byte) (string, error) {
	if err := os.MkdirAll(f.Locks, 0o700); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(f.Locks, "edit-*.md")
	if err != nil {
		return "", err
	}
	if _, err := file.Write(data); err != nil {
		return "", err
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	return file.Name(), base.Editor(ctx, a.App, file.Name())
}
