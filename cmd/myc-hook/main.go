// Command myc-hook answers one event of a coding agent. It is a small form of `myc hook` that starts in a few milliseconds. It asks the
// daemon of the project. Without a daemon it becomes the `myc` beside it.
//
// It is also the child of the sandbox, which builds the walls around a command, and of the light wall around an agent, and the program before
// the shell of such an agent, because it starts in a fourth of the time of `myc`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"mycelium/internal/hook"
	"mycelium/internal/node/agentshell/shim"
	"mycelium/internal/sandbox/jail"
)

func main() {
	switch {
	case jail.IsChild(os.Args[1:]):
		os.Exit(jail.Main())
	case jail.IsAround(os.Args[1:]):
		os.Exit(jail.AroundMain())
	}
	if shim.Is(os.Args[0]) {
		r := shim.Run{Program: os.Args[0], Args: os.Args[1:], Environ: os.Environ(), In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
		os.Exit(r.Main())
	}
	hook.Deaf()
	interrupted := func() context.Context {
		ends := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
		ctx, _ := signal.NotifyContext(context.Background(), ends...) //nolint:govet // until the process ends
		return ctx
	}
	os.Exit(hook.RunSmall(interrupted, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}
