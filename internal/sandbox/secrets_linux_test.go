package sandbox

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
		".env.tracked": "A=1", ".env.changed": "A=1", ".env.staged": "A=1", ".env.production": "A=1", "c/.env.production": "A=1",
		"c/.secrets/y": "1", "c/.secrets/z": "1", "c/.secrets/more/x": "1",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-f", ".env.tracked", ".env.changed", ".env.production", "c/.secrets/y"},
		{"-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "begin"}, {"add", "-f", ".env.staged"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".env.changed"), []byte("A=12"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &Command{Project: dir, Home: "/home/u", Read: []string{filepath.Join(dir, "given.key")}, Scratch: t.TempDir(),
		Environ: os.Environ()}
	g, err := c.look(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{".env", ".env.changed", ".env.staged", ".env.vercel", ".secrets", "a/.npmrc", "c/.secrets/more", "c/.secrets/z",
		"terraform.tfvars"} {
		want = append(want, filepath.Join(dir, name))
	}
	if !slices.Equal(g.Secrets, want) {
		t.Errorf("%q, want %q", g.Secrets, want)
	}
	// What no agent may open is shown too where each commit shows it, and the command cannot change it.
	if shown, hidden := filepath.Join(dir, ".env.production"), filepath.Join(dir, "c/.env.production"); !slices.Contains(g.Fixed, shown) ||
		slices.Contains(g.Hidden, shown) || !slices.Contains(g.Hidden, hidden) {
		t.Errorf("read-only: %q, hidden: %q", g.Fixed, g.Hidden)
	}
	// After a command nothing of it counts: a file with secrets that it made is its work.
	after, err := c.look(t.Context(), g)
	if err != nil || len(after.Secrets) != 0 {
		t.Errorf("after the command: %q, %v", after.Secrets, err)
	}
	if governed, _ := after.Since(g); len(governed) > 0 {
		t.Errorf("a command that did nothing has made %q", governed)
	}
}

// TestTrackedSecretStaysAsItIs: a command that commits everything commits no empty file in the place of a secret that git has.
func TestTrackedSecretStaysAsItIs(t *testing.T) {
	c := projectCommand(t, "sh", "-c", "cat .env.production .env.staging .env.mine; echo work > work; git add -A && git -c user.name=t "+
		"-c user.email=t@localhost commit -qm work && git show --stat --format= HEAD")
	for name, text := range map[string]string{".env.production": "P=1\n", ".env.staging": "S=1\n", ".env.mine": "M=1\n", ".gitignore": ".env.mine\n"} {
		if err := os.WriteFile(filepath.Join(c.Project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "begin"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", c.Project}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	var out bytes.Buffer
	c.Out, c.Err = &out, &out
	result, err := Run(t.Context(), self(t), c)
	if err != nil || result.ExitCode != 0 || len(result.Left.Quarantined) > 0 {
		t.Fatalf("%v %+v", err, result)
	}
	said := out.String()
	if !strings.Contains(said, "P=1\nS=1\n") || strings.Contains(said, "M=1") || strings.Contains(said, ".env") ||
		!strings.Contains(said, "work | 1 +") {
		t.Errorf("the command says %q", said)
	}
}
