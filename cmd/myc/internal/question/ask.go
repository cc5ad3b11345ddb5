package question

import (
	"context"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/engine"
)

// Said is the question of a command line: the words, and with - or without words the input; "" if there is none.
func Said(b *base.App, args []string) (string, error) { return (&app{App: b}).said(args) }

// Ask asks one question as `myc "question"` does, and prints what comes of it. With next, a result for which it reports true is not
// printed, because something else goes on from there.
func Ask(ctx context.Context, b *base.App, o engine.Options, said string, next func(Result) bool) error {
	return (&app{App: b, options: o, next: next}).once(ctx, said, nil)
}

// Work does the task of a sub-agent, and prints what comes of it as JSON. What it calls is told on stderr.
func Work(ctx context.Context, b *base.App, o engine.Options, task string) error {
	return (&app{App: b, options: o, calls: true}).once(ctx, task, nil)
}
