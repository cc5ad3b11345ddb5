package swarm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
	"sync"
)

// jobs is what a driver has under way, beside each other, and the errors that it bears.
type jobs struct {
	log  *slog.Logger
	wake chan struct{} // the next look comes at once
	work sync.WaitGroup

	mu      sync.Mutex
	running map[string]bool // by feature or review, and landJob
	err     error           // the first of a job that nobody has taken
	errs    int             // errors in a row
}

func newJobs(log *slog.Logger) *jobs {
	return &jobs{log: log, wake: make(chan struct{}, 1), running: map[string]bool{}}
}

// underWay are the jobs that are under way.
func (j *jobs) underWay() map[string]bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.running)
}

// idle reports whether nothing is under way.
func (j *jobs) idle() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.running) == 0
}

// again has the next step come at once.
func (j *jobs) again() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// busy reports whether a job is under way.
func (j *jobs) busy(job string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.running[job]
}

// failed takes the first error of a job. What was begun is begun again at the next look, as the next driver woulj.
func (j *jobs) failed() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.err
	j.err = nil
	return err
}

// maxErrors is after how many errors in a row a driver stops (requirements, C65).
const maxErrors = 5

// bear returns the error that ends the driver: what passes by itself does not, such as a file that vanishes while its tree is looked at.
func (j *jobs) bear(ctx context.Context, err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case err == nil:
		if len(j.running) == 0 && j.err == nil {
			j.errs = 0
		}
		return nil
	case ctx.Err() != nil, errors.As(err, new(*book.HeldError)):
		return err
	}
	if j.errs++; j.errs >= maxErrors {
		return fmt.Errorf("%s in a row, the last of which is: %w", text.Count(j.errs, "error"), err)
	}
	j.log.Warn("it is tried again", "error", err)
	return nil
}

// begin runs a job beside the others.
func (j *jobs) begin(ctx context.Context, name string, job func(context.Context) error) {
	j.mu.Lock()
	j.running[name] = true
	j.mu.Unlock()
	j.work.Go(func() {
		err := job(ctx)
		j.mu.Lock()
		delete(j.running, name)
		switch {
		case err == nil:
			j.errs = 0
		case j.err == nil && ctx.Err() == nil:
			j.err = err
		}
		j.mu.Unlock()
		j.again()
	})
}
