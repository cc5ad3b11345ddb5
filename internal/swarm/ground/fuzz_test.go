package ground

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzGit: what git prints is read without a panic, whatever it is, and nothing is invented.
func FuzzGit(f *testing.F) {
	f.Add("git version 2.39.5 (Apple Git-154)", "3\t1\tname",
		"1\x00a\x00Auto-merging\x00Auto-merging a\n\x001\x00a\x00CONFLICT (contents)\x00CONFLICT in a\n")
	f.Add("git version 2", "-\t-\tb\tc", "99999999999999999999\x00")
	f.Add("", "\t\t", "-1\x00\x00\x00")
	f.Fuzz(func(t *testing.T, version, line, said string) {
		parseVersion(version)
		if got := parseNumstat(line); !strings.HasSuffix(line, got.Path) {
			t.Errorf("%q from %q", got.Path, line)
		}
		if got := messages(said); len(got) > len(said) {
			t.Errorf("%q from %q", got, said)
		}
		if got := cut(said); len(got) > 3*mostConflictText {
			t.Errorf("%d bytes", len(got))
		}
	})
}

// FuzzPath: a path that is let through names something below the top, not below a link, and nothing of git's.
func FuzzPath(f *testing.F) {
	top := f.TempDir()
	if err := os.Symlink("/", filepath.Join(top, "out")); err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"a", "a/b/", "../a", "/a", "out", "out/etc", "a/../../b", ".git/x", "a/.GiT", "a\x00",
		"日本/語", "", ".", "-x", ":(top)x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if checkPath(top, path) != nil {
			return
		}
		parts := strings.Split(strings.TrimSuffix(path, "/"), "/")
		if !filepath.IsLocal(path) || strings.Contains(path, "\x00") || parts[0] == "out" && len(parts) > 1 ||
			slices.ContainsFunc(parts, func(s string) bool { return s == ".." || s == "" || strings.EqualFold(s, ".git") }) {
			t.Errorf("%q was let through", path)
		}
	})
}
