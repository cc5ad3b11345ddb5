package warm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const (
	one = "0123456789ab"
	two = "ba9876543210"
)

// digits is a name of 64 digits that begins with two of its own.
func digits(begin string) string { return begin + strings.Repeat("0", 64-len(begin)) }

// make makes a seed of some files.
func (s Seeds) make(t *testing.T, id string, files map[string]string) {
	t.Helper()
	made, err := s.Make(t.Context(), id, func(work string) (string, error) {
		for name, data := range files {
			path := filepath.Join(work, "cache", name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(data), 0o600)); err != nil {
				return "", err
			}
		}
		return filepath.Join(work, "cache"), nil
	})
	if err != nil || !made {
		t.Fatal(made, err)
	}
}

// TestHalfMade: a seed whose making failed or was killed is not there, and the next one begins anew.
func TestHalfMade(t *testing.T) {
	t.Parallel()
	s, caches := Seeds(t.TempDir()), filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(caches, 0o700); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if _, err := s.Make(t.Context(), one, func(work string) (string, error) {
		return work, errors.Join(os.MkdirAll(filepath.Join(work, "00"), 0o700), os.WriteFile(filepath.Join(work, "00", digits("00")+"-d"), nil, 0o600),
			broken)
	}); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := s.Make(t.Context(), one, func(work string) (string, error) { return work, nil }); err == nil {
		t.Error("a seed of nothing was made")
	}
	// What a process that was killed leaves: files in the folder of the work, and in the folder of seeds none.
	if err := os.MkdirAll(filepath.Join(string(s), "making", "seed"), 0o700); err != nil {
		t.Fatal(err)
	}
	if s.Has(one) || s.Lay(caches) != nil || exists(filepath.Join(caches, goBuild)) {
		t.Error("a seed that is not finished is used")
	}
	s.make(t, one, map[string]string{"00/" + digits("00") + "-d": "data"})
	if !s.Has(one) || exists(filepath.Join(string(s), "making")) {
		t.Error("a later seed is not made, or its work is left")
	}
	if made, err := s.Make(t.Context(), one, nil); made || err != nil {
		t.Error("a seed is made twice:", err)
	}
	if _, err := s.Make(t.Context(), "../../x", nil); err == nil {
		t.Error("a seed may lie anywhere")
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestLay: links are laid, again after they were removed, and not over what is there. Links to a seed that is gone are removed.
func TestLay(t *testing.T) {
	t.Parallel()
	s, caches := Seeds(t.TempDir()), filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(caches, 0o700); err != nil {
		t.Fatal(err)
	}
	a, b, own := "00/"+digits("00")+"-a", "7f/"+digits("7f")+"-d", "7f/"+digits("7f1")+"-d"
	s.make(t, one, map[string]string{a: "entry", b: "data", own: "x", "README": "no part", "00/" + digits("01") + "-d/prog": "a program"})
	s.make(t, two, map[string]string{"ff/" + digits("ff") + "-d": "of another toolchain"})
	path := func(name string) string { return filepath.Join(caches, goBuild, name) }
	if err := errors.Join(os.MkdirAll(path("7f"), 0o700), os.WriteFile(path(own), []byte("own"), 0o600)); err != nil {
		t.Fatal(err)
	}
	lay := func(want int) {
		t.Helper()
		if err := s.Lay(caches); err != nil {
			t.Fatal(err)
		}
		links := 0
		_ = filepath.WalkDir(caches, func(path string, d fs.DirEntry, err error) error {
			if d.Type() == fs.ModeSymlink {
				to, _ := os.Readlink(path)
				rest := strings.TrimPrefix(to, SeedsInside)
				if data, err := os.ReadFile(s.Folder() + rest); err != nil || len(data) == 0 || len(to) > 59 {
					t.Errorf("%s leads to %s: %v", path, to, err)
				}
				links++
			}
			return err
		})
		if data, _ := os.ReadFile(path(own)); links != want || string(data) != "own" {
			t.Errorf("%d links, want %d; own file %q", links, want, data)
		}
	}
	lay(3)
	if err := os.RemoveAll(path("00")); err != nil { // as go clean -cache does
		t.Fatal(err)
	}
	lay(3)
	if err := os.RemoveAll(filepath.Join(s.Folder(), two)); err != nil {
		t.Fatal(err)
	}
	lay(2)
	if st, err := os.Stat(filepath.Join(s.Folder(), one, "0")); err != nil || st.Mode().Perm() != 0o400 || st.ModTime().Before(never) {
		t.Errorf("%v %v", st, err)
	}
}

// TestLayStaysInside: a command may put links in the place of folders of its cache. Nothing is laid where they lead.
func TestLayStaysInside(t *testing.T) {
	t.Parallel()
	s, dir := Seeds(t.TempDir()), t.TempDir()
	caches, outside := filepath.Join(dir, "cache"), filepath.Join(dir, "outside")
	s.make(t, one, map[string]string{"00/" + digits("00") + "-d": "data"})
	for _, bad := range []string{goBuild, goBuild + "/00"} {
		if err := errors.Join(os.RemoveAll(caches), os.MkdirAll(filepath.Dir(filepath.Join(caches, bad)), 0o700), os.MkdirAll(outside, 0o700),
			os.Symlink(outside, filepath.Join(caches, bad))); err != nil {
			t.Fatal(err)
		}
		if err := s.Lay(caches); err == nil {
			t.Error("it does not say that", bad, "leads out")
		}
		if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
			t.Error(bad, entries, err)
		}
	}
}

// TestPrune: the oldest seeds go, and not the one that was just made.
func TestPrune(t *testing.T) {
	t.Parallel()
	s := Seeds(t.TempDir())
	for i := range mostSeeds + 2 {
		id := strings.Repeat("0", 11) + string("0123456789abcdef"[i])
		s.make(t, id, map[string]string{"00/" + digits("00") + "-d": "data"})
		old := never.AddDate(-100+i, 0, 0)
		if err := os.Chtimes(filepath.Join(s.Folder(), id, namesFile), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if ids := s.ids(); len(ids) != mostSeeds || ids[0] != "000000000002" {
		t.Error(ids)
	}
}

// TestTogether: commands of one project begin at the same time, and so do processes that make a seed.
func TestTogether(t *testing.T) {
	t.Parallel()
	s, caches := Seeds(t.TempDir()), filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(caches, 0o700); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var times atomic.Int32
	for range 8 {
		group.Go(func() {
			_, err := s.Make(t.Context(), one, func(work string) (string, error) {
				times.Add(1)
				dir := filepath.Join(work, "00")
				return work, errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, digits("00")+"-d"), []byte("data"), 0o600),
					os.WriteFile(filepath.Join(dir, digits("001")+"-d"), []byte("data"), 0o600))
			})
			if err := errors.Join(err, s.Lay(caches)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	entries, err := os.ReadDir(filepath.Join(caches, goBuild, "00"))
	if times.Load() != 1 || len(entries) != 2 || err != nil {
		t.Error("made", times.Load(), "times; links:", entries, err)
	}
}
