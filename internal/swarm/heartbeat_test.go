package swarm

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/monitor"
	"mycelium/internal/swarm/worker"
)

// What a worker does is seen in its stream, and what it has written in its worktree, committed or not.
func TestHeartbeat(t *testing.T) {
	f := begin(t, &book.Session{Features: []*book.Feature{feature("a")}})
	seen := false
	f.workers["a"] = func(h *hand) {
		h.work(func(w *worker.Work) {
			h.commit(h.tree, "feat: a", "a", "1\n2\n")
			if err := os.WriteFile(filepath.Join(h.tree, "b"), []byte("3\n"), 0o600); err != nil {
				t.Error(err)
			}
			for _, e := range []worker.Event{{Kind: worker.Says, Text: "Confidence: 80"}, {Kind: worker.Call, Call: "1", Tool: "agent__Write",
				Args: `{"content":"cut`}, {Kind: worker.Call, Call: "2", Tool: "agent__Edit", Args: `{"file_path":"/t/b","old_string":"x`}} {
				if err := w.Write(e); err != nil {
					t.Error(err)
				}
			}
			of := f.session().Features[0]
			b, err := monitor.HeartbeatOf(t.Context(), f.Ground, of, of.Last(), time.Now().Add(time.Minute))
			if err != nil || b.Status != "working" || b.LastTool != "agent__Edit" || b.LastFile != "/t/b" || b.LinesWritten != 3 ||
				!slices.Equal(b.FilesModified, []string{"a", "b"}) || b.RunningFor < 60 || b.LastActivity.IsZero() ||
				b.Confidence.Report != 80 {
				t.Errorf("%+v %v", b, err)
			}
			seen = true
			h.commit(h.tree, "feat: b")
		})
	}
	if f.drive(); !seen {
		t.Error("nobody looked")
	}
}
