package accept

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestVersions: each content of a role's file that was accepted is kept, with its number and time, also its removal and its return; other
// files are not.
func TestVersions(t *testing.T) {
	s := At(t.TempDir())
	accept := func(day int, pairs ...string) {
		t.Helper()
		if err := s.Write(set(pairs...), monday.AddDate(0, 0, day)); err != nil {
			t.Fatal(err)
		}
	}
	accept(0, "roles/a.yaml", "1", "rules.yaml", "r1")
	accept(1, "roles/a.yaml", "1", "rules.yaml", "r2")
	accept(2, "roles/a.yaml", "2", "roles/b.yaml", "b")
	accept(3, "roles/b.yaml", "b")
	if err := s.Amend(monday.AddDate(0, 0, 4), func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "roles", "a.yaml"), []byte("1"), 0o600)
	}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Versions("roles/a.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, v := range got {
		data, err := s.Content(v)
		if (v.Sum == "") != errors.Is(err, fs.ErrNotExist) {
			t.Error(v, err)
		}
		if v.By == "" || v.Time.Location() != time.UTC {
			t.Errorf("%+v", v)
		}
		words = append(words, fmt.Sprintf("%d %q day %d", v.Number, data, int(v.Time.Sub(monday).Hours()/24)))
	}
	want := []string{`1 "1" day 0`, `2 "2" day 2`, `3 "" day 3`, `4 "1" day 4`}
	if !slices.Equal(words, want) {
		t.Errorf("%q", words)
	}
	if other, _ := s.Versions("rules.yaml"); len(other) != 3 || other[1].Number != 2 {
		t.Errorf("%v", other)
	}
	if all, _ := s.Versions(""); len(all) != len(got)+3+1 {
		t.Errorf("%v", all)
	}

	// a content that somebody changed is none
	if err := os.WriteFile(filepath.Join(s.versionsFolder(), got[1].Sum), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := s.Content(got[1]); err == nil {
		t.Errorf("%q", data)
	}
}

// TestVersionsOfAnOlderProgram: what is in force without a version gets one, so that the first change can be taken back.
func TestVersionsOfAnOlderProgram(t *testing.T) {
	s := At(t.TempDir())
	if err := s.Write(set("roles/a.yaml", "1"), monday); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(s.versionsFile()), os.RemoveAll(s.versionsFolder())); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(set("roles/a.yaml", "2"), monday.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	got, err := s.Versions("roles/a.yaml")
	if err != nil || len(got) != 2 || got[0].By != "" || !got[0].Time.Equal(monday) {
		t.Fatalf("%+v %v", got, err)
	}
	if data, err := s.Content(got[0]); err != nil || string(data) != "1" {
		t.Errorf("%q %v", data, err)
	}

	// a list that cannot be read keeps nobody from accepting, and stays
	if err := os.WriteFile(s.versionsFile(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(set("roles/a.yaml", "3"), monday.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Versions("roles/a.yaml"); err != nil || len(got) != 2 {
		t.Errorf("%+v %v", got, err)
	}
	if data, err := os.ReadFile(s.versionsFile() + ".damaged"); err != nil || string(data) != "{" {
		t.Errorf("%q %v", data, err)
	}
}

// TestVersionsAreBounded: the oldest go, with their contents, and the others keep their numbers. What is too large is listed only.
func TestVersionsAreBounded(t *testing.T) {
	s := At(t.TempDir())
	n := &versions{store: s}
	at := filepath.Join(t.TempDir(), "content")
	for i := range mostVersions + 3 {
		f := File{Data: fmt.Append(nil, i)}
		if i == mostVersions {
			f.Data = make([]byte, maxVersion+1)
		}
		if err := os.WriteFile(at, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		n.add(Version{Path: "roles/a.yaml", Sum: f.sum(), Time: monday}, at)
	}
	if err := n.write(); err != nil {
		t.Fatal(err)
	}
	got, err := s.Versions("roles/a.yaml")
	if err != nil || len(got) != mostVersions || got[0].Number != 4 {
		t.Fatalf("%d %+v %v", len(got), got[0], err)
	}
	if list, _ := os.ReadDir(s.versionsFolder()); len(list) != mostVersions-1 {
		t.Errorf("%d contents", len(list))
	}
	if _, err := s.Content(got[len(got)-3]); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// FuzzVersions: no text panics, and no name or digest of a list that is taken leads out of the store.
func FuzzVersions(f *testing.F) {
	good := `{"version":1,"versions":[{"path":"roles/a","number":1,"sha256":"` + strings.Repeat("a", 64) + `","time":"2026-11-23T00:00:00Z"}]}`
	if _, err := parseVersions([]byte(good)); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(good))
	for _, other := range [][2]string{{"roles/a", "../a"}, {"aaaa", "/../"}, {`"number":1`, `"number":0`}, {`"version":1`, `"version":2`}} {
		wrong := strings.ReplaceAll(good, other[0], other[1])
		if _, err := parseVersions([]byte(wrong)); err == nil {
			f.Errorf("taken: %s", wrong)
		}
		f.Add([]byte(wrong))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parseVersions(data)
		if err != nil {
			return
		}
		for _, v := range list {
			if strings.ContainsAny(v.Sum, "/.") || strings.Contains("/"+v.Path+"/", "/../") || v.Number < 1 {
				t.Errorf("%+v", v)
			}
		}
	})
}
