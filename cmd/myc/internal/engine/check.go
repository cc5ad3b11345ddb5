package engine

import (
	"context"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/model"
	"mycelium/internal/node/project"
	"mycelium/internal/text"
)

// Check is what `myc doctor` says about our own agent: which engine works here, and why.
func Check(a *base.App) base.Check {
	return func(_ context.Context, _ *project.View, add base.Report) {
		c, err := Choose(a, "")
		if err != nil {
			add("ok", "agent", "myc \"question\": "+err.Error(), text.HintOf(err))
			return
		}
		said := "myc \"question\" uses the engine " + c.Name + ": " + c.Why
		if c.Name == API {
			said += "; its model is " + model.Resolve("") + " where neither --model nor the role says otherwise"
			if url := a.Getenv(URLVar); url != "" {
				said += "; it asks " + url
			}
		}
		add("ok", "agent", said, "")
	}
}
