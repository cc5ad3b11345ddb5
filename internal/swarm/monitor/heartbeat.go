package monitor

import (
	"context"
	"mycelium/internal/lazy"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/confidence"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/worker"
	"strings"
	"time"
)

// Heartbeat is what is known of a worker at work (requirements, C66).
type Heartbeat struct {
	Status        string               `json:"status"` // working, waiting, stuck or ended
	LastTool      string               `json:"lastToolUsed,omitempty"`
	LastFile      string               `json:"lastFile,omitempty"`
	LastActivity  time.Time            `json:"lastActivity,omitzero"`
	LinesWritten  int                  `json:"linesWritten"`            // added since the commit that it began from
	FilesModified []string             `json:"filesModified,omitempty"` // likewise, at most ten
	RunningFor    float64              `json:"runningForSeconds"`
	Confidence    confidence.Judgement `json:"confidence"`
}

// maxModified bounds the files that a heartbeat names (requirements, C66).
const maxModified = 10

// fileArg finds the file in the arguments of a tool of Claude Code, which may be cut, and pathArg in those of the server files.
var (
	fileArg = lazy.Regexp(`"(?:file_path|notebook_path)":\s*"((?:[^"\\]|\\.)*)"`)
	pathArg = lazy.Regexp(`"(?:path|destination)":\s*"((?:[^"\\]|\\.)*)"`)
)

// HeartbeatOf looks at the worker of an attempt: at its stream, and at its worktree.
func HeartbeatOf(ctx context.Context, g *ground.Repo, f *book.Feature, a *book.Attempt, now time.Time) (h Heartbeat, err error) {
	w := &Watch{}
	var began time.Time
	if _, err := worker.Folder(a.Folder).Follow(0, func(e worker.Event) {
		w.Take(e)
		h.LastActivity = e.At
		switch e.Kind {
		case worker.Began:
			began = e.At
		case worker.Call:
			h.LastTool = e.Tool
			arg := fileArg
			if strings.HasPrefix(e.Tool, "files__") {
				arg = pathArg
			}
			if m := arg().FindStringSubmatch(e.Args); m != nil {
				h.LastFile = m[1]
			}
		}
	}); err != nil {
		return h, err
	}
	if !began.IsZero() {
		h.RunningFor = now.Sub(began).Round(time.Second).Seconds()
	}
	h.Confidence = w.Judge(now, confidence.None, confidence.Threshold)
	h.Status = string(h.Confidence.Verdict)
	t, err := g.Named(book.NameOf(f.ID, a.N))
	if err != nil || t == nil {
		return h, err
	}
	git, err := t.Facts(ctx, ground.Commit(a.Base))
	if err != nil {
		return h, nil //nolint:nilerr // its files change under the look: the stream is known all the same
	}
	for _, file := range git.Touched {
		h.LinesWritten += file.Added
		if len(h.FilesModified) < maxModified {
			h.FilesModified = append(h.FilesModified, file.Path)
		}
	}
	return h, nil
}
