package scan

import "testing"

// TestNotesAreHarmless: notes about parameters and names of states are not held.
func TestNotesAreHarmless(t *testing.T) {
	t.Parallel()
	all := read(t, "notes", "benign")
	if len(all) < 30 {
		t.Errorf("only %d", len(all))
	}
	for _, s := range all {
		for _, f := range s.scan() {
			if f.Severity == Hard {
				t.Errorf("%.60s: %+v", s.raw, f)
			}
		}
	}
}

// TestPoisonInTheFormOfNotes: what only looks like such a note is held.
func TestPoisonInTheFormOfNotes(t *testing.T) {
	t.Parallel()
	for _, s := range read(t, "notes", "poisoned") {
		if !HasHard(s.scan()) {
			t.Errorf("not held: %s %v", s.raw, s.scan())
		}
	}
}
