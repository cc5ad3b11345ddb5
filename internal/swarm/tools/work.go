package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mycelium/internal/swarm"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/monitor"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/swarm/review"
	"mycelium/internal/swarm/schedule"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

func startWorker(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err == nil {
		err = c.Want(ctx, s.ID, a.Feature, a.Prompt, c.mayGive)
	}
	if err == nil {
		err = c.drive(ctx, s.ID)
	}
	if err != nil {
		return "", err
	}
	return a.Feature + " is started as soon as a worker is free." + others(s) + " Next: check_worker shows what it does.", nil
}

// others says what else a driver starts.
func others(s *book.Session) string {
	if s.Settings.Manual {
		return ""
	}
	return " The other features are started too, as they become ready."
}

// mostAtOnce is how many features one call names (requirements, C4).
const mostAtOnce = 10

func startWorkers(ctx context.Context, c *call, a args) (string, error) {
	if err := between("featureIds", len(a.Features), 1, mostAtOnce); err != nil {
		return "", fmt.Errorf("the length of %w", err)
	}
	for id := range a.Prompts {
		if !slices.Contains(a.Features, id) {
			return "", fmt.Errorf("customPrompts names %q, which featureIds does not", id)
		}
	}
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	var started, skipped []string
	for _, id := range a.Features {
		if err := c.Want(ctx, s.ID, id, a.Prompts[id], c.mayGive); err != nil {
			skipped = append(skipped, fmt.Sprintf("%s: %s", id, text.Describe(err)))
		} else {
			started = append(started, id)
		}
	}
	if len(started) == 0 {
		return "", errors.New("none of them can be started:\n" + strings.Join(skipped, "\n"))
	}
	if err := c.drive(ctx, s.ID); err != nil {
		return "", err
	}
	said := fmt.Sprintf("Started as workers are free (%d at once): %s\n", s.Settings.Workers, strings.Join(started, ", "))
	if len(skipped) > 0 {
		said += "Skipped:\n" + strings.Join(skipped, "\n") + "\n"
	}
	said += others(s)
	return said + "Next: check_all_workers shows what they do.", nil
}

// Defaults and bounds of auto_orchestrate (requirements, C58).
const (
	atOnce                  = 5
	lookEvery               = 30
	soonestLook, latestLook = 10, 300
)

func orchestrate(ctx context.Context, c *call, a args) (string, error) {
	workers, every := or(a.MaxConcurrent, atOnce), or(a.CheckInterval, lookEvery)
	if err := errors.Join(between("maxConcurrent", workers, 1, ops.MostWorkers), between("checkIntervalSeconds", every, soonestLook,
		latestLook)); err != nil {
		return "", err
	}
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	for _, f := range s.Features {
		if f.State == book.Pending {
			if err := c.mayGive(s, f); err != nil {
				return "", err
			}
		}
	}
	if err := c.Auto(ctx, s.ID, cmp.Or(schedule.Strategy(a.Strategy), schedule.Adaptive), workers); err != nil {
		return "", err
	}
	if err := c.drive(ctx, s.ID); err != nil {
		return "", err
	}
	if s, err = c.session(ctx); err != nil {
		return "", err
	}
	t := planning.ScheduleOf(s).Simulate(s.Settings.Workers)
	return fmt.Sprintf("The session is driven to its end, by %s at once. The schedule:\n%s\nNext: orchestrator_status in %d seconds.",
		text.Count(s.Settings.Workers, "worker"), strings.TrimRight(t.Gantt(100), "\n"), every), nil
}

// Bounds of what is shown of a worker (requirements, C6, C7).
const (
	linesShown, mostLines = 50, 500
	tailShown, mostTail   = 10, 100
)

func checkWorker(ctx context.Context, c *call, a args) (string, error) {
	n := or(a.Lines, linesShown)
	if err := between("lines", n, 1, mostLines); err != nil {
		return "", err
	}
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	_, t, err := ops.Attempt(s, a.Feature)
	if err != nil {
		return "", err
	}
	return c.worker(s, a.Feature, t, n, a.Since, !a.Heartbeat)
}

func checkWorkers(ctx context.Context, c *call, a args) (string, error) {
	n := or(a.OutputLines, tailShown)
	if err := between("outputLines", n, 1, mostTail); err != nil {
		return "", err
	}
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	output := or(a.IncludeOutput, true) && !a.Heartbeat && a.Format != compact
	var b strings.Builder
	for _, f := range s.Features {
		if t := f.Live(); t != nil {
			said, err := c.worker(s, f.ID, t, n, 0, output)
			if err != nil {
				return "", err
			}
			b.WriteString(said)
		}
	}
	driver, err := c.Driver(ctx, s.ID)
	if err != nil {
		return "", err
	}
	return cmp.Or(b.String(), "No worker is at work.\n") + advise(s, driver), nil
}

// worker is what is known of the worker of an attempt at a feature or a review: its state in a line, and its output.
func (c *call) worker(s *book.Session, name string, t *book.Attempt, n, since int, output bool) (string, error) {
	folder := worker.Folder(t.Folder)
	var events []worker.Event
	if _, err := folder.Follow(0, func(e worker.Event) { events = append(events, e) }); err != nil {
		return "", err
	}
	j, err := monitor.Judge(s.Settings, folder)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s#%d: %s", name, t.N, t.State.Words())
	if t.Live() {
		fmt.Fprintf(&b, ", %s, confidence %d, idle for %s, since %s", j.Verdict, j.Score, brief(j.Idle), brief(time.Since(t.Began)))
	} else if why := cmp.Or(t.Reason, t.Result); why != "" {
		fmt.Fprintf(&b, ": %s", text.Cell(text.Flatten(why), 300))
	}
	if last := lastCall(events); last != "" {
		fmt.Fprintf(&b, ", last call %s", last)
	}
	fmt.Fprintf(&b, ", %s\n", text.Count(len(events), "line"))
	if output {
		for i := max(since, len(events)-n); i < len(events); i++ {
			fmt.Fprintf(&b, "%d %s %s\n", i+1, events[i].Kind, text.Cell(text.Flatten(events[i].What()), 500))
		}
	}
	return b.String(), nil
}

// lastCall is the last tool that a worker called.
func lastCall(events []worker.Event) string {
	for _, e := range slices.Backward(events) {
		if e.Kind == worker.Call {
			return text.Cell(e.Tool, 60)
		}
	}
	return ""
}

func message(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	if review.Find(s, a.Feature) != nil {
		err = c.reviewers(s)
	} else {
		_, _, err = c.feature(ctx, a.Feature)
	}
	if err == nil {
		err = c.Tell(ctx, s, a.Feature, a.Message)
	}
	if err != nil {
		return "", err
	}
	return "The worker of " + a.Feature + " hears it after the call that is under way, or when its turn is over.", nil
}

func markComplete(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	if f, err := ops.Find(s, a.Feature); err == nil && a.Success && (f.State == book.Queued || f.State == book.Completed) {
		return fmt.Sprintf("Feature %s is %s already: its work was looked at.", f.ID, f.State.Words()), nil
	}
	claim := book.Claim{Failed: !a.Success, Why: text.Truncate(a.Notes, 2000)}
	if err := c.Claim(ctx, s, a.Feature, claim, or(a.MaxRetries, retries)); err != nil {
		return "", err
	}
	if err := c.drive(ctx, s.ID); err != nil {
		return "", err
	}
	if a.Success {
		return "Its worker is stopped, and what it committed is verified: it lands if that passes. Next: orchestrator_status.", nil
	}
	return "Its worker is stopped, and the attempt given up. Next: orchestrator_status shows whether it is tried again.", nil
}

func retry(ctx context.Context, c *call, a args) (string, error) {
	s, f, err := c.feature(ctx, a.Feature)
	if err == nil {
		err = c.Retry(ctx, s.ID, f.ID, a.ResetAttempts)
	}
	if err == nil {
		err = c.drive(ctx, s.ID)
	}
	if err != nil {
		return "", err
	}
	return f.ID + " is tried again as soon as a worker is free. Next: check_worker shows what it does.", nil
}

func rollback(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	touched, err := c.touched(ctx, s)
	if err != nil {
		return "", err
	}
	point, err := c.Rollback(ctx, s, a.Feature, a.Files, "")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Rolled back. A person takes that back with `myc swarm rollback %s --to %.12s`.\n%s", a.Feature, point,
		overlaps(a.Feature, touched, a.Files)), nil
}

// Bounds of what is shown of files in common (requirements, C12).
const (
	filesShown   = 20
	commonShown  = 5
	noneInCommon = "No other feature has changed the same files."
)

// touched are the files that each feature has changed.
func (c *call) touched(ctx context.Context, s *book.Session) (map[string][]string, error) {
	g, err := c.Ground(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	return swarm.Touched(ctx, g, s)
}

// overlaps says who else has changed the files of a feature.
func overlaps(feature string, touched map[string][]string, only []string) string {
	var b strings.Builder
	for _, with := range ground.Overlaps(feature, touched, only...) {
		fmt.Fprintf(&b, "%s has changed the same files: %s\n", with.With, some(with.Files, commonShown))
	}
	return cmp.Or(b.String(), noneInCommon)
}

// some are the first of a list.
func some(list []string, n int) string {
	said := strings.Join(list[:min(n, len(list))], ", ")
	if more := len(list) - n; more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	return said
}

func rollbackConflicts(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	if _, err := ops.Find(s, a.Feature); err != nil {
		return "", err
	}
	touched, err := c.touched(ctx, s)
	if err != nil {
		return "", err
	}
	own := touched[a.Feature]
	if len(own) == 0 {
		return a.Feature + " has changed nothing.", nil
	}
	return fmt.Sprintf("%s has changed: %s\n%s", a.Feature, some(own, filesShown), overlaps(a.Feature, touched, nil)), nil
}
