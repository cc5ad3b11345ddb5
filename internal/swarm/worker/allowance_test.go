package worker_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"mycelium/internal/swarm/worker"
)

// The time in which a worker waits for its provider is not taken from its own.
func TestAllowance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, a := worker.Allow(t.Context(), 10*time.Minute)
		defer a.End()
		time.Sleep(6 * time.Minute)
		a.Pause(true)
		a.Pause(true)
		time.Sleep(5 * time.Hour)
		a.Pause(false)
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Fatal("what it waited was counted")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if !errors.Is(context.Cause(ctx), worker.ErrSpent) {
			t.Errorf("after ten minutes of work: %v", context.Cause(ctx))
		}
	})
	ctx, none := worker.Allow(t.Context(), 0)
	none.Pause(true)
	if none.End(); ctx.Err() != nil {
		t.Error("no allowance has an end")
	}
}
