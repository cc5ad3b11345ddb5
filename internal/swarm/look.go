package swarm

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"mycelium/internal/agent"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/confidence"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/monitor"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// watch follows a worker that this driver looks after.
type watch struct {
	monitor.Watch
	told  time.Time // when it was told that it looks stuck
	low   bool      // its confidence is below the threshold, and that is on record
	seen  bool      // its folder is watched
	since time.Time // when this driver looked at it first
	tried time.Time // when its worker was started, as far as this driver knows
}

// watchOf is the watch over the worker of a folder.
func (d *Driver) watchOf(folder worker.Folder) *watch {
	w := d.watches[folder]
	if w == nil {
		w = &watch{since: time.Now(), tried: time.Now()}
		d.watches[folder] = w
	}
	return w
}

// patience is how long a worker has to do something else once it was told that it looks stuck.
const patience = 2 * time.Minute

// startAgain is how long a worker may take to begin before another one is started: its terminal may have been killed. The lock of its
// folder lets one of them in.
const startAgain = 15 * time.Second

// await takes care of an attempt whose worker has not begun. It reports whether it may still begin.
func (d *Driver) await(ctx context.Context, c charge, w *watch) bool {
	switch {
	case time.Since(w.since) > startWithin:
		return false
	case !d.adopted || time.Since(w.tried) > startAgain: // another driver was to start it, and may not have come to it
		w.tried = time.Now()
		c.launch(ctx)
	}
	return true
}

// charge is what a worker is at: a feature, or a review.
type charge struct {
	job     string // by which the driver knows that something is done about it
	attempt *book.Attempt
	launch  func(ctx context.Context)                   // starts its worker
	settle  func(ctx context.Context, why string) error // judges it when its worker has ended; why it was stopped, or empty
	halt    func(ctx context.Context) error             // notes that its worker was stopped
	// note changes its attempt, if it is still the last one, with an event.
	note func(ctx context.Context, f func(*book.Attempt) book.Event) error
}

// charges are the features at which workers may be at work.
func (d *Driver) charges(s *book.Session) (out []charge) {
	for _, f := range s.Features {
		a := f.Live()
		if a == nil {
			continue
		}
		out = append(out, charge{job: f.ID, attempt: a,
			launch: func(ctx context.Context) { d.launch(ctx, f, a) },
			settle: func(ctx context.Context, why string) error { return d.settle(ctx, f, a, why) },
			halt: func(ctx context.Context) error {
				return d.changeAttempt(ctx, f.ID, a, func(f *book.Feature, a *book.Attempt) book.Event {
					a.State, a.Ended, f.State = book.Stopped, time.Now(), book.Pending
					return book.Event{Kind: "feature", Text: "its worker was stopped; its work is kept"}
				})
			},
			note: func(ctx context.Context, change func(*book.Attempt) book.Event) error {
				return d.changeAttempt(ctx, f.ID, a, func(_ *book.Feature, a *book.Attempt) book.Event { return change(a) })
			}})
	}
	return out
}

// look looks at the worker of a charge, and begins what becomes of it.
func (d *Driver) look(ctx context.Context, c charge) error {
	folder := worker.Folder(c.attempt.Folder)
	alive := folder.Alive() // before its stream, which is whole once it is dead
	w := d.watchOf(folder)
	if err := w.Read(folder); err != nil {
		return err
	}
	if err := d.account(ctx, &w.Provider); err != nil {
		return err
	}
	if !w.seen && d.eyes != nil {
		w.seen = d.eyes.Add(string(folder)) == nil // it is made with the order
	}
	ended, err := folder.Ended()
	if err != nil {
		return err
	}
	if c.attempt.State == book.Starting && w.Begun {
		return c.note(ctx, func(a *book.Attempt) book.Event {
			a.State = book.Running
			return book.Event{Kind: "worker", Text: "its worker has begun"}
		})
	}
	if !alive || ended != nil {
		if ended == nil && !w.Begun && d.await(ctx, c, w) {
			return nil
		}
		d.begin(ctx, c.job, func(ctx context.Context) error { return c.settle(ctx, "") })
		return nil
	}
	end := func(why string) func(context.Context) error {
		return func(ctx context.Context) error {
			d.stop(ctx, folder)
			return c.settle(ctx, why)
		}
	}
	if c.attempt.Claim != nil {
		d.begin(ctx, c.job, end(""))
		return nil
	}
	known := facts{Alive: true, Begun: w.Begun, Waits: w.Waits, Told: !w.told.IsZero() && time.Since(w.told) > patience}
	j := w.Judge(time.Now(), confidence.None, monitor.Threshold(d.settings))
	if err := d.report(ctx, c, w, j); err != nil {
		return err
	}
	if j.Verdict == confidence.Stuck {
		known.Stuck = j.Reason
	} else {
		w.told = time.Time{}
	}
	switch v := judge(known); {
	case v.act == nudge && w.told.IsZero():
		w.told = time.Now()
		return d.tell(ctx, c,
			"You seem to be stuck: "+v.Reason+". Try a different approach, or commit what you have and say what is in the way.")
	case v.act == renew:
		d.begin(ctx, c.job, end(v.Reason))
	}
	return nil
}

// report records that the confidence in a worker has fallen below the threshold, once until it is above it again.
func (d *Driver) report(ctx context.Context, c charge, w *watch, j confidence.Judgement) error {
	low := j.Score < monitor.Threshold(d.settings)
	if low == w.low || d.settings.Quiet {
		return nil
	}
	w.low = low
	if !low {
		return nil
	}
	return c.note(ctx, func(*book.Attempt) book.Event {
		return book.Event{Kind: book.Alert, Text: fmt.Sprintf("confidence %d, below %d: %s", j.Score, monitor.Threshold(d.settings), j.Reason)}
	})
}

// tell leaves a message for a worker that looks stuck, on record.
func (d *Driver) tell(ctx context.Context, c charge, message string) error {
	if err := worker.Folder(c.attempt.Folder).Tell(message); err != nil {
		return err
	}
	return c.note(ctx, func(*book.Attempt) book.Event { return book.Event{Kind: book.Stuck, Text: message} })
}

// ended returns how a worker ended (nil: it did not say so) and its stream, once it is gone. over is false while it runs.
func (d *Driver) ended(ctx context.Context, folder worker.Folder) (e *worker.Ended, w *monitor.Watch, over bool, err error) {
	alive := folder.Alive()
	if e, err = folder.Ended(); err != nil || e == nil && alive { // after that: what is dead has said how it ended, or never will
		return nil, nil, false, err
	}
	if err := folder.Close(); err != nil { // what becomes of it now, no other worker may do beside it
		return nil, nil, false, err
	}
	if !folder.Gone(ctx, grace) {
		d.stop(ctx, folder)
	}
	w = &monitor.Watch{}
	return e, w, true, w.Read(folder)
}

// settle judges an attempt whose worker has ended, and does what becomes of it. why is why it was stopped; empty: it ended by itself.
func (d *Driver) settle(ctx context.Context, f *book.Feature, a *book.Attempt, why string) error {
	ended, w, over, err := d.ended(ctx, worker.Folder(a.Folder))
	if err != nil || !over {
		return err
	}
	conversation, err := worker.Folder(a.Folder).Conversation()
	if err != nil {
		return err
	}
	known := facts{Begun: w.Begun, Ended: ended, Sent: a.Sent, Talks: conversation != "", Revived: a.Revived > 0}
	t, err := d.Ground.Named(book.NameOf(f.ID, a.N))
	if err != nil {
		return err
	}
	var tip ground.Commit
	var touched []ground.File
	var proof *book.Proof
	var criteria []book.Criterion
	var warning string
	if t != nil && (known.Begun || ended != nil) {
		git, err := t.Facts(ctx, ground.Commit(a.Base))
		if err != nil {
			return fmt.Errorf("look at the work of %s: %w", f.ID, err)
		}
		known.Commits, known.Dirty, tip, touched = git.Commits, git.Uncommitted, git.Head, git.Touched
		proof = proofOf(git)
	}
	if c := a.Claim; c != nil && ended != nil && ended.Stop == agent.StopAborted { // it was stopped for that
		ended.Stop = agent.StopEnd
	}
	v := judge(known)
	if c := a.Claim; c != nil && c.Failed {
		v = verdict{renew, cmp.Or(c.Why, "it was said to have failed")}
	}
	if v.act == check {
		if criteria, err = (checking{d}).own(ctx, f, t.Project, touched); err != nil {
			return err
		}
		known.Checked = true
		known.Output, warning = unmet(criteria)
		if v = judge(known); v.act == back {
			v.Reason += "\n\n" + marks(criteria)
		}
	}
	v = v.because(why)
	if v.act == queue {
		if err := d.warn(ctx, f, a, warning); err != nil {
			return err
		}
	}
	return d.become(ctx, f, a, v, tip, func(a *book.Attempt) {
		a.Proof, a.Criteria = cmp.Or(proof, a.Proof), criteria
		spent(a, w.Cost, ended)
	}, known)
}

// become does what becomes of an attempt whose worker has ended. account is what the worker cost.
func (d *Driver) become(ctx context.Context, f *book.Feature, a *book.Attempt, v verdict, tip ground.Commit, account func(*book.Attempt),
	known facts) error {
	switch v.act {
	case queue:
		return d.enqueue(ctx, f, a, tip, account)
	case revive:
		return d.revive(ctx, f, a, account)
	case rest:
		return d.rest(ctx, f, a, known.Ended.Until, v, account)
	case back:
		return d.sendBack(ctx, "feature", f.ID, a, v.Reason, account)
	case renew, refuse:
		return d.giveUp(ctx, f, a, v, account)
	default:
		return nil
	}
}

// spent adds what a worker has used and said to its attempt. ended is nil where it has not said how it ended.
func spent(a *book.Attempt, cost float64, ended *worker.Ended) {
	a.Cost += cost
	if ended != nil {
		a.Session, a.Turns, a.Result = ended.Session, a.Turns+ended.Turns, text.Truncate(ended.Text, 2000)
	}
}

// proofOf is the proof of what a worker has made.
func proofOf(f ground.Facts) *book.Proof {
	p := book.NewProof(f.Base, f.Head, f.Touched, f.Diff)
	p.Branch, p.Uncommitted = f.Branch, f.Uncommitted[:min(len(f.Uncommitted), book.MostFiles)]
	return p
}

// warn records what a check says that need not pass; "": nothing.
func (d *Driver) warn(ctx context.Context, f *book.Feature, a *book.Attempt, says string) error {
	if says == "" {
		return nil
	}
	return d.changeAttempt(ctx, f.ID, a, func(*book.Feature, *book.Attempt) book.Event {
		return book.Event{Kind: "warning", Text: "a check fails: " + says}
	})
}

// check runs commands on a working tree, and returns what the first one said that failed.
func (d checking) check(ctx context.Context, tree string, commands [][]string) (output string, err error) {
	for _, argv := range commands {
		c, err := d.Verify(ctx, tree, argv)
		if err != nil {
			return "", fmt.Errorf("verify with %s: %w", strings.Join(argv, " "), err)
		}
		if !c.OK {
			return strings.Join(argv, " ") + "\n" + text.Middle(c.Output, 4000), nil
		}
	}
	return "", nil
}

// grace is how long a worker has to end by itself.
const grace = 10 * time.Second

// stop ends a worker, and returns when it is gone. One that has not begun never will.
func (d *Driver) stop(ctx context.Context, folder worker.Folder) {
	if err := folder.Close(); err != nil {
		d.Logger.Warn("a worker that was started may begin yet", "folder", folder, "error", err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := folder.Signal(sig); err != nil {
			d.Logger.Warn("a worker is not ended", "folder", folder, "error", err)
		}
		if folder.Gone(ctx, grace) {
			return
		}
	}
}
