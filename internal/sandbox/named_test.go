package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawn is any profile.
func drawn(name string) *rapid.Generator[Profile] {
	return rapid.Custom(func(t *rapid.T) Profile {
		paths := rapid.SliceOfN(rapid.SampledFrom([]string{"~/a", "~/a/b", "/data", "/data/x", "docs", "docs/y"}), 0, 3)
		n := rapid.SampledFrom([]uint64{0, 1, 2, 3})
		hosts := rapid.SliceOfN(rapid.SampledFrom([]string{"a.example.com", "*.example.com", "a.example.com:443", "a.example.com:8443",
			"*.a.example.com", "192.0.2.1", "192.0.2.1:80", "[2001:db8::1]:443", "other.example"}), 0, 3)
		masks := rapid.MapOf(rapid.SampledFrom([]string{"T", "U"}), rapid.SliceOfN(rapid.SampledFrom([]string{"a.example.com", "*.example.com",
			"other.example:443"}), 1, 2))
		return Profile{Name: name, Network: rapid.Bool().Draw(t, "network"), Fork: rapid.Bool().Draw(t, "fork"),
			Project: rapid.Bool().Draw(t, "project"), Procs: n.Draw(t, "procs"), Files: n.Draw(t, "files"), Memory: n.Draw(t, "memory"),
			Seconds: float64(n.Draw(t, "seconds")), Read: paths.Draw(t, "read"), Write: paths.Draw(t, "write"), Hosts: hosts.Draw(t, "hosts"),
			Masks: masks.Draw(t, "masks")}
	})
}

// TestAndIsWithinBoth: what two profiles allow together, each of them allows, and no order of the two changes it.
func TestAndIsWithinBoth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawn("a").Draw(t, "a"), drawn("b").Draw(t, "b")
		both, other := a.And(b), b.And(a)
		for _, k := range [][]string{both.Beyond(a), both.Beyond(b), both.Beyond(other), other.Beyond(both)} {
			if len(k) > 0 {
				t.Fatalf("%+v and %+v: %+v is wider: %v", a, b, both, k)
			}
		}
		if same := a.And(a); len(a.Beyond(same)) > 0 {
			t.Fatalf("%+v lost something with itself: %+v", a, same)
		}
	})
}

// TestUnfit: a profile cannot name what no agent may open, nor a folder above it, nor for writing what governs agents.
func TestUnfit(t *testing.T) {
	for _, tc := range []struct {
		path        string
		read, write bool // it may be named
	}{
		{"/data/models", true, true}, {"~/data", true, true}, {"docs", true, true}, {".", true, true}, {"~/.claude/projects", true, true},
		{"~", false, false}, {"/", false, false}, {"/home", true, true}, {"/etc", false, false}, {"/etc/shadow", false, false},
		{"~/.ssh", false, false}, {"~/.ssh/known_hosts", false, false}, {"~/.config", false, false}, {"~/.local/state/mycelium", false, false},
		{"~/.local", false, false}, {"~/.claude", true, false}, {"~/.claude/settings.json", true, false}, {"skills", true, false},
		{"a/.claude/settings.json", true, false}, {"a/.env.local", false, false}, {"~/x/id_rsa", false, false}, {".mycelium", false, false},
		{"../other", false, false}, {"", false, false}, {"~/*", false, false}, {"$HOME/x", false, false}, {"a/../b", false, false},
	} {
		for write, may := range map[bool]bool{false: tc.read, true: tc.write} {
			if why := Unfit(tc.path, write); (why == "") != may {
				t.Errorf("%q, write %t: %q", tc.path, write, why)
			}
		}
	}
}

// TestNamed: a name of a profile is looked up when a command runs. A link of the project that leads elsewhere is refused.
func TestNamed(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(home, "p")
	for _, dir := range []string{"p/docs", ".ssh", "data"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"p/keys": "../.ssh", "p/data": "../data", "more": "data", "k": ".ssh"} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	named := func(paths ...string) (string, error) {
		c, err := (&Command{Project: project, Home: home, Profile: Profile{Name: "mine", Read: paths}}).named()
		if err != nil {
			return "", err
		}
		return strings.ReplaceAll(strings.Join(c.Read, " "), home, "H"), nil
	}
	if got, err := named("docs", "~/more", "~/absent", "absent"); got != "H/p/docs H/data" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"keys", "data", "~/k"} {
		if got, err := named(bad); err == nil || !slices.Contains(strings.Fields(err.Error()), bad) {
			t.Errorf("%s: %q, %v", bad, got, err)
		}
	}
}
