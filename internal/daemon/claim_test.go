package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoteIsWrittenInPlace: the note of a lock file is replaced by a longer and by a shorter one, in the same file and without a moment in which
// the file is empty: before the rest is cut off, a reader finds the same note.
func TestNoteIsWrittenInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "daemon.lock")
	long, short := note{PID: 123456, Socket: strings.Repeat("s", 100), Kind: Served, Leaving: true}, note{PID: 7, Kind: Command}
	if err := short.write(path); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []note{long, short, long, short} {
		if err := n.write(path); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil || readNote(path) != n || len(raw) > 200 || raw[len(raw)-1] != '\n' || bytes.Count(raw, []byte{'\n'}) != 1 {
			t.Errorf("%+v is written as %q %v", n, raw, err)
		}
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("it is another file: %v", err)
	}
	if err := os.WriteFile(path, append([]byte(`{"pid":7,"kind":"command"}`), bytes.Repeat([]byte{'\n'}, 50)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if readNote(path) != short {
		t.Error("a note before it is cut off is not read")
	}
}
