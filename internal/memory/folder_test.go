package memory

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

// TestMain lets this binary be a writer of its own process.
func TestMain(m *testing.M) {
	if dir := os.Getenv("MEMORY_WRITER"); dir != "" {
		if err := writeMany(Folder{Dir: dir, Locks: dir + ".locks"}, os.Getenv("MEMORY_NAME")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

const perWriter = 25

func writeMany(f Folder, name string) error {
	for i := range perWriter {
		e, err := New(fmt.Sprintf("%s %d", name, i), "fact", nil, "", time.Now())
		if err == nil {
			err = f.Save("team", time.Now(), e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestManyWriters: two processes and four goroutines write to one file at once, and nothing is lost.
func TestManyWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memory")
	var all []*exec.Cmd
	for _, name := range []string{"p1", "p2"} {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "MEMORY_WRITER="+dir, "MEMORY_NAME="+name)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	f, done := Folder{Dir: dir, Locks: dir + ".locks"}, make(chan error)
	for i := range 4 {
		go func() { done <- writeMany(f, fmt.Sprint("g", i)) }()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	d, _, err := f.Read("team")
	if err != nil || len(d.Problems) > 0 {
		t.Fatal(err, d.Problems)
	}
	seen := map[string]bool{}
	for _, e := range d.Entries() {
		seen[e.Content] = true
	}
	for _, name := range []string{"p1", "p2", "g0", "g1", "g2", "g3"} {
		for i := range perWriter {
			if !seen[fmt.Sprintf("%s %d", name, i)] {
				t.Errorf("%s %d is lost", name, i)
			}
		}
	}
	if len(seen) != 6*perWriter {
		t.Errorf("%d entries", len(seen))
	}
}

// TestEditMeanwhile: a file that somebody else changes between reading and writing is read again.
func TestEditMeanwhile(t *testing.T) {
	dir := t.TempDir()
	f := Folder{Dir: dir, Locks: filepath.Join(dir, "locks")}
	if err := f.Save("r", time.Now(), Entry{ID: "a", Type: "fact", Content: "A."}); err != nil {
		t.Fatal(err)
	}
	times := 0
	err := f.Change("r", func(d *Doc) (*Doc, error) {
		if times++; times == 1 { // a person saves in an editor
			if err := os.WriteFile(f.Path("r"), append(d.Bytes(), "### [hand]\nBy hand.\n"...), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return d, d.Add(time.Now(), Entry{ID: "b", Type: "fact", Content: "B."})
	})
	d, _, rerr := f.Read("r")
	if err != nil || rerr != nil || times != 2 {
		t.Fatal(err, rerr, times)
	}
	var got []string
	for _, e := range d.Entries() {
		got = append(got, e.ID)
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"a", "b", "hand"}) {
		t.Error(got)
	}
}

// TestLawFileNames: different roles have different files, whatever letters they have, also where case does not count; the role is found
// again from the name, or from the name and the file's first line where it is too long.
func TestLawFileNames(t *testing.T) {
	names := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a/b", "a_b", "A_b", "a.b", "..", ".", "con", "CON", "nul", "com1",
		"lpt9",
		"c=6fn", "=63on", "é", "é", "ｅ", "a ", "a", "a\x00b", "a\nb", "開発", strings.Repeat("x", 179), strings.Repeat("x", 300),
		strings.Repeat("開", 90), strings.Repeat("開", 91), strings.Repeat("x", 117) + "é" + strings.Repeat("x", 99), "a=zb", `"q"`}),
		rapid.StringMatching(`[A-Za-z0-9_=.-]{1,200}`))
	rapid.Check(t, func(t *rapid.T) {
		a, b := names.Draw(t, "a"), names.Draw(t, "b")
		fa, fb := FileName(a), FileName(b)
		if a != b && strings.EqualFold(fa, fb) {
			t.Fatalf("%q and %q share %s", a, b, fa)
		}
		if len(fa) > 200 || strings.ContainsAny(fa, "/\\:*?\"<>|\x00 ") || strings.ToLower(fa) != fa ||
			reserved(strings.TrimSuffix(fa, suffix)) {
			t.Fatalf("%q has the file %q", a, fa)
		}
		if a == "" {
			return
		}
		d := Parse(a, nil)
		if err := d.Add(time.Now()); err != nil {
			t.Fatal(err)
		}
		if role, ok := roleOf(fa, titled(d.Bytes())); !ok || role != a {
			t.Fatalf("%s is of %q, and was of %q", fa, role, a)
		}
	})
}

// TestWhatIsNoFile: links, folders and pipes are not read, whatever their names.
func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("### [a]\nroot:x:0:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := Folder{Dir: filepath.Join(dir, "memory"), Locks: filepath.Join(dir, "locks"), Shared: true}
	if err := os.MkdirAll(f.Path("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, f.Path("link")); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"link", "folder"} {
		if _, _, err := f.Read(role); err == nil {
			t.Errorf("%s is read", role)
		}
		if err := f.Save(role, time.Now(), Entry{ID: "x", Type: "fact", Content: "x"}); err == nil {
			t.Errorf("%s is written", role)
		}
	}
	linked := Folder{Dir: filepath.Join(dir, "linked"), Locks: f.Locks, Shared: true}
	if err := os.Symlink(f.Dir, linked.Dir); err != nil {
		t.Fatal(err)
	}
	if _, _, err := linked.Read("any"); err == nil {
		t.Error("a folder behind a link is read")
	}
	for _, name := range []string{"NOT.memory.md", "=6.memory.md", "=61.memory.md", ".x.memory.md", "=zz.memory.md"} {
		if err := os.WriteFile(filepath.Join(f.Dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roles, strangers, err := f.list()
	if err != nil || !slices.Equal(roles, []string{"folder", "link"}) || len(strangers) != 4 {
		t.Error(roles, strangers, err)
	}
}
