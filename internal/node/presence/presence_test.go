package presence

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLast: the newest input counts, but not that of a pane; without a terminal and without a pane it is not known.
func TestLast(t *testing.T) {
	dir := t.TempDir()
	now := time.Now().Truncate(time.Second)
	for i, ago := range []time.Duration{time.Minute, time.Hour, time.Second} {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-ago), now); err != nil {
			t.Fatal(err)
		}
	}
	var panes []string
	tmux := false
	clock := now
	s := &Terminals{Panes: func() ([]string, bool) { return panes, tmux }, Devices: []string{filepath.Join(dir, "[0-9]")},
		Now: func() time.Time { return clock }}
	if last, known := s.Last(); !known || !last.Equal(now.Add(-time.Second)) {
		t.Errorf("%v, %v", last, known)
	}
	panes, tmux = []string{filepath.Join(dir, "2")}, true
	clock = clock.Add(fresh)
	if last, known := s.Last(); !known || !last.Equal(now.Add(-time.Minute)) {
		t.Errorf("without the pane: %v, %v", last, known)
	}
	s.Devices = []string{filepath.Join(dir, "none*")}
	clock = clock.Add(fresh)
	if last, known := s.Last(); !known || !last.IsZero() {
		t.Errorf("panes only: %v, %v", last, known)
	}
	tmux = false
	clock = clock.Add(fresh)
	if _, known := s.Last(); known {
		t.Error("without any terminal it is known")
	}
}
