package node

import (
	"strings"
	"testing"
)

// TestStatusWithoutADatabase: the status of a node whose database cannot be used says so, with a way to mend it, and tells the rest.
func TestStatusWithoutADatabase(t *testing.T) {
	w := newRig(t)
	if s, err := w.Status(t.Context()); err != nil || s.Database != "" {
		t.Fatalf("before: %q %v", s.Database, err)
	}
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := w.Status(t.Context())
	if err != nil || !strings.Contains(s.Database, "the database cannot be used: ") || !strings.Contains(s.Database, "myc stop -f") {
		t.Errorf("%q %v", s.Database, err)
	}
	if !s.Daemon.Running || s.Skills.Valid != 2 {
		t.Errorf("the rest: %+v", s)
	}
}
