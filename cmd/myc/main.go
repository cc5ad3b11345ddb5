// Command myc is Mycelium: one door between AI agents and everything that they may touch.
//
// The commands are below internal, one package a family, and what they drive is mycelium/internal/node. testdata/script holds the
// command line's tests, which are its manual too.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"mycelium/cmd/myc/internal/root"
)

func main() { os.Exit(run()) }

// run is main for the tests, in which the test binary plays the command.
func run() int {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup(1) has it ignored
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	return root.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
}
