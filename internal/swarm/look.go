package swarm

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/confidence"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// watch follows the stream of a worker.
type watch struct {
	confidence.Watch
	offset int64
	begun  bool
	waits  string // a call waits for a person
	cost   float64
	told   time.Time // when it was told that it looks stuck
	seen   bool      // its folder is watched
	since  time.Time // when this driver looked at it first
	tried  time.Time // when its worker was started, as far as this driver knows
}

// read takes what is new.
func (w *watch) read(f worker.Folder) error {
	for {
		events, offset, err := f.Follow(w.offset)
		if err != nil || offset == w.offset {
			return err
		}
		w.offset, w.begun = offset, w.begun || len(events) > 0
		for _, e := range events {
			w.take(e)
		}
	}
}

// take takes one event.
func (w *watch) take(e worker.Event) {
	out := confidence.Event{At: e.At, ID: e.Call, Tool: e.Tool, Failed: e.Failed}
	switch e.Kind {
	case worker.Began:
		out.Kind = confidence.Start
	case worker.Call:
		out.Kind, out.Act, out.Args = confidence.Call, actOf(e.Tool), e.Args+e.Sum
	case worker.Done:
		if w.waits != "" {
			w.Add(confidence.Event{At: e.At, Kind: confidence.Answer})
		}
		out.Kind, out.Result, w.waits = confidence.Result, e.Text, ""
	case worker.Says:
		out.Kind, out.Text = confidence.Text, e.Text
	case worker.Waits:
		out.Kind, w.waits = confidence.Question, e.Text
	case worker.Heard:
		out.Kind = confidence.Told
	case worker.Spent:
		w.cost = e.Cost
		return
	default:
		return
	}
	w.Add(out)
}

// actOf is what a tool of Claude Code does, as far as it concerns progress.
func actOf(tool string) confidence.Act {
	switch strings.TrimPrefix(tool, "agent__") {
	case "Bash":
		return confidence.Run
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		return confidence.Change
	case "Read", "Glob", "Grep", "LS":
		return confidence.Look
	}
	return confidence.Other
}

// Judge is what the stream of a worker amounts to now.
func Judge(f worker.Folder) (confidence.Judgement, error) {
	w := &watch{}
	err := w.read(f)
	return w.Judge(time.Now(), confidence.None, confidence.Threshold), err
}

// patience is how long a worker has to do something else once it was told that it looks stuck.
const patience = 2 * time.Minute

// startAgain is how long a worker may take to begin before another one is started: its terminal may have been killed. The lock of its
// folder lets one of them in.
const startAgain = 15 * time.Second

// await takes care of an attempt whose worker has not begun. It reports whether it may still begin.
func (d *Driver) await(ctx context.Context, f *book.Feature, a *book.Attempt, w *watch) bool {
	switch {
	case time.Since(w.since) > startWithin:
		return false
	case !d.adopted || time.Since(w.tried) > startAgain: // another driver was to start it, and may not have come to it
		w.tried = time.Now()
		d.launch(ctx, f, a)
	}
	return true
}

// look looks at the worker of an attempt, and begins what becomes of it.
func (d *Driver) look(ctx context.Context, f *book.Feature, a *book.Attempt) error {
	folder := worker.Folder(a.Folder)
	alive := folder.Alive() // before its stream, which is whole once it is dead
	w := d.watches[folder]
	if w == nil {
		w = &watch{since: time.Now(), tried: time.Now()}
		d.watches[folder] = w
	}
	if err := w.read(folder); err != nil {
		return err
	}
	if !w.seen && d.eyes != nil {
		w.seen = d.eyes.Add(string(folder)) == nil // it is made with the order
	}
	ended, err := folder.Ended()
	if err != nil {
		return err
	}
	if a.State == book.Starting && w.begun {
		return d.changeAttempt(ctx, f.ID, a.N, func(_ *book.Feature, a *book.Attempt) book.Event {
			a.State = book.Running
			return book.Event{Kind: "worker", Text: "its worker has begun"}
		})
	}
	if !alive || ended != nil {
		if ended == nil && !w.begun && d.await(ctx, f, a, w) {
			return nil
		}
		d.begin(ctx, f.ID, func(ctx context.Context) error { return d.settle(ctx, f, a, "") })
		return nil
	}
	known := facts{Alive: true, Begun: w.begun, Waits: w.waits, Told: !w.told.IsZero() && time.Since(w.told) > patience}
	if j := w.Judge(time.Now(), confidence.None, confidence.Threshold); j.Verdict == confidence.Stuck {
		known.Stuck = j.Reason
	} else {
		w.told = time.Time{}
	}
	switch v := judge(known); {
	case v.act == nudge && w.told.IsZero():
		w.told = time.Now()
		return d.tell(ctx, f, a,
			"You seem to be stuck: "+v.Reason+". Try a different approach, or commit what you have and say what is in the way.")
	case v.act == renew:
		d.begin(ctx, f.ID, func(ctx context.Context) error {
			d.stop(ctx, folder)
			return d.settle(ctx, f, a, v.Reason)
		})
	}
	return nil
}

// tell leaves a message for a worker, on record.
func (d *Driver) tell(ctx context.Context, f *book.Feature, a *book.Attempt, message string) error {
	if err := worker.Folder(a.Folder).Tell(message); err != nil {
		return err
	}
	return d.changeAttempt(ctx, f.ID, a.N, func(*book.Feature, *book.Attempt) book.Event {
		return book.Event{Kind: "message", Text: message}
	})
}

// settle judges an attempt whose worker has ended, and does what becomes of it. why is why it was stopped; empty: it ended by itself.
func (d *Driver) settle(ctx context.Context, f *book.Feature, a *book.Attempt, why string) error {
	folder, w := worker.Folder(a.Folder), &watch{}
	alive := folder.Alive()
	ended, err := folder.Ended() // after that: what is dead has said how it ended, or never will
	if err != nil || ended == nil && alive {
		return err
	}
	if err := folder.Close(); err != nil { // what becomes of it now, no other worker may do beside it
		return err
	}
	if !folder.Gone(ctx, grace) {
		d.stop(ctx, folder)
	}
	if err := w.read(folder); err != nil {
		return err
	}
	known := facts{Begun: w.begun, Ended: ended, Sent: a.Sent}
	t, err := d.tree(f.ID, a.N)
	if err != nil {
		return err
	}
	var tip ground.Commit
	var touched []ground.File
	if t != nil && (known.Begun || ended != nil) {
		git, err := t.Facts(ctx, ground.Commit(a.Base))
		if err != nil {
			return fmt.Errorf("look at the work of %s: %w", f.ID, err)
		}
		known.Commits, known.Dirty, tip, touched = git.Commits, git.Uncommitted, git.Head, git.Touched
	}
	v := judge(known)
	if v.act == check {
		known.Checked = true
		if absent := ground.Missing(expected(f), touched); len(absent) > 0 {
			known.Output = "nothing is changed in " + strings.Join(absent, ", ") + ", where the plan expects it"
		} else if known.Output, err = d.check(ctx, t.Project, ownChecks(f)); err != nil {
			return err
		}
		v = judge(known)
	}
	account := func(a *book.Attempt) {
		a.Cost += w.cost
		if ended != nil {
			a.Session, a.Turns, a.Result = ended.Session, a.Turns+ended.Turns, text.Truncate(ended.Text, 2000)
		}
	}
	if v.act == renew && why != "" {
		v.Reason = why
	}
	switch v.act {
	case queue:
		return d.enqueue(ctx, f, a, tip, account)
	case back:
		return d.sendBack(ctx, f.ID, a.N, v.Reason, account)
	case renew, refuse:
		return d.giveUp(ctx, f, a, v, account)
	default:
		return nil
	}
}

// check runs commands on a working tree, and returns what the first one said that failed.
func (d *Driver) check(ctx context.Context, tree string, commands [][]string) (output string, err error) {
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

// stop ends a worker, and returns when it is gone. One that has not begun yet never will.
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
