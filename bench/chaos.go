package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mycelium/internal/rawjson"
)

// badModes are the kinds of misbehavior of test/hostile.
var badModes = []string{"hang", "stdout", "stderr", "dies", "nonsense", "late", "leaks", "storm"}

// measureChaos calls a healthy server, by turns alone and beside eight misbehaving servers that are called equally often.
func measureChaos(ctx context.Context, b *bed, o options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hostile, err := b.build(ctx, "mycelium/test/hostile")
	if err != nil {
		return err
	}
	var servers, tools strings.Builder
	fmt.Fprintf(&servers, "  healthy: {command: %q, args: [healthy]}\n", hostile)
	tools.WriteString("healthy__echo")
	for _, mode := range badModes {
		fmt.Fprintf(&servers, "  %s: {command: %q, args: [%s], timeout: 1s, stopTimeout: 500ms, env: {LATE: 1500ms}}\n", mode, hostile, mode)
		fmt.Fprintf(&tools, ", \"?%s__echo\"", mode)
	}
	dir, err := b.with(ctx, "chaos", servers.String(), tools.String())
	if err != nil {
		return err
	}
	f, end, err := openFront(ctx, b, dir)
	defer end()
	if err != nil {
		return err
	}
	quietRows := [][]string{{"healthy calls, 1 KB echo", "calls", "p50", "p99", "calls/s"}}
	var ratios []float64
	const callers, others = 16, 8
	if _, err := f.storm(ctx, callers, 0, o.chaos/4); err != nil { // warm up
		return err
	}
	var quiet, wild []time.Duration
	for range o.rounds {
		q, err := f.storm(ctx, callers, 0, o.chaos)
		if err != nil {
			return err
		}
		w, err := f.storm(ctx, callers, others, o.chaos)
		if err != nil {
			return err
		}
		ratios = append(ratios, float64(quantile(w, 0.99))/float64(quantile(q, 0.99)))
		quiet, wild = append(quiet, q...), append(wild, w...)
	}
	lasted := (time.Duration(o.rounds) * o.chaos).Seconds()
	row := func(name string, took []time.Duration) []string {
		return []string{name, fmt.Sprint(len(took)), spell(quantile(took, 0.5)), spell(quantile(took, 0.99)),
			fmt.Sprintf("%.0f", float64(len(took))/lasted)}
	}
	fmt.Println()
	table(append(quietRows, row(fmt.Sprintf("%d callers, nobody else", callers), quiet),
		row(fmt.Sprintf("%d callers, %d more call the %d bad servers", callers, others, len(badModes)), wild)))
	fmt.Printf("p99 with the bad ones: %.2f times that without (median of %d rounds that stood side by side)\n", quantile(ratios, 0.5),
		len(ratios))
	return nil
}

// storm calls the healthy server in a closed loop, while others call the bad ones. It returns the durations of the healthy calls.
func (f *front) storm(ctx context.Context, callers, others int, d time.Duration) ([]time.Duration, error) {
	until := time.Now().Add(d)
	took := make([][]time.Duration, callers)
	var group sync.WaitGroup
	var failed atomic.Pointer[error]
	for c := range callers {
		group.Go(func() {
			for n := 0; time.Now().Before(until) && failed.Load() == nil; n++ {
				start := time.Now()
				answer, err := f.post(ctx, f.token, "tools/call", "healthy__echo", `"name":"healthy__echo","arguments":{"text":"`+kilobyte+`"}`)
				took[c] = append(took[c], time.Since(start))
				if err = checked(demand{1, 1}, answer, nil, err); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	for i := range others {
		group.Go(func() {
			for n := i; time.Now().Before(until) && failed.Load() == nil; n++ {
				tool := badModes[n%len(badModes)] + "__echo"
				answer, err := f.post(ctx, f.token, "tools/call", tool, `"name":"`+tool+`","arguments":{"text":"x"}`)
				if err == nil && rawjson.Member(answer, "result") == nil && rawjson.Member(answer, "error") == nil {
					err = fmt.Errorf("%s: %.200s", tool, answer)
				}
				if err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	group.Wait()
	var all []time.Duration
	for _, t := range took {
		all = append(all, t...)
	}
	if err := failed.Load(); err != nil {
		return all, *err
	}
	return all, nil
}
