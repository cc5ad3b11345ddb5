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
	interrupted := func() context.Context {
		ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:govet // until the process ends
		return ctx
	}
	os.Exit(hook.RunSmall(interrupted, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}
