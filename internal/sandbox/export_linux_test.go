package sandbox

import "context"

// For tests of package sandbox_test, which knows what the gate knows.
var (
	Self           = self
	ProjectCommand = projectCommand
)

// Look is one look before a command.
func (c *Command) Look(ctx context.Context) (*Guarded, error) { return c.look(ctx, nil) }
