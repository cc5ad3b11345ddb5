package agentshell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/harness"
)

// TestOutside: what runs outside of the wall executes nothing that an agent could have written: no hook, monitor, alias, filter or credential
// helper of the project, no program of the project that PATH finds, no start-up file, and nothing that a variable names.
func TestOutside(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", top)
	project, away := filepath.Join(top, "shop"), filepath.Join(top, "away.git")
	proof := filepath.Join(top, "proof")
	evil := "#!/bin/sh\necho \"$0\" >> " + proof + "\n"
	run := func(dir string, argv ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + top, "PATH=/usr/bin:/bin", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	run(top, "git", "init", "-q", "--bare", away)
	run(top, "git", "init", "-q", "-b", "main", project)
	write("a.txt", "x\n")
	run(project, "git", "add", "a.txt")
	run(project, "git", "commit", "-qm", "x")
	run(project, "git", "remote", "add", "origin", away)
	// As a person has set the project up, and an agent changed it: the programs are files of the project.
	for _, name := range []string{".husky/pre-push", ".husky/post-checkout", "tools/watch", "tools/clean", "tools/helper", "node_modules/.bin/git",
		"node_modules/.bin/tail"} {
		write(name, evil)
	}
	write(".gitattributes", "*.txt filter=x\n")
	for _, kv := range [][2]string{{"core.hooksPath", ".husky"}, {"core.fsmonitor", project + "/tools/watch"}, {"filter.x.clean", "tools/clean %f"},
		{"filter.x.smudge", "./tools/clean"}, {"credential.helper", "!tools/helper"}, {"alias.st", "!tools/clean"}, {"core.sshCommand", "tools/helper"}} {
		run(project, "git", "config", kv[0], kv[1])
	}
	write("rc", "echo rc >> "+proof+"\n")
	s := &Shell{Environ: []string{"HOME=" + top, "PATH=" + project + "/node_modules/.bin:node_modules/.bin:/usr/bin:/bin", "BASH_ENV=" + project + "/rc",
		"ENV=" + project + "/rc", "LD_PRELOAD=" + project + "/x.so", "GIT_EXTERNAL_DIFF=" + project + "/tools/clean", "NODE_OPTIONS=--require ./x.js",
		"GITHUB_TOKEN=theirs"}}
	n := &Note{Folder: project, Project: project}
	do := func(command string) (string, error) {
		t.Helper()
		argv, environ, err := s.outside(n, harness.Wrapped{Command: command, Shell: "bash", Folder: filepath.Join(top, "claude-x-cwd")}, "/bin/bash", project)
		if err != nil {
			return "", err
		}
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = project, environ
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, command := range []string{"git push -q origin main 2>&1 | tail -1", "git status", "git checkout -q -b b", "touch a.txt; git diff", "git st", "env"} {
		out, err := do(command)
		if _, found := os.Stat(proof); found == nil {
			ran, _ := os.ReadFile(proof) //nolint:gosec // a file of the test
			t.Fatalf("%s runs %s", command, ran)
		}
		if err != nil && command != "git st" {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		if command == "env" && (strings.Contains(out, project+"/") || !strings.Contains(out, "GITHUB_TOKEN=theirs")) {
			t.Errorf("the environment is %s", out)
		}
	}
	if at, err := os.ReadFile(filepath.Join(top, "claude-x-cwd")); err != nil || string(at) != project+"\n" { //nolint:gosec // a file of the test
		t.Errorf("the folder in which it ended is %q, %v", at, err)
	}
	run(project, "git", "--git-dir", away, "rev-parse", "-q", "--verify", "main") // the push came there
	write("shared.gitconfig", "[core]\n\tsshCommand = tools/helper\n")
	run(project, "git", "config", "include.path", "../shared.gitconfig")
	if _, err := do("git fetch"); err == nil || !strings.Contains(err.Error(), "shared.gitconfig") {
		t.Errorf("a configuration that includes a file of the project: %v", err)
	}
}
