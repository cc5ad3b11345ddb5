package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/cmd/myc/internal/demo"
)

// TestGuide runs every sh block of docs/guide.md, in order, in one shell, as a reader would. A block marked exit=N has to end with that
// code.
func TestGuide(t *testing.T) {
	t.Parallel()
	blocks := shellBlocks(t, "../../docs/guide.md")
	if len(blocks) < 8 {
		t.Fatalf("the guide has %d sh blocks: is the reader wrong?", len(blocks))
	}
	home := t.TempDir()
	bin := filepath.Join(home, "bin")
	for _, dir := range []string{bin, filepath.Join(home, "run"), filepath.Join(home, "work")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(self, filepath.Join(bin, "myc")); err != nil {
		copyFile(t, self, filepath.Join(bin, "myc"))
	}
	var script strings.Builder
	script.WriteString("cd \"$HOME/work\"\n")
	for _, b := range blocks {
		if b.with != "" {
			continue // TestGuideGoverned
		}
		script.WriteString("echo '--- " + b.where + "'\nset -e\n")
		if b.exit == "0" {
			script.WriteString(b.text)
			continue
		}
		script.WriteString("set +e\n(" + "\n" + b.text + ")\ncode=$?\nif [ $code != " + b.exit + " ]; then echo \"exit $code, want " + b.exit +
			"\"; exit 99; fi\nset -e\n")
	}
	cmd := exec.Command("bash")
	cmd.Stdin = strings.NewReader(script.String())
	cmd.Env = append(demo.ScratchEnv(os.Environ(), home), "PATH="+bin+":"+os.Getenv("PATH"), "NO_COLOR=1")
	t.Cleanup(func() { endDaemons(t, home) })
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

type block struct{ where, exit, with, text string }

func shellBlocks(t *testing.T, path string) []block {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	var in *block
	title := ""
	for line := range strings.Lines(string(b)) {
		switch {
		case in == nil && strings.HasPrefix(line, "#"):
			title = strings.TrimSpace(strings.ReplaceAll(strings.TrimLeft(line, "# "), "'", ""))
		case in == nil && (line == "```sh\n" || strings.HasPrefix(line, "```sh ")):
			in = &block{where: title, exit: "0"}
			if _, code, ok := strings.Cut(strings.TrimSpace(line), "exit="); ok {
				in.exit = code
			} else if _, with, ok := strings.Cut(strings.TrimSpace(line), "```sh "); ok {
				in.with = with // a program that it needs
			}
		case in != nil && line == "```\n":
			out, in = append(out, *in), nil
		case in != nil:
			in.text += line
		}
	}
	return out
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o700); err != nil {
		t.Fatal(err)
	}
}
