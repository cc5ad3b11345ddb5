package drive

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
)

// StartCommand is `myc swarm start`.
func StartCommand(program *open.App) *cobra.Command {
	a := &app{program}
	c := &cobra.Command{Use: "start [FEATURE]...", Short: "Drive the session in the background",
		Long: "Does what `myc swarm auto` does, in a terminal of the swarm's own, and returns when the driver has begun. The features that\n" +
			"are named are given to workers before others; a feature whose dependencies have not landed is refused.",
		Example: "  myc swarm start\n  myc swarm start parser printer\n  myc swarm watch",
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "drive the swarm", func(o *open.Swarm, s *book.Session) error { return a.start(c.Context(), o, s, args) })
		}}
	WorkerFlags(program, c)
	return c
}

// start has a session driven in the background, these features first.
func (a *app) start(ctx context.Context, o *open.Swarm, s *book.Session, features []string) error {
	if err := a.drivable(s); err != nil {
		return err
	}
	for _, id := range features {
		if err := ops.Startable(s, id); err != nil {
			return err
		}
	}
	s, err := a.bounds(ctx, o, s, false)
	if err != nil {
		return err
	}
	for _, id := range features {
		if err := o.Want(ctx, s.ID, id, "", func(*book.Session, *book.Feature) error { return nil }); err != nil {
			return err
		}
	}
	if err := o.Auto(ctx, s.ID, "", 0); err != nil {
		return err
	}
	if len(features) > 0 {
		fmt.Fprintf(a.Out, "next: %s\n", strings.Join(features, ", "))
	}
	driven, err := o.Driven(ctx, s.ID)
	if err != nil {
		return err
	}
	if driven {
		fmt.Fprintln(a.Out, "the session is driven already: myc swarm watch")
		return nil
	}
	var flags []string
	if a.Anywhere {
		flags = append(flags, "--"+unsafeProgram)
	}
	if a.Wall != "" {
		flags = append(flags, "--wall", string(a.Wall))
	}
	began, err := o.Events(ctx, s.ID, 0, 1)
	if err != nil {
		return err
	}
	environ := swarmed.WorkerEnviron(a.Environ, s.Settings.Runner)
	if err := swarmed.Launch(ctx, o.Paths, a.Getenv("XDG_RUNTIME_DIR"), environ, s.ID, flags...); err != nil {
		return err
	}
	if err := a.driving(ctx, o, s.ID, began[len(began)-1].Seq); err != nil {
		return err
	}
	fmt.Fprintln(a.Out, "the session is driven in the background\nNext: myc swarm watch")
	return nil
}

// driveWithin is how long a driver may take to begin: it looks at its sandbox first.
const driveWithin = 30 * time.Second

// driving returns when a driver that was started has begun, or has ended by now. after is the last event before that.
func (a *app) driving(ctx context.Context, o *open.Swarm, id string, after int64) error {
	late := time.NewTimer(driveWithin)
	defer late.Stop()
	look := time.NewTicker(open.FollowEvery)
	defer look.Stop()
	for {
		driven, err := o.Driven(ctx, id)
		if err != nil || driven {
			return err
		}
		events, err := o.Events(ctx, id, after, 0)
		if err != nil {
			return err
		}
		for _, e := range events {
			switch {
			case strings.HasPrefix(e.Text, driverEnded):
				return errors.New(e.Text)
			case e.Feature != "": // it has driven it, to where nothing more becomes of it
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return failure.Hint(errors.New("the driver has not begun"), "myc swarm auto drives the session here, and says what is wrong")
		case <-look.C:
		}
	}
}
