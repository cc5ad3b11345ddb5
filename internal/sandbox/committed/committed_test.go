package committed

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a repository with a commit that has lock and deep/lock, and a link. It returns how git is run in it.
func repository(t *testing.T, format string) (r Repository, git func(args ...string) string) {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	git = func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), program, append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "--object-format="+format, ".")
	for name, text := range map[string]string{"lock": "one", "deep/er/lock": "two", "other": "three"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("other", filepath.Join(dir, "deep", "lock")); err != nil {
		t.Fatal(err)
	}
	git("add", "-A")
	git("commit", "-qm", "one")
	return Repository{Git: program, Dir: Of(filepath.Join(dir, "deep"))}, git
}

func isLock(path string) bool { return filepath.Base(path) == "lock" }

// TestFiles: the files are those of the commit, whatever the working tree has, and whatever is checked out.
func TestFiles(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		r, git := repository(t, format)
		id, err := r.Head(t.Context())
		if err != nil || id != git("rev-parse", "HEAD") {
			t.Fatal(id, err)
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(r.Dir), "lock"), []byte("just written"), 0o600); err != nil {
			t.Fatal(err)
		}
		git("commit", "-qam", "two")
		files, err := r.Files(t.Context(), id, isLock)
		if got := fmt.Sprintf("%s", files); err != nil || got != "map[deep/er/lock:two lock:one]" {
			t.Errorf("%s: %s, %v", format, got, err)
		}
		if _, err := r.Files(t.Context(), "HEAD", isLock); err == nil {
			t.Error("a name that moves is taken for a commit")
		}
		if _, err := r.Files(t.Context(), strings.Repeat("0", len(id)), isLock); err == nil {
			t.Error("a commit that is not there has files")
		}
	}
}

// TestHead: a folder without a commit has none.
func TestHead(t *testing.T) {
	r, git := repository(t, "sha1")
	git("checkout", "-q", "--orphan", "empty")
	if id, err := r.Head(t.Context()); err == nil {
		t.Errorf("%q", id)
	}
	if dir := Of(t.TempDir()); dir != "" {
		t.Errorf("a folder that is in no repository is in %s", dir)
	}
}

// TestChanged: content under the name of another one is found, whichever object on the way it stands in for; so is a replacement.
func TestChanged(t *testing.T) {
	for _, what := range []string{"HEAD", "HEAD^{tree}", "HEAD:lock", "HEAD:deep", "HEAD:deep/er/lock"} {
		r, git := repository(t, "sha1")
		id := git("rev-parse", "HEAD")
		object := git("rev-parse", what)
		kind := git("cat-file", "-t", object)
		var content bytes.Buffer
		z := zlib.NewWriter(&content)
		text := git("cat-file", "-p", object) + "x"
		if kind == "tree" { // of another folder
			text = strings.TrimRight(string(git("cat-file", "tree", git("rev-parse", "HEAD:deep/er"))), "\n")
		}
		fmt.Fprintf(z, "%s %d\x00%s", kind, len(text), text)
		_ = z.Close()
		path := filepath.Join(r.Dir, "objects", object[:2], object[2:])
		if err := errors.Join(os.Remove(path), os.WriteFile(path, content.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		if files, err := r.Files(t.Context(), id, isLock); err == nil && fmt.Sprintf("%s", files) != "map[deep/er/lock:two lock:one]" && len(files) > 0 {
			t.Errorf("%s was exchanged, and the files are %s", what, files)
		}
	}
	r, git := repository(t, "sha1")
	id := git("rev-parse", "HEAD")
	other := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(other, []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("replace", git("rev-parse", "HEAD:lock"), git("hash-object", "-w", other))
	if files, err := r.Files(t.Context(), id, isLock); err != nil || string(files["lock"]) != "one" {
		t.Errorf("replaced: %s, %v", files, err)
	}
}

// FuzzEntry: no tree ends the program.
func FuzzEntry(f *testing.F) {
	f.Add([]byte("100644 lock\x00aaaaaaaaaaaaaaaaaaaa"), "lock")
	f.Add([]byte("40000 a\x00"), "a")
	f.Fuzz(func(_ *testing.T, tree []byte, name string) { entry(tree, name, 20) })
}
