// Command bench measures the program against the same work without it, in one run, and prints tables of ratios. It leaves no files
// behind. docs/proofs/performance.md explains the figures.
//
//	go run ./bench            # everything
//	go run ./bench -only call # start, chat, hook, call, sandbox, chaos, attack, replay, scale or swarm
//	go run ./bench -only call -check bench/limits.json # as CI can: ratios, not times
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "echo" {
		exit(echo(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "proxy" {
		exit(proxy())
	}
	var o options
	flag.StringVar(&o.only, "only", "", "measure only this: start, chat, hook, call, sandbox, chaos, attack, replay, scale or swarm")
	flag.StringVar(&o.myc, "myc", "", "the program to measure (default: built from this tree)")
	flag.StringVar(&o.old, "old", "", "another build of the program, to be measured beside it: HTTP front only")
	flag.IntVar(&o.starts, "starts", 21, "starts of each kind")
	flag.IntVar(&o.rounds, "rounds", 7, "rounds of calls")
	flag.DurationVar(&o.round, "round", 300*time.Millisecond, "length of a round")
	flag.StringVar(&o.way, "way", "", "measure only the ways of calling, or the attacks, that have this in their name")
	flag.DurationVar(&o.chaos, "chaos", 2*time.Second, "length of a round beside bad servers")
	flag.IntVar(&o.calls, "calls", 100_000, "calls through the daemon before its memory is read")
	flag.DurationVar(&o.minute, "minute", time.Second, "how long a minute of a plan of the swarm takes")
	flag.StringVar(&o.graphs, "graphs", "1,4,11", "task graphs that the swarm works through, of 1 to 15")
	flag.StringVar(&o.check, "check", "", "compare the ratios with this file of limits, and fail where one is exceeded")
	callers := flag.String("callers", "1,16,64", "numbers of callers")
	flag.Parse()
	for _, c := range strings.Split(*callers, ",") {
		n, err := strconv.Atoi(c)
		if err != nil || n < 1 {
			exit(fmt.Errorf("-callers: %q is not a number of callers", c))
		}
		o.callers = append(o.callers, n)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

type options struct {
	only   string
	myc    string
	old    string
	way    string
	starts int
	rounds int
	round  time.Duration
	chaos  time.Duration
	calls  int
	check  string
	minute time.Duration
	graphs string

	callers []int
}

func run(ctx context.Context, o options) error {
	b, err := newBed(ctx, o.myc)
	if err != nil {
		return err
	}
	defer b.close()
	fmt.Printf("%s, %d CPUs (%s), load %s, %s\n", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), cpuModel(), load(),
		runtime.Version())
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{"start", func() error { return measureStarts(ctx, b, o) }},
		{"chat", func() error { return measureChat(ctx, b, o) }},
		{"hook", func() error { return measureHook(ctx, b, o) }},
		{"call", func() error { return measureCalls(ctx, b, o) }},
		{"sandbox", func() error { return measureSandbox(ctx, b, o) }},
		{"chaos", func() error { return measureChaos(ctx, b, o) }},
		{"attack", func() error { return measureAttacks(ctx, b, o) }},
		{"replay", func() error { return measureReplay(ctx, b) }},
		{"scale", func() error { return measureScale(ctx, b) }},
		{"swarm", func() error { return measureSwarm(ctx, b, o) }},
	} {
		if o.only == "" || o.only == part.name {
			if err := part.measure(); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
	}
	fmt.Printf("\nload at the end: %s\n", load())
	return nil
}

// load returns the load of the machine. On a busy machine only the ratios are meaningful.
func load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(raw))[:3], " ")
}

func cpuModel() string {
	raw, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(raw)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
