package role

import (
	"context"

	"mycelium/cmd/myc/internal/change"
	"mycelium/internal/config/meaning"
	"mycelium/internal/node/project"
)

// update is one change of a role's file.
type update struct {
	*change.File
	said   string // what is said when it is done
	result result
}

// result is what a change prints with --json.
type result struct {
	Role       string              `json:"role"`
	File       string              `json:"file"`
	Changes    []meaning.Change    `json:"changes"`
	References []project.Reference `json:"references,omitempty"` // what names a role that was deleted
}

// put checks a change, shows what it means, and puts it in force.
func (a *app) put(ctx context.Context, c *update) (err error) {
	if !c.Changed() {
		c.said = "nothing changed"
	}
	c.result.Changes, err = c.Put(ctx, a.App)
	return err
}
