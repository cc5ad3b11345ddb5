package ground

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/text"
)

// Point is a snapshot or an undo point of a tree, to which [Tree.Undo] goes.
type Point struct {
	Name   string    `json:"name"`
	Undo   bool      `json:"undo,omitzero"` // it was made by an undo
	Commit Commit    `json:"commit"`
	At     time.Time `json:"at"`
}

// Points lists the snapshots and undo points of a tree, the newest first.
func (t *Tree) Points(ctx context.Context) (out []Point, err error) {
	snapshots, undo := t.ref("snapshots", ""), t.ref("undo", "")
	lines, err := t.repo.plumbing().Run(ctx, "for-each-ref", "--sort=-committerdate",
		"--format=%(refname)%00%(objectname)%00%(committerdate:unix)", snapshots, undo)
	if err != nil {
		return nil, fmt.Errorf("list the snapshots of %s: %w", t.Attempt, err)
	}
	for line := range strings.Lines(string(lines)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(f) != 3 {
			return nil, fmt.Errorf("git for-each-ref printed %q", text.Truncate(line, 200))
		}
		at, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git for-each-ref printed the time %q", f[2])
		}
		name, of := strings.CutPrefix(f[0], undo)
		if !of {
			name = strings.TrimPrefix(f[0], snapshots)
		}
		out = append(out, Point{Name: name, Undo: of, Commit: Commit(f[1]), At: time.Unix(at, 0).UTC()})
	}
	return out, nil
}
