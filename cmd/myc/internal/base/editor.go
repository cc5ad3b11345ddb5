package base

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
)

// Editor opens a file in $VISUAL or $EDITOR, else in vi, and returns when the person has left the editor.
func Editor(ctx context.Context, a *App, path string) error {
	program := cmp.Or(a.Getenv("VISUAL"), a.Getenv("EDITOR"), "vi")
	//nolint:gosec // the person's own editor, which may have arguments
	run := exec.CommandContext(ctx, "sh", "-c", program+` "$1"`, "sh", path)
	run.Stdin, run.Stdout, run.Stderr, run.Env = a.In, a.Out, a.Err, a.Environ
	if err := run.Run(); err != nil {
		return fmt.Errorf("the editor %s: %w", program, err)
	}
	return nil
}
