package drive

import (
	"context"
	"fmt"
	"time"

	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/atomicfile"
	"mycelium/internal/node/swarmed"
)

// haltWithin is how long a driver may take to stop its workers: it gives each ten seconds twice, and a verification its time.
const haltWithin = swarmed.VerifyWithin + time.Minute

// Halt stops the workers of a paused session, and returns when they are gone.
func Halt(ctx context.Context, program *open.App, o *open.Swarm, id string) error {
	a := &app{program}
	s, err := o.Read(ctx, id)
	if err != nil {
		return err
	}
	options, err := a.options(ctx, o, s)
	if err != nil {
		return err
	}
	lock, err := atomicfile.LockWait(o.DriverLock(), haltWithin) // the one who drives it stops them, and ends
	if err == nil {
		err = lock.Unlock()
	}
	if err != nil {
		return fmt.Errorf("wait for the driver to stop its workers: %w", err)
	}
	return a.drive(ctx, o, options, id)
}
