package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestFilesWithSecretsLookEmpty: a look finds the files of the table, and leaves those that are not to be empty.
func TestFilesWithSecretsLookEmpty(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".env": "A=1", ".env.vercel": "A=1", "a/.npmrc": "//h/:_authToken=abcd-efgh", "terraform.tfvars": "a=1", ".secrets/x": "1",
		"b/.npmrc": "registry=https://h/", ".env.example": "A=", "node_modules/x/id.key": "k", "testdata/x.key": "k", "given.key": "k",
		".env.tracked": "A=1", ".env.changed": "A=1",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-f", ".env.tracked", ".env.changed"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".env.changed"), []byte("A=12"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &Command{Project: dir, Home: "/home/u", Read: []string{filepath.Join(dir, "given.key")}, Scratch: t.TempDir()}
	g, err := c.look(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{".env", ".env.changed", ".env.vercel", ".secrets", "a/.npmrc", "terraform.tfvars"} {
		want = append(want, filepath.Join(dir, name))
	}
	if !slices.Equal(g.Secrets, want) {
		t.Errorf("%q, want %q", g.Secrets, want)
	}
	// After a command nothing of it counts: a file with secrets that it made is its work.
	after, err := c.look(t.Context(), g)
	if err != nil || len(after.Secrets) != 0 {
		t.Errorf("after the command: %q, %v", after.Secrets, err)
	}
}
