package base

import (
	"os"
	"strings"
	"testing"
)

// TestChangelogHasTheRelease: a release without an entry would leave its users without a word of what changed.
func TestChangelogHasTheRelease(t *testing.T) {
	b, err := os.ReadFile("../../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "\n## "+Release+" (") {
		t.Errorf("CHANGELOG.md has no section for %s", Release)
	}
}

func TestOrigin(t *testing.T) {
	commit := strings.Repeat("0123456789", 4)
	for b, want := range map[Build]string{
		{}: "built outside of a git checkout",
		{Commit: commit, Date: "2026-11-25T04:05:06Z"}:                 "commit 012345678901 of 2026-11-25",
		{Commit: commit, Date: "2026-11-25T04:05:06Z", Modified: true}: "commit 012345678901 of 2026-11-25, with changes",
		{Commit: commit}: "commit 012345678901",
	} {
		if got := b.Origin(); got != want {
			t.Errorf("%+v: %q, want %q", b, got, want)
		}
	}
}
