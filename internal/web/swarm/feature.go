package swarm

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// featurePage is one feature with its attempts, and what can be undone.
type featurePage struct {
	Name, Back string
	featureCard
	Problem  string
	Done     string // what an act did
	Act      string // address
	Wholly   string // the description, with its lines
	Tries    []try
	Points   []point
	Others   []overlap // who else has changed the same files
	More     int       // such files that are not named
	CanRetry bool
	CanUndo  bool
	Landed   bool // what is undone has landed
	Why      string
}

// try is one attempt.
type try struct {
	N                int
	State, Reason    string
	Result           string
	Cost             string
	Turns            int
	Began, Ended     time.Time
	Criteria         []criterion
	Changed, Session string
}

type criterion struct{ Mark, What, Says string }

// point is a snapshot or an undo point.
type point struct {
	Commit, Short, Name, Kind string
	At                        time.Time
}

// overlap is another feature that has changed the same files.
type overlap struct {
	With, Files string
}

// The bounds of who else has changed the same files (requirements, C12), as in `myc swarm rollback`.
const (
	mostOverlaps = 20 // files in all
	mostOfOne    = 5  // of one feature
)

// feature shows a feature.
func (s *room) feature(w http.ResponseWriter, r *http.Request, d device.Device) {
	s.showFeature(w, r, http.StatusOK, d, "")
}

func (s *room) showFeature(w http.ResponseWriter, r *http.Request, status int, d device.Device, problem string) {
	s.with(w, r, "", func(o *opened, of *book.Session) {
		f, err := ops.Find(of, r.PathValue("feature"))
		if err != nil {
			s.Fail(w, http.StatusNotFound, err)
			return
		}
		page := featurePage{Name: site.Name(o.paths), Back: addressOf(o.paths), featureCard: featureOf(o.paths, of, f, nil), Problem: problem,
			Act: addressOf(o.paths, "features", f.ID), Wholly: text.Visible(f.Description), Done: doneOf(r.URL.Query().Get("done")),
			CanRetry: f.State == book.Failed || f.State == book.Waiting, Landed: f.Commit != ""}
		for i := len(f.Attempts) - 1; i >= 0; i-- {
			page.Tries = append(page.Tries, tryOf(f.Attempts[i]))
		}
		if f.Last() != nil {
			if err := s.undoable(r, o, of, f, &page); err != nil {
				page.Why = text.Visible(text.Describe(err))
			}
		}
		s.Show(w, r, status, "feature", d, site.Page{Title: page.ID + " · " + page.Name, Here: "/swarm", Files: []string{"swarm.css"},
			Body: page})
	})
}

// undoable adds what can be undone of a feature, and who else has touched its files.
func (s *room) undoable(r *http.Request, o *opened, of *book.Session, f *book.Feature, page *featurePage) error {
	points, err := ops.Points(r.Context(), o.Ops, of, f.ID)
	if err != nil {
		return err
	}
	for _, p := range points {
		page.Points = append(page.Points, pointOf(p))
	}
	others, err := ops.Others(r.Context(), o.Ops, of, f.ID, nil)
	if err != nil {
		return err
	}
	page.Others, page.More = overlapsOf(others)
	switch {
	case f.Live() != nil:
		page.Why = "A worker works on it now: pause the session first."
	case f.State == book.Queued || f.Taking != nil:
		page.Why = "It is in the merge queue."
	case of.Closed:
		page.Why = "The session is closed: it was merged or given up."
	case page.Landed || len(points) > 0:
		page.CanUndo = true
	}
	return nil
}

func pointOf(p ground.Point) point {
	kind := "snapshot"
	if p.Undo {
		kind = "undo point"
	}
	return point{Commit: string(p.Commit), Short: short(string(p.Commit)), Name: text.OneLine(p.Name), Kind: kind, At: p.At}
}

// overlapsOf names who else has changed the same files, and how many files are not named.
func overlapsOf(all []ground.Overlap) (out []overlap, more int) {
	left := mostOverlaps
	for _, o := range all {
		n := min(len(o.Files), mostOfOne, left)
		left -= n
		more += len(o.Files) - n
		out = append(out, overlap{text.OneLine(o.With), text.OneLine(strings.Join(o.Files[:n], ", "))})
	}
	return out, more
}

func tryOf(a *book.Attempt) try {
	t := try{N: a.N, State: a.State.Words(), Reason: text.Visible(a.Reason), Result: text.Visible(a.Result), Cost: dollars(a.Cost),
		Turns: a.Turns, Began: a.Began, Ended: a.Ended, Session: text.OneLine(a.Session)}
	for _, c := range a.Criteria {
		mark := "met"
		switch {
		case c.Later:
			mark = "later"
		case !c.Met && c.Warns:
			mark = "warns"
		case !c.Met:
			mark = "not met"
		}
		t.Criteria = append(t.Criteria, criterion{mark, text.OneLine(c.What), text.Visible(c.Says)})
	}
	if p := a.Proof; p != nil {
		t.Changed = fmt.Sprintf("%s changed, %s added, %d deleted", text.Count(p.Changed, "file"), text.Count(p.Added, "line"), p.Deleted)
	}
	return t
}

// doneOf says what an act did, of what the address says after it.
func doneOf(done string) string {
	if point, undone := strings.CutPrefix(done, "undone-"); undone && len(point) <= 64 && strings.Trim(point, "0123456789abcdef") == "" {
		return "Rolled back. To take that back, go to the undo point " + point + "."
	}
	return map[string]string{"queued": "It waits in the merge queue: the driver lands it when the branch is green with it.",
		"retry": "It is tried again."}[done]
}

// featureAct rolls a feature back, or has it tried again.
func (s *room) featureAct(w http.ResponseWriter, r *http.Request, d device.Device) {
	r.Body = http.MaxBytesReader(w, r.Body, site.MaxForm)
	id := r.PathValue("feature")
	act, to, giveUp := r.PostFormValue("act"), r.PostFormValue("to"), r.PostFormValue("give-up") != ""
	files := strings.Fields(r.PostFormValue("files"))
	s.acting(w, r, d, s.showFeature, func(o *opened, of *book.Session) (string, error) {
		at := addressOf(o.paths, "features", id)
		switch act {
		case "retry":
			return at + "?done=retry", s.record(r, o, d, "swarm retry", of.ID+" "+id, func() error {
				return o.Retry(r.Context(), of.ID, id, true)
			})
		case "undo":
			var done ops.Undone
			err := s.record(r, o, d, "swarm rollback", of.ID+" "+id, func() (err error) {
				done, err = ops.Undo(r.Context(), o.Ops, of, id, files, to, giveUp)
				if errors.Is(err, ops.ErrWhole) {
					err = failure.New(failure.Usage, err, "")
				}
				return err
			})
			said := "queued"
			if !done.Queued {
				said = "undone-" + short(string(done.Point))
			}
			return at + "?done=" + url.QueryEscape(said), err
		}
		return "", failure.Usagef("the form does not say what to do with %s", cmp.Or(text.OneLine(id), "it"))
	})
}
