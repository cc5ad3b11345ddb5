package light

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// unwalled notes files for an agent without a wall, and returns the folder of its run.
func unwalled(t testing.TB, dir string, files map[string][]string) (run string) {
	t.Helper()
	run = filepath.Join(dir, "run", "s")
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	n := Note{None: "no namespaces"}
	for path, members := range files {
		f, err := Look(path, members...)
		if err != nil {
			t.Fatal(err)
		}
		n.Files = append(n.Files, f)
	}
	if err := n.Keep(run); err != nil {
		t.Fatal(err)
	}
	return run
}

// TestUnwalled: a file that governs an agent without a wall counts as changed by its content, whoever put its size and times back, and until its
// person takes it as it is. Of settings only the members count that govern.
func TestUnwalled(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("program", "was")
	write("settings.json", `{"hooks": {"a": [1, 2]}, "model": "x"}`)
	write("odd.json", `no JSON`)
	members := []string{"hooks", "env"}
	run := unwalled(t, dir, map[string][]string{path("program"): nil, path("settings.json"): members, path("local.json"): members,
		path("odd.json"): members, path("absent"): nil})
	runs := filepath.Join(dir, "run", "*")
	looks := func(want string) {
		t.Helper()
		lost, none := Of(run)
		if none != "no namespaces" || want == "" && lost != "" || !strings.Contains(lost, want) {
			t.Errorf("it says %q, %q, want %q", lost, none, want)
		}
		changed, err := Changed(runs)
		if err != nil || (len(changed) > 0) != (want != "") {
			t.Errorf("changed are %q %v", changed, err)
		}
	}
	looks("")
	long := time.Unix(1, 0)
	for _, touch := range []func(){
		func() { write("program", "was") },
		func() { write("settings.json", `{ "model": "y", "hooks": {"a": [1,2]} }`) },
		func() { write("local.json", `{"permissions": {}}`) },
		func() { _ = os.Chtimes(path("program"), long, long) },
	} {
		touch()
		looks("")
	}
	for _, c := range []struct{ name, text, back string }{
		{"program", "new", "was"}, {"settings.json", `{"hooks": {"a": [2, 1]}}`, `{"hooks": {"a": [1, 2]}}`},
		{"settings.json", `{"hooks": {"a": [1, 2]}, "env": {}}`, `{"hooks": {"a": [1, 2]}}`},
		{"settings.json", `broken`, `{"hooks": {"a": [1, 2]}}`},
		{"local.json", `{"env": {"A": "b"}}`, "{}"}, {"odd.json", `{"hooks": {}}`, "no JSON"},
	} {
		write(c.name, c.text)
		_ = os.Chtimes(path(c.name), long, long)
		looks(c.name)
		write(c.name, c.back)
		looks("")
		write(c.name, c.text)
		if err := Renew(runs, path("other")); err != nil {
			t.Error(err)
		}
		looks(c.name)
		if err := Renew(runs, path(c.name)); err != nil {
			t.Error(err)
		}
		looks("")
		write(c.name, c.back)
		if err := Renew(runs, path(c.name)); err != nil {
			t.Error(err)
		}
	}
	write("absent", "")
	looks("absent was made")
	if err := os.Remove(path("absent")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path("program")); err != nil {
		t.Fatal(err)
	}
	looks("program was changed")
	if changed, err := Changed(runs); err != nil || !slices.Equal(changed, []string{path("program")}) {
		t.Errorf("changed are %q %v", changed, err)
	}
}

// BenchmarkUnwalled measures the comparison at a hook: of 16 files that are as they were, and of a program of 40 MiB that was touched.
func BenchmarkUnwalled(b *testing.B) {
	for _, touched := range []bool{false, true} {
		b.Run(map[bool]string{false: "untouched", true: "touched"}[touched], func(b *testing.B) {
			dir := b.TempDir()
			files := map[string][]string{}
			for i := range 16 {
				path := filepath.Join(dir, string(rune('a'+i)))
				if err := os.WriteFile(path, []byte(`{"hooks": {}}`), 0o600); err != nil {
					b.Fatal(err)
				}
				files[path] = []string{"hooks"}
			}
			program := filepath.Join(dir, "myc")
			if err := os.WriteFile(program, make([]byte, 40<<20), 0o600); err != nil {
				b.Fatal(err)
			}
			files[program] = nil
			run := unwalled(b, dir, files)
			if touched {
				if err := os.Chtimes(program, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if lost, _ := Of(run); lost != "" {
					b.Fatal(lost)
				}
			}
		})
	}
}
