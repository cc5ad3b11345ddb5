package swarm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/confidence"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/monitor"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/swarm/proposal"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// maxPlanned is how often a planner is started that wrote no plan that can be read.
const maxPlanned = 2

// treeOf is the name of the worktree of a planner. No attempt has it: those end in a number.
func treeOf(feature, planner string) string { return feature + "-plan-" + strings.ToLower(planner) }

// contest is the driver where it deals with planners.
type contest struct{ *Driver }

// compete has the planners of a feature begin, and those that were stopped begin again.
func (d contest) compete(s *book.Session, f *book.Feature, base ground.Commit) {
	f.State, f.Reason = book.Designing, ""
	if f.Planning == nil {
		f.Planning = &book.Planning{}
	}
	if f.Planning.Judge == "" {
		f.Planning.Judge = s.Settings.Judge
	}
	if len(f.Planning.Planners) == 0 {
		f.Planning.Planners = []*book.Planner{{Name: proposal.A}, {Name: proposal.B}}
	}
	for _, p := range f.Planning.Planners {
		switch p.State {
		case "", book.Stopped, book.Failed: // a person has one tried again that failed
			p.Base, p.Tried = string(base), 0
			d.restart(s.ID, f.ID, p)
		default:
		}
	}
}

// restart makes a planner ready for another start.
func (d contest) restart(session, feature string, p *book.Planner) {
	p.Runs++
	p.State, p.Began, p.Ended = book.Starting, time.Now(), time.Time{}
	name := treeOf(feature, p.Name)
	p.Folder = d.folderOf(session, name+"-"+strconv.Itoa(p.Runs))
	p.Window = "cc-planner-" + name + "-" + strconv.FormatInt(p.Began.UnixMilli(), 36)
}

// jobOf is the job of a planner. It is no id of a feature.
func jobOf(feature, planner string) string { return feature + " " + planner }

// design looks at the planners of a feature, and has their plans compared when both are done.
func (d contest) design(ctx context.Context, f *book.Feature) error {
	over := true
	for _, p := range f.Planning.Planners {
		if d.busy(jobOf(f.ID, p.Name)) {
			return nil
		}
		if p.Live() {
			over = false
			if err := d.lookPlanner(ctx, f, p); err != nil {
				return err
			}
		}
	}
	if over {
		d.begin(ctx, jobOf(f.ID, "judge"), func(ctx context.Context) error { return d.decide(ctx, f) })
	}
	return nil
}

// lookPlanner is look for a planner.
func (d contest) lookPlanner(ctx context.Context, f *book.Feature, p *book.Planner) error {
	folder, job := worker.Folder(p.Folder), jobOf(f.ID, p.Name)
	alive := folder.Alive()
	w, ended, err := d.seen(folder)
	if err != nil {
		return err
	}
	if alive && ended == nil {
		j := w.Judge(time.Now(), confidence.None, confidence.Threshold)
		if p.State == book.Starting && w.Begun {
			return d.changePlanner(ctx, f.ID, p, func(_ *book.Feature, p *book.Planner) string {
				p.State = book.Running
				return "planner " + p.Name + " has begun"
			})
		}
		if j.Verdict == confidence.Stuck && w.Waits == "" { // it has one task, which another start does better than a hint
			d.begin(ctx, job, func(ctx context.Context) error {
				d.stop(ctx, folder)
				return d.failPlanner(ctx, f, p, "it was stuck: "+j.Reason)
			})
		}
		return nil
	}
	if ended == nil && !w.Begun && time.Since(w.since) <= startWithin {
		if !d.adopted || time.Since(w.tried) > startAgain {
			w.tried = time.Now()
			d.launchPlanner(ctx, f, p)
		}
		return nil
	}
	d.begin(ctx, job, func(ctx context.Context) error { return d.settlePlanner(ctx, f, p, ended) })
	return nil
}

// seen reads what is new of a worker, and how it ended.
func (d contest) seen(folder worker.Folder) (w *watch, ended *worker.Ended, err error) {
	w = d.watchOf(folder)
	if err := w.Read(folder); err != nil {
		return nil, nil, err
	}
	if !w.seen && d.eyes != nil {
		w.seen = d.eyes.Add(string(folder)) == nil // it is made with the order
	}
	ended, err = folder.Ended()
	return w, ended, err
}

// launch starts the planners of features that are to be planned.
func (d contest) launch(ctx context.Context, features []*book.Feature) {
	for _, f := range features {
		for _, p := range f.Planning.Planners {
			if p.Live() {
				d.launchPlanner(ctx, f, p)
			}
		}
	}
}

// launchPlanner starts a planner beside other work.
func (d contest) launchPlanner(ctx context.Context, f *book.Feature, p *book.Planner) {
	d.begin(ctx, jobOf(f.ID, p.Name), func(ctx context.Context) error { return d.startPlanner(ctx, f, p) })
}

// startPlanner makes the worktree and the order of a planner and starts it. What a driver before this one has made stays.
func (d contest) startPlanner(ctx context.Context, f *book.Feature, p *book.Planner) error {
	_, _, err := worker.Folder(p.Folder).Order()
	if errors.Is(err, fs.ErrNotExist) {
		var s *book.Session
		if s, err = d.Book.Read(ctx, d.id); err == nil {
			err = d.orderPlanner(ctx, s, f, p)
		}
	}
	if err == nil {
		err = d.Start(ctx, worker.Folder(p.Folder), p.Window)
	}
	if err == nil || ctx.Err() != nil {
		return nil //nolint:nilerr // the next driver starts it
	}
	d.Logger.Warn("a planner did not start", "feature", f.ID, "planner", p.Name, "error", err)
	return d.failPlanner(ctx, f, p, "it could not be started: "+err.Error())
}

// orderPlanner makes the worktree of a planner anew, with its empty plan file, and writes what it is to do.
func (d contest) orderPlanner(ctx context.Context, s *book.Session, f *book.Feature, p *book.Planner) error {
	if err := clearOne(ctx, d.Ground, treeOf(f.ID, p.Name)); err != nil {
		return err
	}
	t, err := d.Ground.Add(ctx, treeOf(f.ID, p.Name), ground.Commit(p.Base))
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(t.Project)
	if err != nil {
		return fmt.Errorf("open the worktree of a planner: %w", err)
	}
	defer func() { _ = root.Close() }()
	file := planning.File(f.ID, p.Name)
	if err := root.WriteFile(file, nil, 0o600); err != nil { // the sandbox makes a file writable that is there
		return fmt.Errorf("make the plan file: %w", err)
	}
	o, err := d.orderOf(s, f)
	if err != nil {
		return err
	}
	o.Tree, o.Writes = t.Project, path.Join(t.Project, file)
	return worker.Folder(p.Folder).Give(o, planning.Prompt(s, f, p, d.material(ctx, s, f, ground.Commit(p.Base))))
}

// settlePlanner reads what a planner wrote that has ended.
func (d contest) settlePlanner(ctx context.Context, f *book.Feature, p *book.Planner, ended *worker.Ended) error {
	folder, w := worker.Folder(p.Folder), &monitor.Watch{}
	if !folder.Gone(ctx, grace) {
		d.stop(ctx, folder)
	}
	if err := w.Read(folder); err != nil {
		return err
	}
	wrote, why, err := d.planOf(ctx, f, p)
	if err != nil {
		return err
	}
	if wrote == nil {
		switch {
		case ended == nil && w.Begun:
			why = "it died: " + why
		case ended == nil:
			why = "it did not begin within " + startWithin.String()
		case ended.Error != "":
			why = brief(ended.Error) + ": " + why
		}
	}
	account := func(p *book.Planner) {
		p.Cost += w.Cost
		if ended != nil {
			p.Session = ended.Session
		}
	}
	if wrote == nil {
		return d.failPlanner(ctx, f, p, why, account)
	}
	t, err := d.Ground.Named(treeOf(f.ID, p.Name))
	if err != nil || t == nil {
		return err
	}
	root, err := os.OpenRoot(t.Project)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	score := proposal.Rate(wrote, f.Feature, func(path string) bool {
		_, err := root.Stat(path)
		return err == nil
	})
	return d.changePlanner(ctx, f.ID, p, func(_ *book.Feature, p *book.Planner) string {
		account(p)
		p.State, p.Ended, p.Reason, p.Plan, p.Score = book.Completed, time.Now(), "", wrote, &score
		return fmt.Sprintf("planner %s has a plan of %s, with %d of 100 points", p.Name, text.Count(len(wrote.Steps), "step"), score.Total)
	})
}

// planOf is the plan that a planner wrote; nil, and why, if there is none that counts. One that changed anything else is none: a planner
// only reads.
func (d contest) planOf(ctx context.Context, f *book.Feature, p *book.Planner) (wrote *proposal.Proposal, why string, err error) {
	t, err := d.Ground.Named(treeOf(f.ID, p.Name))
	if err != nil {
		return nil, "", err
	}
	if t == nil {
		return nil, "it has no worktree", nil
	}
	file := planning.File(f.ID, p.Name)
	facts, err := t.Facts(ctx, ground.Commit(p.Base))
	if err != nil {
		return nil, "", fmt.Errorf("look at what a planner of %s did: %w", f.ID, err)
	}
	for _, touched := range facts.Touched {
		if touched.Path != d.Ground.Prefix()+file {
			return nil, fmt.Sprintf("it changed %s, and a planner may write %s only", text.TruncateRunes(touched.Path, 200), file), nil
		}
	}
	root, err := os.OpenRoot(t.Project)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = root.Close() }()
	if is, err := root.Lstat(file); err != nil || !is.Mode().IsRegular() {
		return nil, "there is no file " + file, nil //nolint:nilerr // as it says
	}
	opened, err := root.Open(file)
	if err != nil {
		return nil, "there is no file " + file, nil //nolint:nilerr // as it says
	}
	defer opened.Close()
	data, err := io.ReadAll(io.LimitReader(opened, proposal.MaxSize+1))
	if err != nil {
		return nil, "", fmt.Errorf("read the plan of a planner: %w", err)
	}
	read, err := proposal.Read(data)
	if err != nil {
		return nil, err.Error(), nil
	}
	return &read, "", nil
}

// failPlanner records that a planner came to nothing. It begins once more, and is told why.
func (d contest) failPlanner(ctx context.Context, f *book.Feature, p *book.Planner, why string, also ...func(*book.Planner)) error {
	var again *book.Planner
	if err := d.changePlanner(ctx, f.ID, p, func(_ *book.Feature, p *book.Planner) string {
		again = nil
		for _, change := range also {
			change(p)
		}
		p.Tried++
		p.Reason = text.Truncate(why, 2000)
		if p.Tried < maxPlanned {
			d.restart(d.id, f.ID, p)
			again = p
			return "planner " + p.Name + " begins once more: " + brief(why)
		}
		p.State, p.Ended = book.Failed, time.Now()
		return "planner " + p.Name + " has no plan: " + brief(why)
	}); err != nil || again == nil {
		return err
	}
	return d.startPlanner(ctx, f, again)
}

// changePlanner changes a planner that is at work. It does nothing if a person has changed that in the meantime.
func (d contest) changePlanner(ctx context.Context, feature string, seen *book.Planner, f func(*book.Feature, *book.Planner) string) error {
	_, err := d.change(ctx, func(s *book.Session) ([]book.Event, error) {
		of, err := s.Feature(feature)
		if err != nil {
			return nil, err
		}
		if of.State != book.Designing || of.Planning == nil {
			return nil, nil
		}
		p := of.Planning.Planner(seen.Name)
		if p == nil || p.Runs != seen.Runs || !p.Live() {
			return nil, nil
		}
		return []book.Event{{Kind: "plan", Feature: feature, Text: f(of, p)}}, nil
	})
	return err
}

// decide compares the plans of a feature, and lets a worker begin with the better one. Without any plan a person has the next word.
func (d contest) decide(ctx context.Context, f *book.Feature) error {
	won := planning.Decide(ctx, d.Ask, f)
	if err := clearPlanners(ctx, d.Ground, f); err != nil {
		d.Logger.Warn("the worktree of a planner stays", "feature", f.ID, "error", err)
	}
	_, err := d.change(ctx, func(s *book.Session) ([]book.Event, error) {
		of, err := s.Feature(f.ID)
		if err != nil || of.State != book.Designing || of.Planning == nil || slices.ContainsFunc(of.Planning.Planners, (*book.Planner).Live) {
			return nil, err
		}
		of.Planned()
		if won.Winner == "" {
			of.State = book.Waiting
			of.Reason = "no planner has a plan (" + brief(won.Reason) + "): myc swarm retry " + f.ID + " plans anew, myc swarm plan choose " +
				f.ID + " none goes on without a plan"
			return []book.Event{{Kind: "plan", Feature: f.ID, Text: of.Reason}}, nil
		}
		of.State = book.Pending
		of.Planning.Winner, of.Planning.By, of.Planning.Margin, of.Planning.How = won.Winner, won.By, won.Margin, won.How
		of.Planning.Reason, of.Planning.Cost = won.Reason, of.Planning.Cost+won.Cost
		return []book.Event{{Kind: "plan", Feature: f.ID, Text: fmt.Sprintf("plan %s is chosen by the %s: %s", won.Winner, won.By,
				brief(won.Reason))}},
			nil
	})
	return err
}

// clearPlanners removes the worktrees of the planners of a feature. Their plan files stay in snapshots.
func clearPlanners(ctx context.Context, g *ground.Repo, f *book.Feature) error {
	if f.Planning == nil {
		return nil
	}
	for _, p := range f.Planning.Planners {
		if err := clearOne(ctx, g, treeOf(f.ID, p.Name)); err != nil {
			return err
		}
	}
	return nil
}

// haltPlanners stops the planners of a feature whose session is paused: they begin anew when it goes on. It reports whether one was at
// work.
func (d contest) haltPlanners(ctx context.Context, f *book.Feature) (live bool) {
	if f.State != book.Designing {
		return false
	}
	for _, job := range []string{"halt", "judge", proposal.A, proposal.B} { // one that is being started is stopped once it is
		if d.busy(jobOf(f.ID, job)) {
			return true
		}
	}
	d.begin(ctx, jobOf(f.ID, "halt"), func(ctx context.Context) error {
		for _, p := range f.Planning.Planners {
			if p.Live() {
				d.stop(ctx, worker.Folder(p.Folder))
			}
		}
		_, err := d.change(ctx, func(s *book.Session) ([]book.Event, error) {
			of, err := s.Feature(f.ID)
			if err != nil || of.State != book.Designing {
				return nil, err
			}
			for _, p := range of.Planning.Planners {
				if p.Live() {
					p.State, p.Ended = book.Stopped, time.Now()
				}
			}
			of.State = book.Pending
			return []book.Event{{Kind: "plan", Feature: f.ID, Text: "its planners were stopped"}}, nil
		})
		return err
	})
	return true
}
