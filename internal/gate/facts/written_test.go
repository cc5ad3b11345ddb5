package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"mycelium/internal/policy"
)

// TestWrittenIsBounded: past the bound everything in the project counts as written, also for the next process.
func TestWrittenIsBounded(t *testing.T) {
	dir := t.TempDir()
	w := NewWritten(dir, "s1", "")
	var paths []string
	for i := range maxWritten + 10 {
		paths = append(paths, fmt.Sprintf("/p/%d\n\"", i))
	}
	w.add(paths)
	next := NewWritten(dir, "s1", "")
	next.load()
	if !w.all || !next.all || len(w.paths) != maxWritten || len(next.paths) != maxWritten {
		t.Errorf("%v %v, %d and %d paths", w.all, next.all, len(w.paths), len(next.paths))
	}
	strange := NewWritten(dir, "../../x", "")
	strange.add([]string{"/p/a"})
	if strange.file != "" || len(strange.paths) != 1 {
		t.Errorf("%q", strange.file)
	}
}

// TestWrittenWhereNothingCanBeWritten: it is kept in memory, and nobody is refused for it.
func TestWrittenWhereNothingCanBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".mycelium"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := NewWritten(filepath.Join(dir, ".mycelium"), "s1", "")
	w.add([]string{"/p/a"})
	w.load()
	if _, ok := w.paths["/p/a"]; !ok {
		t.Error("forgotten")
	}
}

// runsWritten reports whether a command executes what the session wrote.
func runsWritten(t *testing.T, w *Written, dir, command string) bool {
	t.Helper()
	f, err := Of(bashTool, nil, policy.Args{"command": command}, Place{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	w.Mark(&f)
	for _, p := range f.Parts {
		if slices.Contains(p.Effects, policy.EffectWrittenHere) {
			return true
		}
	}
	return false
}

// notes tells the memory of an allowed command.
func notes(t *testing.T, w *Written, dir, command string) {
	t.Helper()
	f, err := Of(bashTool, nil, policy.Args{"command": command}, Place{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	w.Note(bashTool, &f)
}

// TestWrittenUnderAnotherName: what a session wrote counts under a name that a program gives it (W3), also for the next process.
func TestWrittenUnderAnotherName(t *testing.T) {
	state, dir := t.TempDir(), projectWith(t)
	writeFile(t, "echo old", dir, "old.sh")
	w := NewWritten(state, "s1", dir)
	notes(t, w, dir, "echo x > tool.sh; cp old.sh copy.sh")
	writeFile(t, "echo new", dir, "tool.sh")
	writeFile(t, "echo old", dir, "copy.sh")
	notes(t, w, dir, "make tidy")
	writeFile(t, "echo other", dir, "other.sh")
	writeFile(t, "echo new", dir, "moved/run.sh")
	if err := os.Remove(filepath.Join(dir, "tool.sh")); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Written{w, NewWritten(state, "s1", dir)} {
		for _, command := range []string{"bash moved/run.sh", "./moved/run.sh", "bash tool.sh", "bash copy.sh"} {
			if !runsWritten(t, m, dir, command) {
				t.Errorf("%s: not what the session wrote", command)
			}
		}
		if runsWritten(t, m, dir, "bash other.sh") {
			t.Error("other.sh: what the session wrote")
		}
	}
	w.texts.since = time.Now().Add(time.Hour) // the file came to its name before the session
	if runsWritten(t, w, dir, "bash old.sh") {
		t.Error("old.sh: what the session wrote")
	}
}

// TestWrittenInAnArchive: what comes out of an archive that the session fetched counts as written.
func TestWrittenInAnArchive(t *testing.T) {
	dir := projectWith(t)
	packed(t, filepath.Join(dir, "a.tgz"), `tar czf "$OUT" x`, "x/run.sh", "x/b.sh")
	packed(t, filepath.Join(dir, "theirs.tgz"), `tar czf "$OUT" x`, "x/run.sh")
	w := NewWritten("", "s1", dir)
	notes(t, w, dir, "curl -o a.tgz https://x.example/a.tgz")
	notes(t, w, dir, "tar xzf a.tgz -C sub --strip-components=1; tar xf theirs.tgz -C their")
	if !runsWritten(t, w, dir, "bash sub/run.sh") || runsWritten(t, w, dir, "bash their/x/run.sh") {
		t.Error("the members of the archive that was fetched count, and no others")
	}
}

// TestCompiled: what is compiled from files of the project is code of the project, in the same command and later; what is compiled from
// what the session wrote, or from elsewhere, is what the session wrote.
func TestCompiled(t *testing.T) {
	dir := projectWith(t)
	for _, name := range []string{"a.c", "cmd/x/main.go"} {
		writeFile(t, "text", dir, name)
	}
	for command, run := range map[string]string{"gcc -o build/a a.c": "./build/a", "go build -o bin/x ./cmd/x": "./bin/x"} {
		for _, wrote := range []bool{false, true} {
			w := NewWritten("", "s1", dir)
			if wrote {
				notes(t, w, dir, "echo x > a.c; echo y > cmd/x/main.go")
			}
			if got := runsWritten(t, w, dir, command+" && "+run); got != wrote {
				t.Errorf("%s, written=%t: %t", command, wrote, got)
			}
			notes(t, w, dir, command)
			if got := runsWritten(t, w, dir, run); got != wrote {
				t.Errorf("%s afterwards, written=%t: %t", run, wrote, got)
			}
		}
	}
	for _, command := range []string{"gcc -o build/a /tmp/a.c", "gcc -E -o build/a a.c", "gcc -o build/a a.c -x c - <<< 'int x;'",
		"gcc -include /tmp/x.h -o build/a a.c", "gcc -I/tmp -o build/a a.c", "gcc -L/tmp -lx -o build/a a.c",
		"gcc '-DF=\"/tmp/x\"' -o build/a a.c",
		"gcc -Wl,/tmp/x.o -o build/a a.c", "rustc --extern x=/tmp/libx.rlib -o build/a a.c", "go build -ldflags=-extld=/tmp/x -o build/a ./cmd/x",
		"go build -gccgoflags=-B/tmp -o build/a ./cmd/x"} {
		w := NewWritten("", "s1", dir)
		if !runsWritten(t, w, dir, command+" && ./build/a") {
			t.Errorf("%s && ./build/a: not what the session wrote", command)
		}
		if notes(t, w, dir, command); !runsWritten(t, w, dir, "./build/a") {
			t.Errorf("%s, and later ./build/a: not what the session wrote", command)
		}
	}
}
