// Command myc-hook answers one event of a coding agent. It is `myc hook` as a small program that starts in a few milliseconds: it asks
// the daemon of the project, and where no daemon runs it becomes the `myc` beside it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"mycelium/internal/hook"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := hook.Program{Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()}
	os.Exit(p.Run(ctx))
}
