package swarm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
)

// BenchmarkFiftyWorkers is what a driver needs while 50 stub workers make five calls a second each: its share of a core in 20 seconds
// without the git that it starts, and the most memory that it had, start and end included.
func BenchmarkFiftyWorkers(b *testing.B) {
	const workers, lasts = 50, 10 * time.Minute // they are stopped before
	for range b.N {
		c := newChaos(b, 1)
		if _, err := c.book.Change(b.Context(), chaosSession, "", func(s *book.Session) ([]book.Event, error) {
			s.Settings.Workers, s.Features = workers, s.Features[:0]
			for i := range workers {
				id := "f" + strconv.Itoa(i)
				s.Features = append(s.Features, &book.Feature{State: book.Pending, Feature: plan.Feature{ID: id, Description: "Feature " + id,
					Details: fmt.Sprintf("stub: busy %d", lasts.Milliseconds())}})
			}
			return []book.Event{{Kind: "session"}}, nil
		}); err != nil {
			b.Fatal(err)
		}
		argv := process("driver", c.dir)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "HOME="+filepath.Join(c.dir, "home"), "TMPDIR="+c.dir)
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		look := time.NewTicker(time.Second)
		for running := 0; running < workers; <-look.C {
			running = 0
			for _, f := range c.session().Features {
				if a := f.Live(); a != nil && a.State == book.Running {
					running++
				}
			}
		}
		first, began := cpu(b, cmd.Process.Pid), time.Now()
		for range 20 {
			<-look.C
		}
		share := (cpu(b, cmd.Process.Pid) - first).Seconds() / time.Since(began).Seconds()
		look.Stop()
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err != nil {
			b.Fatal(err)
		}
		_, peak, _ := strings.Cut(string(status), "VmHWM:")
		var kib float64
		if _, err := fmt.Sscan(peak, &kib); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(100*share, "%core")
		b.ReportMetric(kib/1024, "MiB")
		c.to(book.Paused)
		<-ended
	}
}

// cpu is the time of the processor that a process has used.
func cpu(b *testing.B, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	var user, system int64
	part := strings.Fields(rest)
	if _, err := fmt.Sscan(part[11]+" "+part[12], &user, &system); err != nil { // proc(5): utime and stime, in ticks of 10 ms
		b.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
