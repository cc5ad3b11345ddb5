package node

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"
)

// freshHeap is how much the owner of a project allocates between two collections at least, in bytes. Its live heap is 2 to 3 MiB
// where little is configured; Go's default would collect it whenever as much again was allocated, every two hundred calls, for a
// tenth of their CPU time. With a larger heap this is no more than the default.
const freshHeap = 8 << 20

// tendHeap sees to freshHeap from now on. GOGC, where it is set, is what its user wants instead.
func tendHeap() {
	if os.Getenv("GOGC") == "" {
		afterCollection(100)
	}
}

// afterCollection sets what is right for the heap that the last collection left, now and after each one to come.
func afterCollection(percent int) {
	live := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(live)
	next := 400 // before the first collection nothing is known
	if n := live[0].Value.Uint64(); n > 0 {
		next = int(max(100, min(400, freshHeap*100/n)))
	}
	if next*10 < percent*9 || next*9 > percent*10 { // setting it stops the world for a moment
		debug.SetGCPercent(next)
		percent = next
	}
	// A cleanup runs when its object was collected: after the next collection.
	runtime.AddCleanup(&[64]byte{}, afterCollection, percent)
}

// settled is when the start of an owner and its first calls are over.
const settled = 2 * time.Second

// dropStart gives back the pages of the program that only its start needed, once: they are two thirds of it, and the system
// has them still, for whoever needs one again.
func dropStart(ctx context.Context) error {
	if wait(ctx, settled) {
		dropProgram()
	}
	return nil
}
