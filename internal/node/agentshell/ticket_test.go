package agentshell

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTickets: a ticket lets one command run once, in its folder and in its time.
func TestTickets(t *testing.T) {
	folder, now := t.TempDir(), time.Now()
	if err := os.Mkdir(filepath.Join(folder, ticketsName), 0o700); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, other); err != nil {
		t.Fatal(err)
	}
	put := func(command, toolUse, profile string, until time.Time) {
		t.Helper()
		if err := leave(folder, command, toolUse, Ticket{Profile: profile, Dir: folder, Until: until}); err != nil {
			t.Fatal(err)
		}
	}
	put("go test", "a", "project", now.Add(time.Hour))
	put("go test", "a", "project", now.Add(time.Hour)) // the same call, told twice
	put("old", "b", "", now.Add(-time.Second))
	for _, tc := range []struct {
		command, dir, profile string
		ok                    bool
	}{
		{"go test ", folder, "", false},
		{"go test", "/", "", false},
		{"old", folder, "", false},
		{"go test", other, "project", true},
		{"go test", folder, "", false},
	} {
		got, err := take(folder, tc.command, tc.dir, now)
		if (err == nil) != tc.ok || got.Profile != tc.profile {
			t.Errorf("%q in %s: %+v %v", tc.command, tc.dir, got, err)
		}
	}
	put("one", "c", "", now.Add(time.Hour))
	taken := make(chan bool, 20)
	for range cap(taken) {
		go func() {
			_, err := take(folder, "one", folder, now)
			taken <- err == nil
		}()
	}
	n := 0
	for range cap(taken) {
		if <-taken {
			n++
		}
	}
	if n != 1 {
		t.Errorf("one ticket was taken %d times", n)
	}
}
