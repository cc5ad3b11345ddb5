package tools

import (
	"context"
	"fmt"
	"time"

	"mycelium/internal/node/catalog"
	"mycelium/internal/text"
)

// toolsSync writes the tool index and the categories (D7 to D9).
func (a *app) toolsSync(ctx context.Context) error {
	c, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := a.LearnAll(ctx, c); err != nil {
		return err
	}
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	say := func(format string, args ...any) {
		if !a.JSON {
			fmt.Fprintf(a.Out, format+"\n", args...)
		}
	}
	say("Syncing tools …")
	done, err := catalog.Sync(v, time.Now())
	if err != nil {
		return err
	}
	say("Found %s", text.Count(done.Tools, "tool"))
	for _, w := range done.Wrote {
		say("Wrote %s", w)
	}
	if a.JSON {
		return a.PrintJSON(done)
	}
	say("Done.")
	return nil
}
