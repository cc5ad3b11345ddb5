package drive

import (
	"context"
	"errors"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
)

// driverEnded begins what the events of a session say of a driver in the background that failed.
const driverEnded = "its driver ended: "

// nextWithin is how long a driver waits for the one before it, which has given up its lease and is about to end.
const nextWithin = 10 * time.Second

// Command is what runs in a terminal of the swarm's own: for `myc swarm start`, and where an agent asks for work through the
// tools. A session that is paused has its workers stopped. How it fails is in the events of the session, because nobody looks at its
// terminal.
func Command(program *open.App) *cobra.Command {
	a := &app{program}
	c := &cobra.Command{Use: swarmed.DriverCommand + " SESSION", Short: "Drive a session in the background", Hidden: true,
		Args: base.ArgRange(1, 1, "a session"),
		RunE: func(c *cobra.Command, args []string) error {
			signal.Ignore(syscall.SIGHUP) // its terminal may go
			o, err := a.Open(c.Context(), "drive the swarm")
			if err != nil {
				return err
			}
			defer o.Close()
			if err = a.driveAlone(c.Context(), o, args[0]); err == nil {
				return nil
			}
			_, told := o.Change(context.WithoutCancel(c.Context()), args[0], "", func(*book.Session) ([]book.Event, error) {
				return []book.Event{{Kind: "session", Text: driverEnded + text.Describe(err)}}, nil
			})
			return errors.Join(err, told)
		}}
	WorkerFlags(program, c)
	return c
}

func (a *app) driveAlone(ctx context.Context, o *open.Swarm, id string) error {
	s, err := o.Read(ctx, id)
	if err != nil {
		return err
	}
	if s, err = a.bounds(ctx, o, s, false); err != nil {
		return err
	}
	options, err := a.options(ctx, o, s)
	if err != nil {
		return err
	}
	return a.driveAfter(ctx, o, options, id, nextWithin)
}
