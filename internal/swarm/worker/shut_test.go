package worker_test

import (
	"path/filepath"
	"testing"

	"mycelium/internal/swarm/worker"
)

// A worker that was stopped before it began does not begin. One that has begun has ended by itself, and keeps what it said.
func TestShut(t *testing.T) {
	f := worker.Folder(filepath.Join(t.TempDir(), "a"))
	if err := f.Give(worker.Order{}, "work"); err != nil {
		t.Fatal(err)
	}
	if err := f.Shut(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Begin(); err == nil {
		t.Error("it begins after it was stopped")
	}
	f = worker.Folder(filepath.Join(t.TempDir(), "b"))
	if err := f.Give(worker.Order{}, "work"); err != nil {
		t.Fatal(err)
	}
	w, err := f.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Shut(); err == nil {
		t.Error("it is stopped while it works")
	}
	if err := w.End(worker.Ended{Stop: "end_turn"}); err != nil {
		t.Fatal(err)
	}
	if err := f.Shut(); err != nil {
		t.Error(err)
	}
	if e, err := f.Ended(); err != nil || e.Stop != "end_turn" {
		t.Errorf("it ended with %+v, %v", e, err)
	}
}
