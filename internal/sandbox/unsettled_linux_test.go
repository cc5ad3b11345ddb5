package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// TestUnsettled takes the quarantine away while a command runs: its end fails, nothing else runs until the quarantine is back, and then the
// next command puts the file away first.
func TestUnsettled(t *testing.T) {
	c := projectCommand(t, "sh", "-c", "mkdir .gemini; echo evil > .gemini/settings.json")
	if err := os.Remove(c.Quarantine); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), self(t), c); err == nil {
		t.Error("the end does not say that it failed")
	}
	next := *c
	next.Argv = []string{"touch", "ran"}
	if _, err := Run(t.Context(), self(t), &next); err == nil {
		t.Error("the next command does not say that it was refused")
	}
	if _, err := os.Lstat(filepath.Join(c.Project, "ran")); err == nil {
		t.Error("the next command ran")
	}
	if err := os.Mkdir(c.Quarantine, 0o700); err != nil {
		t.Fatal(err)
	}
	next.Argv = []string{"sh", "-c", "test ! -e .gemini/settings.json"}
	if result, err := Run(t.Context(), self(t), &next); err != nil || result.ExitCode != 0 {
		t.Errorf("%v %+v", err, result)
	}
	if !putAwayFrom(c.Quarantine, filepath.Join(c.Project, ".gemini", "settings.json")) {
		t.Error("the quarantine does not have the file")
	}
	if left, err := os.ReadDir(c.Scratch); err != nil || len(left) > 0 {
		t.Errorf("private copies are left: %v %v", left, err)
	}
}

// TestGitIsNotOfTheProject: a program named git in what a command may write is not started outside.
func TestGitIsNotOfTheProject(t *testing.T) {
	c := projectCommand(t, "true")
	tools := filepath.Join(c.Project, "tools")
	if err := os.Mkdir(tools, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tools, "git"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.Environ = []string{"PATH=" + tools + ":/usr/bin"}
	if got := c.git(); got != "/usr/bin/git" {
		t.Errorf("git is %q", got)
	}
}
