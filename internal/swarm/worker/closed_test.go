package worker_test

import (
	"path/filepath"
	"testing"

	"mycelium/internal/swarm/worker"
)

// A worker that was stopped before it began does not begin. One that has begun goes on, and keeps what it says.
func TestClosed(t *testing.T) {
	f := worker.Folder(filepath.Join(t.TempDir(), "a"))
	if err := f.Close(); err != nil {
		t.Errorf("without a folder: %v", err)
	}
	if err := f.Give(worker.Order{}, "work"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Begin(); err == nil {
		t.Error("it begins after it was stopped")
	}
	if e, err := f.Ended(); err != nil || e != nil {
		t.Errorf("it ended with %+v, %v", e, err)
	}
	f = worker.Folder(filepath.Join(t.TempDir(), "b"))
	if err := f.Give(worker.Order{}, "work"); err != nil {
		t.Fatal(err)
	}
	w, err := f.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.End(worker.Ended{Stop: "end_turn"}); err != nil {
		t.Fatal(err)
	}
	if e, err := f.Ended(); err != nil || e.Stop != "end_turn" {
		t.Errorf("it ended with %+v, %v", e, err)
	}
}
