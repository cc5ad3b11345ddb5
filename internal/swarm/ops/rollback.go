package ops

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/swarm"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/text"
)

// list is a list of words for people.
func list(words []string) string {
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ", ")
}

// worktree is the worktree of the last attempt at a feature, whose worker is not at work.
func (o Ops) worktree(ctx context.Context, s *book.Session, feature string) (*book.Feature, *ground.Tree, error) {
	f, t, err := Attempt(s, feature)
	if err != nil {
		return nil, nil, err
	}
	if t.Live() {
		return nil, nil, text.Hinted(fmt.Errorf("a worker works on %s now", f.ID), "stop it first: myc swarm pause")
	}
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return nil, nil, err
	}
	tree, err := g.Named(book.NameOf(f.ID, t.N))
	if err == nil && tree == nil {
		err = fmt.Errorf("feature %s has no worktree: what it did was given up", f.ID)
	}
	return f, tree, err
}

// Rollback takes the worktree of a feature back to the beginning of the attempt, or to a snapshot or undo point to; with files only those.
// It has the feature wait for a worker again, and returns an undo point.
func (o Ops) Rollback(ctx context.Context, s *book.Session, feature string, files []string, to string) (point ground.Commit, err error) {
	f, tree, err := o.worktree(ctx, s, feature)
	if err != nil {
		return "", err
	}
	if to == "" {
		to = string(tree.Snapshotted(swarm.Start))
	}
	point, err = tree.Undo(ctx, "undo-"+strconv.FormatInt(time.Now().UnixMilli(), 36), ground.Commit(to), files...)
	if err != nil {
		return "", err
	}
	return point, o.change(ctx, s.ID, func(s *book.Session) (book.Event, error) {
		now, t, err := Attempt(s, f.ID)
		if err != nil {
			return book.Event{}, err
		}
		now.State, now.Reason, now.Tried, t.State = book.Pending, "", 0, book.Stopped
		return book.Event{Kind: "feature", Feature: f.ID, Attempt: t.N,
			Text: fmt.Sprintf("%s rolled it back; the undo point is %.12s", o.By, point)}, nil
	})
}

// Undone is what came of [Undo].
type Undone struct {
	Point  ground.Commit // going to that takes it back
	Queued bool          // it is taken back through the merge queue, when the branch is green with it
}

// ErrWhole means that files were named of what has landed.
var ErrWhole = errors.New("what has landed is taken back whole: name no files")

// Undo takes back the work of a feature: its worktree, or some of its files, to a snapshot or an undo point; or what has landed, by the
// driver. giveUp has the feature failed then, in the place of being worked on anew.
func Undo(ctx context.Context, o Ops, s *book.Session, feature string, files []string, to string, giveUp bool) (Undone, error) {
	f, t, err := Attempt(s, feature)
	if err != nil {
		return Undone{}, err
	}
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return Undone{}, err
	}
	tree, err := g.Named(book.NameOf(f.ID, t.N))
	if err != nil {
		return Undone{}, err
	}
	if f.Commit == "" && (tree != nil || f.TakenBack == "") {
		point, err := o.Rollback(ctx, s, f.ID, files, to)
		return Undone{Point: point}, err
	}
	if len(files) > 0 {
		return Undone{}, fmt.Errorf("%s: %w", f.ID, ErrWhole)
	}
	then := book.Pending
	if giveUp {
		then = book.Failed
	}
	return Undone{Queued: true}, swarm.TakeBack(ctx, o.Book, g, s.ID, f.ID, to, then)
}

// Others says which other features have changed the files of one, or those of some files that it has changed.
func Others(ctx context.Context, o Ops, s *book.Session, feature string, files []string) ([]ground.Overlap, error) {
	f, _, err := Attempt(s, feature)
	if err != nil {
		return nil, err
	}
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	touched, err := swarm.Touched(ctx, g, s)
	if err != nil {
		return nil, err
	}
	return ground.Overlaps(f.ID, touched, files...), nil
}

// Points are the snapshots and undo points of the last attempt at a feature, the newest first; none where it has no worktree.
func Points(ctx context.Context, o Ops, s *book.Session, feature string) ([]ground.Point, error) {
	f, t, err := Attempt(s, feature)
	if err != nil {
		return nil, err
	}
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	tree, err := g.Named(book.NameOf(f.ID, t.N))
	if err != nil || tree == nil {
		return nil, err
	}
	return tree.Points(ctx)
}
