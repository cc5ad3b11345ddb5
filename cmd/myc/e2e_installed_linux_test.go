package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"mycelium/internal/harness"
	"mycelium/internal/model/fake"
	"mycelium/internal/model/fake/faketest"
)

// TestInstalledHookWithstands: real agents of both versions obey the hook that `myc hook install` wrote into the administrator's settings,
// or into the project's on this machine, although the project's and the user's settings switch hooks off and set every variable that could
// lead a hook elsewhere.
func TestInstalledHookWithstands(t *testing.T) {
	for _, door := range doors(agentDoors[:2]) {
		_, err := door.find("../..", "claude")
		needed(t, err, "Claude Code, "+door.name)
	}
	if !withOwnEtc(t) {
		return
	}
	for _, door := range doors(agentDoors[:2]) {
		for _, scope := range []string{"managed", "project"} {
			t.Run(door.name+", "+scope, func(t *testing.T) {
				// Half of them have a daemon: with either version, and in either scope.
				installedHookWithstands(t, door, scope, (door.name == agentDoors[0].name) == (scope == "project"))
			})
		}
	}
}

func installedHookWithstands(t *testing.T, door agentDoor, scope string, daemon bool) {
	p := newProject(t, hookWorld())
	account := fmt.Sprintf("root:x:%d:%d::%s:/bin/sh\n", os.Getuid(), os.Getgid(), p.home)
	if err := os.WriteFile("/etc/passwd", []byte(account), 0o644); err != nil {
		t.Fatal(err)
	}
	if daemon {
		p.serve()
	}
	known, _ := harness.Named("claude")
	hostile := map[string]string{}
	for _, name := range known.Launch.Pinned {
		// These would keep commands, or the agent, from running at all.
		if name != "PATH" && name != "SHELL" && !strings.HasPrefix(name, "CLAUDE_CODE_") && name != "TMPDIR" {
			hostile[name] = "/hostile"
		}
	}
	off, err := json.Marshal(map[string]any{"disableAllHooks": true, "env": hostile})
	if err != nil {
		t.Fatal(err)
	}
	files := []string{".claude/settings.json", "../.claude/settings.json"}
	if scope == "managed" {
		files = append(files, ".claude/settings.local.json")
	}
	for _, file := range files {
		p.write(file, string(off))
	}
	if out := p.must("hook", "install", "claude", "--"+scope, "--unsafe-program"); !strings.Contains(out, "do not switch this hook off") {
		t.Errorf("install says %s", out)
	}
	program, err := door.find("../..", "claude")
	if err != nil {
		t.Fatal(err)
	}
	s := fake.New(bashStep("touch a.txt"), bashStep("touch b.txt"), fake.Step{Text: "done"})
	defer s.Close()
	cmd := exec.CommandContext(p.ctx, program, "-p", "--output-format", "json", "--tools", "Bash", "--", "Do it.")
	cmd.Dir, cmd.Env = p.dir, p.agentEnv("claude", s)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("claude: %v\n%s", err, out)
	}
	if turns := s.Turns(); len(turns) != 3 || !strings.Contains(results(turns[2]), "b is not made here") {
		t.Errorf("%d turns; the model reads %q", len(turns), results(turns[len(turns)-1]))
	}
	if !exists(p, "a.txt") || exists(p, "b.txt") {
		t.Errorf("a.txt: %t, b.txt: %t", exists(p, "a.txt"), exists(p, "b.txt"))
	}
	if out, _, err := p.run("hook", "status"); err != nil || !strings.Contains(out, "11 hooks of ours") {
		t.Errorf("hook status: %v\n%s", err, out)
	}
	p.must("hook", "uninstall", "claude", "--"+scope)
	if _, err := os.Lstat("/etc/claude-code/managed-settings.json"); err == nil {
		t.Error("the administrator's settings are left behind")
	}
}

// withOwnEtc runs a test again without a network and with an /etc of its own; true in that copy.
func withOwnEtc(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVar) == "" {
		t.Parallel()
		program(t) // so that the copy finds it
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.timeout="+copyTimeout(t).String(),
			"-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
		cmd.Env = append(os.Environ(), insideVar+"=1")
		faketest.NoNetwork(cmd)
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWNS
		out, err := cmd.CombinedOutput()
		t.Logf("with an own /etc:\n%s", out)
		if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
			t.Errorf("the copy with an own /etc: %v", err)
		}
		return false
	}
	if err := faketest.LoopbackUp(); err != nil {
		t.Fatal(err)
	}
	etc := t.TempDir()
	for _, name := range []string{"passwd", "group", "hosts", "nsswitch.conf", "ld.so.cache", "os-release"} {
		text, err := os.ReadFile(filepath.Join("/etc", name))
		if err != nil {
			continue // not every system has each
		}
		if err := os.WriteFile(filepath.Join(etc, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(etc, "/etc", "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount("/etc", unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return true
}
