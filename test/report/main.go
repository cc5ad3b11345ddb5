// Command report runs the tests of the module and reports their progress: a line for each package that ends, every fifteen seconds the
// running tests, the output of failed tests, and at the end the slowest tests, when the longest packages ran, the skipped tests with their
// reasons, and how long the run took, by the clock and by the processors. Its arguments are flags of `go test`. It runs `go test` twice at
// the same time: with the race detector, for the packages that need it, and without; then twice with it, for what is left of those.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	all, err := list()
	if err != nil {
		fatal(err)
	}
	raced, plain, err := divide(all)
	if err != nil {
		fatal(err)
	}
	r := newReport(os.Stdout)
	r.first = time.Now()
	done := make(chan struct{})
	go r.tick(done)
	cmds, err := r.runAll(raced, plain)
	close(done)
	r.end()
	r.times(cmds)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fatal(err)
	}
	if err != nil || r.failed > 0 {
		os.Exit(1)
	}
}

// runAll runs the packages that need the race detector, in batches, beside the others; where the others are done, two batches at once.
func (r *report) runAll(raced, plain []string) (all []*exec.Cmd, err error) {
	most := runtime.GOMAXPROCS(0)
	batches := make(chan []string, len(raced))
	for batch := range slices.Chunk(raced, batchSize) {
		batches <- batch
	}
	close(batches)
	var mu sync.Mutex
	run := func(cmd *exec.Cmd) {
		failed := r.run(cmd)
		mu.Lock()
		defer mu.Unlock()
		all, err = append(all, cmd), cmp.Or(err, failed)
	}
	race := func() {
		for batch := range batches {
			run(goTest(slices.Concat([]string{"-race", withoutSQLite, "-p", strconv.Itoa(most)}, os.Args[1:], batch)))
		}
	}
	var work sync.WaitGroup
	work.Go(race)
	work.Go(func() {
		// Most tests wait for processes rather than compute, so twice as many packages run as there are processors.
		cmd := goTest(slices.Concat([]string{"-p", strconv.Itoa(most)}, os.Args[1:], plain))
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // most is compiled so already
		run(cmd)
		race()
	})
	work.Wait()
	return all, err
}

// batchSize is how many packages one `go test` has that runs with the race detector. Where the others are done, a second one takes the
// next batch: more and smaller ones end at the same time, fewer and larger ones begin faster.
const batchSize = 6

// withoutSQLite keeps the race detector out of SQLite. It is C that a program made into Go: its memory is not Go's, its locks are its own,
// and to follow it takes longer than all the rest of a test that opens a database.
const withoutSQLite = "-gcflags=modernc.org/...=-race=false"

func goTest(args []string) *exec.Cmd {
	return exec.Command("go", append([]string{"test", "-json"}, args...)...) //nolint:gosec // what make gives it
}

// run runs one `go test` to its end.
func (r *report) run(cmd *exec.Cmd) error {
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return errors.Join(r.read(out), cmd.Wait())
}

// times prints how long runs took, by the clock and by the processors. What a test leaves to init, such as a daemon, does not count.
func (r *report) times(runs []*exec.Cmd) {
	took, cpu := time.Since(r.first).Seconds(), 0.0
	for _, cmd := range runs {
		if s := cmd.ProcessState; s != nil {
			cpu += (s.UserTime() + s.SystemTime()).Seconds()
		}
	}
	fmt.Fprintf(r.out, "took %.0fs, and %.0fs of the processors: %.1f at a time\n", took, cpu, cpu/took)
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "report:", err)
	os.Exit(1)
}

// event is one line of `go test -json` (`go doc test2json`), or of `go build -json` for a build failure.
type event struct {
	Time       time.Time
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
	Elapsed    float64
}

type test struct{ pkg, name string }

// took names a test with its seconds.
func (t test) took(seconds float64) string {
	return fmt.Sprintf("%s %s (%.0fs)", t.pkg[strings.LastIndex(t.pkg, "/")+1:], t.name, seconds)
}

// span is when the tests of a package ran: how long after the run began, and for how long.
type span struct{ began, took time.Duration }

// report collects and prints events.
type report struct {
	out io.Writer

	mu                      sync.Mutex // guards what follows
	running                 map[test]time.Time
	output                  map[test]*strings.Builder
	took                    map[test]float64 // seconds of tests that ended; subtests are a part of theirs
	packages                map[string]span
	first                   time.Time      // when the run began; zero: with the first event
	skips                   map[string]int // reason → tests
	passed, failed, skipped int
}

func newReport(out io.Writer) *report {
	return &report{out: out, running: map[test]time.Time{}, output: map[test]*strings.Builder{}, took: map[test]float64{},
		packages: map[string]span{}, skips: map[string]int{}}
}

// read reads events until the stream ends. It prints a line that is not an event as it is.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
				r.mu.Lock()
				fmt.Fprint(r.out, line)
				r.mu.Unlock()
			} else {
				r.take(e)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) take(e event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := test{e.Package, e.Test}
	if r.first.IsZero() {
		r.first = e.Time
	}
	switch e.Action {
	case "start": // the package is compiled, and its tests begin
		r.packages[e.Package] = span{began: e.Time.Sub(r.first)}
	case "run", "cont":
		r.running[t] = time.Now()
	case "pause": // a parallel test waits for its turn
		delete(r.running, t)
	case "output":
		if r.output[t] == nil {
			r.output[t] = &strings.Builder{}
		}
		_, _ = r.output[t].WriteString(e.Output)
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.packageEnds(e)
		} else {
			r.testEnds(t, e.Action)
			if !strings.Contains(t.name, "/") {
				r.took[t] = e.Elapsed
			}
		}
		delete(r.running, t)
		delete(r.output, t)
	}
}

func (r *report) testEnds(t test, how string) {
	switch how {
	case "pass":
		r.passed++
	case "fail":
		r.failed++
		fmt.Fprintf(r.out, "--- FAIL: %s %s\n%s", t.pkg, t.name, r.said(t))
	case "skip":
		r.skipped++
		r.skips[reason(r.said(t))]++
	}
}

// packageEnds prints the line of a package. The package's own output is printed if it fails: a panic, a time-out or a leak.
func (r *report) packageEnds(e event) {
	r.packages[e.Package] = span{r.packages[e.Package].began, time.Duration(e.Elapsed * float64(time.Second))}
	switch e.Action {
	case "fail":
		r.failed++
		fmt.Fprintf(r.out, "%sFAIL %s %.1fs\n", r.said(test{e.Package, ""}), e.Package, e.Elapsed)
		for t := range r.running {
			if t.pkg == e.Package && t.name != "" {
				fmt.Fprintf(r.out, "--- did not end: %s %s\n%s", t.pkg, t.name, r.said(t))
				delete(r.running, t)
			}
		}
	case "pass":
		fmt.Fprintf(r.out, "ok   %s %.1fs\n", e.Package, e.Elapsed)
	}
}

func (r *report) said(t test) string {
	if b := r.output[t]; b != nil {
		return b.String()
	}
	return ""
}

// reason returns why a test was skipped: the last line of its log.
func reason(output string) string {
	for _, line := range slices.Backward(strings.Split(strings.TrimSpace(output), "\n")) {
		if _, text, ok := strings.Cut(line, ".go:"); ok {
			if _, text, ok = strings.Cut(text, ": "); ok {
				return text
			}
		}
	}
	return "no reason given"
}

// tick prints the running tests every fifteen seconds.
func (r *report) tick(done <-chan struct{}) {
	t := time.NewTicker(15 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-done:
			return
		case now := <-t.C:
			r.progress(now)
		}
	}
}

// progress prints the number of finished tests and the three that have run longest.
func (r *report) progress(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	longest := slices.SortedFunc(maps.Keys(r.running), func(a, b test) int { return r.running[a].Compare(r.running[b]) })
	longest = slices.DeleteFunc(longest, func(t test) bool { return strings.Contains(t.name, "/") })
	var names []string
	for _, t := range longest[:min(3, len(longest))] {
		names = append(names, t.took(now.Sub(r.running[t]).Seconds()))
	}
	fmt.Fprintf(r.out, "...  %d tests ended; running: %s\n", r.passed+r.failed+r.skipped, strings.Join(names, ", "))
}

// longest names the packages that took longest, in the order in which they began: what runs alone at the end is what the others wait for.
func (r *report) longest(n int) []string {
	names := slices.SortedFunc(maps.Keys(r.packages), func(a, b string) int { return cmp.Compare(r.packages[b].took, r.packages[a].took) })
	names = names[:min(n, len(names))]
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(r.packages[a].began, r.packages[b].began) })
	for i, name := range names {
		s := r.packages[name]
		names[i] = fmt.Sprintf("%s (%.0fs to %.0fs)", name, s.began.Seconds(), (s.began + s.took).Seconds())
	}
	return names
}

// end prints the slowest tests, the packages that took longest, the skipped ones with their reasons, each in one line, and the totals.
func (r *report) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	slowest := slices.SortedFunc(maps.Keys(r.took), func(a, b test) int { return cmp.Compare(r.took[b], r.took[a]) })
	var names []string
	for _, t := range slowest[:min(10, len(slowest))] {
		names = append(names, t.took(r.took[t]))
	}
	fmt.Fprintf(r.out, "slowest: %s\n", strings.Join(names, ", "))
	fmt.Fprintf(r.out, "longest packages: %s\n", strings.Join(r.longest(8), ", "))
	var why []string
	for _, reason := range slices.Sorted(maps.Keys(r.skips)) {
		why = append(why, fmt.Sprintf("%d because %s", r.skips[reason], reason))
	}
	if len(why) == 0 {
		why = []string{"nothing"}
	}
	fmt.Fprintf(r.out, "skipped: %s\n%d passed, %d failed, %d skipped\n", strings.Join(why, "; "), r.passed, r.failed, r.skipped)
}
