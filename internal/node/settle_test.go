package node

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestRest: the index follows when the log has rested, and at the latest after indexLag while it never rests.
func TestRest(t *testing.T) {
	for name, c := range map[string]struct{ busy, want time.Duration }{
		"a single record":   {0, indexRest},
		"for three seconds": {3 * time.Second, 3*time.Second + indexRest},
		"for two minutes":   {2 * time.Minute, indexLag},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				changes := func() <-chan struct{} {
					changed := make(chan struct{})
					if time.Since(began) < c.busy {
						close(changed)
					}
					return changed
				}
				if !settle(t.Context(), changes) || time.Since(began) != c.want {
					t.Errorf("it rested for %v, want %v", time.Since(began), c.want)
				}
			})
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if settle(ctx, func() <-chan struct{} { return nil }) {
		t.Error("it goes on after the end")
	}
}
