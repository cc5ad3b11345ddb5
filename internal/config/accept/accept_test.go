package accept

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var monday = time.Date(2026, 11, 23, 1, 2, 3, 0, time.UTC)

func set(pairs ...string) Set {
	s := Set{}
	for i := 0; i+1 < len(pairs); i += 2 {
		s[pairs[i]] = File{Data: []byte(pairs[i+1]), Exec: strings.HasSuffix(pairs[i], ".sh")}
	}
	return s
}

func TestStore(t *testing.T) {
	s := At(filepath.Join(t.TempDir(), "deep", "store"))
	if _, err := s.Read(); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("an empty store: %v", err)
	}
	if err := s.Amend(monday, func(string) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing was amended: %v", err)
	}
	first := set("a.yaml", "1", "skills/x/run.sh", "2", "/out/b.yaml", "3", "big", "4")
	big := first["big"]
	big.Loose = true
	first["big"] = big
	if err := s.Write(first, monday); err != nil {
		t.Fatal(err)
	}
	a, err := s.Read()
	if err != nil || a.Digest != first.Digest() || len(first.Changes(a)) > 0 {
		t.Fatalf("%+v %v", a, err)
	}
	st, err := os.Stat(a.Path("skills/x/run.sh"))
	if err != nil || st.Mode().Perm() != 0o700 || !strings.HasPrefix(a.Path("a.yaml"), a.Folder()) {
		t.Errorf("%v %v", st, err)
	}
	write := func(dir string) error { return os.WriteFile(filepath.Join(dir, "c.yaml"), nil, 0o644) }
	if err := s.Amend(monday.Add(time.Hour), write); err != nil {
		t.Fatal(err)
	}
	if a, err = s.Read(); err != nil || len(a.Files) != 5 {
		t.Fatalf("%+v %v", a, err)
	}
	for _, e := range a.Files {
		if want := map[bool]time.Time{true: monday.Add(time.Hour), false: monday}[e.Path == "c.yaml"]; !e.Since.Equal(want) {
			t.Errorf("%s since %v", e.Path, e.Since)
		}
	}
	failed := errors.New("no")
	fail := func(dir string) error { return errors.Join(failed, os.Remove(filepath.Join(dir, "a.yaml"))) }
	if err := s.Amend(monday, fail); !errors.Is(err, failed) {
		t.Error(err)
	}
	if b, err := s.Read(); err != nil || b.Digest != a.Digest {
		t.Errorf("a change that failed was accepted: %v", err)
	}
	if was, err := s.Remove(); !was || err != nil {
		t.Error(was, err)
	}
	if list, _ := filepath.Glob(filepath.Join(s.dir, copyPrefix+"*")); len(list) > 0 {
		t.Errorf("left behind: %q", list)
	}
}

// TestReadersSeeOneVersion: whoever reads while others accept gets one version whole.
func TestReadersSeeOneVersion(t *testing.T) {
	s := At(t.TempDir())
	version := func(i int) Set { return set("a", fmt.Sprint(i), "b/c", fmt.Sprint(i)) }
	if err := s.Write(version(0), monday); err != nil {
		t.Fatal(err)
	}
	digests := map[string]bool{}
	for i := range 20 {
		digests[version(i).Digest()] = true
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := range 20 {
			if err := s.Write(version(i), monday); err != nil {
				t.Error(err)
			}
		}
	})
	for range 2 {
		wait.Go(func() {
			for range 100 {
				if a, err := s.Read(); err != nil || !digests[a.Digest] {
					t.Errorf("%v", err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// TestDigest: two sets have one digest only if they have the same names, modes and contents, and then nothing has changed.
func TestDigest(t *testing.T) {
	file := rapid.Custom(func(t *rapid.T) File {
		return File{Data: []byte(rapid.SampledFrom([]string{"", "x", "-", "xx"}).Draw(t, "data")), Exec: rapid.Bool().Draw(t, "exec")}
	})
	sets := rapid.MapOf(rapid.SampledFrom([]string{"a", "ab", "b", "/a", "a/b"}), file)
	rapid.Check(t, func(t *rapid.T) {
		a, b := Set(sets.Draw(t, "a")), Set(sets.Draw(t, "b"))
		equal := maps.EqualFunc(a, b, func(x, y File) bool { return string(x.Data) == string(y.Data) && x.Exec == y.Exec })
		if (a.Digest() == b.Digest()) != equal {
			t.Errorf("%v %v", a, b)
		}
		was := &Accepted{Manifest: Manifest{}}
		for name, f := range b {
			was.Files = append(was.Files, Entry{Path: name, Exec: f.Exec, Sum: f.sum()})
		}
		if (len(a.Changes(was)) == 0) != equal {
			t.Errorf("%v: %v", a, a.Changes(was))
		}
	})
}

// FuzzManifest: no text panics, and what is taken has names that stay inside the copy, in order, and reads back as itself.
func FuzzManifest(f *testing.F) {
	good := &Manifest{Version: 1, Copy: "copy-1"}
	good.Files = []Entry{{Path: "/x/y", Sum: strings.Repeat("0", 64)}, {Path: "a", Sum: strings.Repeat("a", 64)}}
	good.Digest = digest(good.Files)
	data, err := good.format()
	if err != nil {
		f.Fatal(err)
	}
	if _, err := parse(data); err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	for _, other := range [][2]string{{`"a"`, `"../a"`}, {`"a"`, `"a/../b"`}, {"copy-1", "../copy-1"}, {"copy-1", "copy-"},
		{`"version": 1`, `"version": 2`},
		{`"a"`, `"/x/y"`}, {`"a"`, `""`}, {"aaaa", "AAAA"}, {`"exec"`, `"x"`}, {`"version": 1`, `"version": 1, "version": 1`}} {
		text := strings.ReplaceAll(string(data), other[0], other[1])
		if _, err := parse([]byte(text)); err == nil && text != string(data) {
			f.Errorf("taken: %s", text)
		}
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parse(data)
		if err != nil {
			return
		}
		a := &Accepted{*m, "/store/" + m.Copy}
		last := ""
		for _, e := range m.Files {
			if path := a.Path(e.Path); !strings.HasPrefix(path, "/store/copy-") || strings.Contains(path, "/../") || e.Path <= last {
				t.Errorf("%q is at %q", e.Path, path)
			}
			if name, ok := nameOf(a.folder, a.Path(e.Path)); !ok || name != e.Path {
				t.Errorf("%q comes back as %q", e.Path, name)
			}
			last = e.Path
		}
		text, err := m.format()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parse(text); err != nil || again.Digest != m.Digest {
			t.Errorf("%v", err)
		}
	})
}
