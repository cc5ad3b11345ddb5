package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/swarm/schedule"
	"mycelium/internal/text"
)

// What a session has that a tool begins. A person chooses with `myc swarm init`.
const (
	workersAtOnce = 3
	retries       = 3
)

func begin(ctx context.Context, c *call, a args) (string, error) {
	p, problems := plan.FromTask(a.Task, a.Existing)
	if len(problems) > 0 {
		return "", text.Hinted(errors.New(problems[0].Message), problems[0].Hint)
	}
	role := c.host.Role()
	if !slices.Contains(c.gives(), role) {
		role = c.scope.Principal.Role
	}
	s, err := c.Begin(ctx, a.Task, book.Settings{Workers: workersAtOnce, Retries: retries, Runner: "claude", Role: role,
		Strategy: string(schedule.Adaptive), Manual: true}, p)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Session %s has begun with %s, on the branch %s.\n", s.ID, text.Count(len(s.Features), "feature"), s.Branch)
	for _, f := range s.Features {
		fmt.Fprintf(&b, "%s: %s\n", f.ID, text.Cell(f.Description, 200))
	}
	b.WriteString("Next: set_dependencies says what waits for what; auto_orchestrate has all of it worked off, start_worker one feature.")
	return b.String(), nil
}

// short is a description in a line.
func short(f *book.Feature) string {
	if f.Reason != "" && f.State != book.Completed {
		return text.Cell(f.Reason, 200)
	}
	return text.Cell(f.Description, 120)
}

// lastEvents is how many events a status has (requirements, C2).
const lastEvents = 5

func status(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	driver, err := c.Driver(ctx, s.ID)
	if err != nil {
		return "", err
	}
	events, err := c.Events(ctx, s.ID, 0, lastEvents)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	done := count(s, book.Completed)
	fmt.Fprintf(&b, "session %s: %s, %d of %d landed on %s, $%.2f, driven by %s\n", s.ID, s.State.Words(), done, len(s.Features),
		strings.TrimPrefix(s.Branch, "refs/heads/"), s.Cost(), cmp.Or(driver, "nobody"))
	for _, f := range s.Features {
		if a.Format == compact {
			fmt.Fprintf(&b, "%s %s %d\n", f.ID, f.State, len(f.Attempts))
			continue
		}
		after := ""
		if len(f.DependsOn) > 0 {
			after = ", after " + strings.Join(f.DependsOn, ", ")
		}
		fmt.Fprintf(&b, "- %s (%s, %s%s): %s\n", f.ID, f.State.Words(), text.Count(len(f.Attempts), "attempt"), after, short(f))
	}
	if next := upcoming(s); len(next) > 0 {
		fmt.Fprintf(&b, "next: %s\n", strings.Join(next, ", "))
	}
	if a.Format != compact {
		fmt.Fprintf(&b, "verified with: %s\n", ops.Verifies(s))
	}
	for _, e := range events {
		b.WriteString(line(e))
	}
	b.WriteString(advise(s, driver))
	return b.String(), nil
}

// count is how many features have a state.
func count(s *book.Session, state book.State) (n int) {
	for _, f := range s.Features {
		if f.State == state {
			n++
		}
	}
	return n
}

// nextShown is how many features a status names that are started next (requirements, C2).
const nextShown = 3

// upcoming are the features that are started next.
func upcoming(s *book.Session) []string {
	state := schedule.State{Workers: nextShown, Attempts: map[string]int{}}
	for _, f := range s.Features {
		switch {
		case f.State == book.Completed:
			state.Done = append(state.Done, f.ID)
		case f.State != book.Pending:
			state.Held = append(state.Held, f.ID)
		}
		state.Attempts[f.ID] = f.Tried
	}
	return planning.ScheduleOf(s).Next(state)
}

// line is an event in a line.
func line(e book.Event) string {
	about := e.Feature
	if e.Attempt > 0 {
		about += "#" + strconv.Itoa(e.Attempt)
	}
	return fmt.Sprintf("%s %s %s\n", e.At.UTC().Format(time.DateTime), cmp.Or(about, "-"), text.Cell(text.Flatten(e.Text), 300))
}

// advise says what to do next.
func advise(s *book.Session, driver string) string {
	switch {
	case s.State == book.Paused:
		return "Next: resume_session goes on."
	case s.State == book.Completed:
		return "Next: everything has landed. A person takes it into their branch with `myc swarm merge`."
	case s.State == book.Faulty:
		return "Next: retry_feature tries again what failed; a person takes what has landed with `myc swarm merge`."
	case count(s, book.Waiting) > 0:
		return "Next: a person decides about what waits (`myc swarm status` tells them)."
	case driver == "":
		return "Next: nobody drives it. auto_orchestrate has all of it worked off, start_worker one feature."
	}
	return "Next: check_all_workers shows what the workers do."
}

// Bounds of the log's page (requirements, C17).
const (
	logPage = 20
	mostLog = 500
)

func progress(ctx context.Context, c *call, a args) (string, error) {
	n := or(a.Limit, logPage)
	if err := errors.Join(between("limit", n, 1, mostLog), between("offset", a.Offset, 0, 1<<20)); err != nil {
		return "", err
	}
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	events, err := c.Events(ctx, s.ID, 0, n+a.Offset)
	if err != nil {
		return "", err
	}
	events = events[:max(0, len(events)-a.Offset)]
	var b strings.Builder
	for _, e := range events {
		b.WriteString(line(e))
	}
	return cmp.Or(b.String(), "Nothing more happened."), nil
}

func pause(ctx context.Context, c *call, _ args) (string, error) {
	s, err := c.session(ctx)
	if err == nil {
		err = c.Pause(ctx, s.ID)
	}
	if err != nil {
		return "", err
	}
	halted, err := c.halt(ctx, s.ID)
	if err != nil {
		return "", err
	}
	if !halted {
		return "The session is paused, and its workers are being stopped. Next: orchestrator_status shows when they are.", nil
	}
	return "The session is paused, and no worker runs. What they did is kept. Next: resume_session goes on.", nil
}

// haltWithin is how long a tool waits for workers to be stopped. Each has ten seconds to end by itself.
const haltWithin = 30 * time.Second

// halt has the workers of a paused session stopped, and reports whether they are.
func (c *call) halt(ctx context.Context, id string) (bool, error) {
	s, err := c.Read(ctx, id)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(s.Features, func(f *book.Feature) bool { return f.Live() != nil }) {
		if err := c.drive(ctx, id); err != nil {
			return false, err
		}
	}
	return c.Halted(ctx, id, haltWithin)
}

func resume(ctx context.Context, c *call, _ args) (string, error) {
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	var pending []string
	for _, f := range s.Features {
		if f.State == book.Pending {
			pending = append(pending, f.ID)
		}
	}
	if err := c.Resume(ctx, s.ID); err != nil {
		return "", err
	}
	if err := c.drive(ctx, s.ID); err != nil {
		return "", err
	}
	return fmt.Sprintf("The session goes on. Pending: %s. Next: orchestrator_status.", cmp.Or(strings.Join(pending, ", "), "none")), nil
}

func reset(ctx context.Context, c *call, a args) (string, error) {
	if !a.Confirm {
		return "", text.Hinted(errors.New("nothing was changed"), "confirm must be true")
	}
	s, err := c.session(ctx)
	if err == nil {
		err = c.Abandon(ctx, s.ID)
	}
	if err != nil {
		return "", err
	}
	halted, err := c.halt(ctx, s.ID)
	if err != nil {
		return "", err
	}
	if !halted {
		return "", text.Hinted(errors.New("its workers are still being stopped"), "call orchestrator_reset again")
	}
	if err := c.GiveUp(ctx, s.ID); err != nil {
		return "", err
	}
	return fmt.Sprintf("Session %s was given up. What has landed stays on %s. Next: orchestrator_init begins another one.", s.ID,
		s.Branch), nil
}

func commit(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	saved, err := c.Save(ctx, s, a.Message)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, one := range saved {
		if one.Commit != "" {
			fmt.Fprintf(&b, "%s: committed as %.12s\n", one.Feature, one.Commit)
		}
	}
	return cmp.Or(b.String(), "There is nothing to commit. A worker at work commits itself; pause_session stops them."), nil
}

func stats(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	end := s.Ended
	if end.IsZero() {
		end = time.Now()
	}
	var took []time.Duration
	attempts, most, running, crashed := 0, 0, 0, 0
	var again []*book.Feature
	for _, f := range s.Features {
		attempts += len(f.Attempts)
		most = max(most, len(f.Attempts))
		if len(f.Attempts) > 1 {
			again = append(again, f)
		}
		for _, t := range f.Attempts {
			switch {
			case t.Live():
				running++
			case t.State == book.Failed:
				crashed++
			case t.State == book.Landed:
				took = append(took, t.Ended.Sub(t.Began))
			}
		}
	}
	slices.Sort(took)
	slices.SortStableFunc(again, func(a, b *book.Feature) int { return len(b.Attempts) - len(a.Attempts) })
	facts := [][2]string{{"elapsed", brief(end.Sub(s.Began))}, {"landed", fmt.Sprintf("%d of %d", len(took), len(s.Features))},
		{"success rate", share(len(took), len(took)+count(s, book.Failed))},
		{"workers", fmt.Sprintf("%d running, %d completed, %d failed", running, len(took), crashed)},
		{"attempts", fmt.Sprintf("%d, %.1f a feature, %d at most", attempts, float64(attempts)/float64(max(1, len(s.Features))), most)}}
	if len(took) > 0 {
		var sum time.Duration
		for _, d := range took {
			sum += d
		}
		facts = append(facts, [2]string{"time of a feature", fmt.Sprintf("%s on average, %s at least, %s at most",
			brief(sum/time.Duration(len(took))), brief(took[0]), brief(took[len(took)-1]))})
	}
	for _, f := range again[:min(3, len(again))] {
		facts = append(facts, [2]string{"tried again", fmt.Sprintf("%s, %d times", f.ID, len(f.Attempts))})
	}
	return lines(facts, a.Format), nil
}

// lines are facts for reading, or in one line.
func lines(facts [][2]string, format string) string {
	var b strings.Builder
	for i, f := range facts {
		if format == compact {
			if i > 0 {
				b.WriteString("; ")
			}
			fmt.Fprintf(&b, "%s=%s", f[0], f[1])
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", f[0], f[1])
	}
	return b.String()
}

// brief is a duration for people.
func brief(d time.Duration) string { return d.Round(time.Second).String() }

// share is a part of a whole in percent.
func share(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%d%%", 100*part/whole)
}
