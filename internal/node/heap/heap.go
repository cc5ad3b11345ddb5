// Package heap keeps the memory of the process that owns a project small without making its calls slow.
package heap

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"
)

// freshHeap is the least number of bytes that the owner of a project allocates between two collections. Its live heap is 2 to 3 MiB in a
// small project. Go's default would then collect every two hundred calls, which costs a tenth of their CPU time. With a larger heap, the
// default takes over.
const freshHeap = 8 << 20

// limit is what the runtime may hold, in bytes. The collector works more before it is passed. The process has 256 MiB: about 25 MiB are pages
// of the program's file, which the runtime does not count, and the rest is for what the limit, which is soft, lets through.
const limit = 192 << 20

// Tend applies freshHeap and the limit from now on. GOGC and GOMEMLIMIT in the environment have precedence.
func Tend() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
	if os.Getenv("GOGC") == "" {
		afterCollection(100)
	}
}

// afterCollection sets GOGC for the heap that the last collection left, now and after each later collection.
func afterCollection(percent int) {
	next := 400 // before the first collection the live heap is not known
	if n := Live(); n > 0 {
		next = int(max(100, min(400, freshHeap*100/n)))
	}
	if next*10 < percent*9 || next*9 > percent*10 { // setting it stops the world for a moment
		debug.SetGCPercent(next)
		percent = next
	}
	// The cleanup runs when its object was collected, which is after the next collection.
	runtime.AddCleanup(&[64]byte{}, afterCollection, percent)
}

// Live returns how many bytes of objects the last collection found in use; 0 before the first one.
func Live() uint64 {
	live := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(live)
	return live[0].Value.Uint64()
}

// settled is how long the start of an owner and its first calls take.
const settled = 2 * time.Second

// DropStart returns the pages of the program that only the start needed, once. They are two thirds of it. The kernel still caches them
// and maps one again when it is needed.
func DropStart(ctx context.Context) error {
	t := time.NewTimer(settled)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
		dropProgram()
	}
	return nil
}
