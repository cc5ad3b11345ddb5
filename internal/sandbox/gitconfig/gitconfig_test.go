package gitconfig

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestTaken lists what a command may change in git's configuration.
func TestTaken(t *testing.T) {
	for _, c := range []struct {
		key   string
		value string
		want  bool
	}{
		{"branch.main.remote", "origin", true},
		{"branch.a.b.merge", "refs/heads/main", true},
		{"branch.main.remote", "ext::sh -c id", false},
		{"branch.main.pushremote", "evil://x", false},
		{"branch.main.mergeoptions", "--strategy=evil", false},
		{"branch.autosetuprebase", "always", false},
		{"remote.origin.url", "https://example.com/x.git", true},
		{"remote.origin.url", "git@example.com:x.git", true},
		{"remote.origin.url", "ssh://git@example.com/x.git", true},
		{"remote.origin.url", "../x.git", true},
		{"remote.origin.url", "ext::sh -c id", false},
		{"remote.origin.url", "evil://x", false},
		{"remote.origin.url", "-oProxyCommand=id", false},
		{"remote.origin.url", "ssh://-oProxyCommand=id/x", false},
		{"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*", true},
		{"remote.origin.uploadpack", "evil", false},
		{"remote.origin.vcs", "evil", false},
		{"remote.pushdefault", "origin", false},
		{"core.fsmonitor", "evil", false},
		{"core.hookspath", "evil", false},
		{"include.path", "evil", false},
		{"alias.st", "!evil", false},
		{"url.ext::sh -c id.insteadof", "https://", false},
	} {
		if got := taken(c.key, []string{c.value}); got != c.want {
			t.Errorf("%s = %s: %v", c.key, c.value, got)
		}
	}
}

// TestMerge takes over new, changed and removed keys, and drops the rest.
func TestMerge(t *testing.T) {
	before := "[core]\n\tbare = false\n[branch \"old\"]\n\tremote = origin\n"
	// Somebody else changed the original meanwhile: that stays.
	now := before + "[user]\n\tname = somebody\n"
	after := "[core]\n\tbare = false\n\tfsmonitor = evil\n[branch \"new\"]\n\tremote = origin\n\tmerge = refs/heads/new\n" +
		"[remote \"o\"]\n\turl = https://example.com/a\n\turl = https://example.com/b\n\tfetch = x\n"
	merged, dropped, err := Merge(t.Context(), "git", t.TempDir(), []byte(before), []byte(after), []byte(now))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"core.fsmonitor"}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %v, want %v", dropped, want)
	}
	original := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(original, merged, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "git", "config", "--file", original, "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := "core.bare=false\nuser.name=somebody\nbranch.new.merge=refs/heads/new\nbranch.new.remote=origin\nremote.o.fetch=x\n" +
		"remote.o.url=https://example.com/a\nremote.o.url=https://example.com/b\n"
	if string(out) != want {
		t.Errorf("the original has\n%swant\n%s", out, want)
	}
}
