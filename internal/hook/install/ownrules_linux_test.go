package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/harness"
	"mycelium/internal/state"
)

// TestOwn: a command is replaced only where the person has set nothing that the agent would then not look at. What cannot be read counts
// as set, wherever the agent may read it.
func TestOwn(t *testing.T) {
	top := t.TempDir()
	home, moved, dir := filepath.Join(top, "home"), filepath.Join(top, "moved"), filepath.Join(top, "project")
	sub := filepath.Join(dir, "sub")
	for _, d := range []string{home, moved, sub} {
		if err := os.MkdirAll(filepath.Join(d, ".claude"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	agent, _ := harness.Named("claude")
	s := Setup{Agent: agent, Dir: dir, Environ: []string{"HOME=" + home}, Myc: "/usr/bin/myc", Small: "/usr/bin/myc-hook",
		State: state.Root(filepath.Join(top, "state")).Of(dir), Protected: []harness.Protected{{Path: "~/.ssh"}}}
	if _, err := s.Install(); err != nil { // with entries in the agent's deny list
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	// agentProcess is a process that looks like the agent's, until the test ends.
	agentProcess := func(name string, environ []string, options ...string) int {
		cmd := exec.CommandContext(t.Context(), bash, append([]string{"-c", "echo; read x"}, options...)...)
		cmd.Args[0], cmd.Dir, cmd.Env = name, sub, environ
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil { // before it runs, /proc does not have its arguments
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd.Process.Pid
	}
	plain := agentProcess("claude", []string{"HOME=" + home})
	own := func(process int) string { return Own(s.State, agent, process, sub) }
	if why := own(plain); why != "" {
		t.Fatalf("nothing is set: %s", why)
	}
	for _, tt := range []struct {
		file, text, want string
	}{
		{home + "/.claude/settings.json", `{"permissions": {"deny": ["Bash(rm:*)"]}}`, "permissions.deny"},
		{home + "/.claude/settings.json", `{"permissions": {"ask": ["Bash(rm:*)"]}}`, "permissions.ask"},
		{home + "/.claude/settings.json", `{"permissions": {"allow": ["Bash(rm:*)"], "deny": [], "ask": null}}`, ""},
		{home + "/.claude/settings.json", `{"enabledPlugins": {"a": false}}`, ""},
		{home + "/.claude/settings.json", `{"permissions": {"deny": ["Bash(rm:*)"]}, "permissions": {}}`, "not understood"},
		{home + "/.claude/settings.json", `{"permissions": {"deny": "Bash"}}`, "permissions.deny"},
		{home + "/.claude/settings.json", `{`, "not understood"},
		{home + "/.claude/settings.json", `[]`, "not understood"},
		{home + "/.claude/settings.json", `{"enabledPlugins": {"a@b": true}}`, "enabledPlugins"},
		{home + "/.claude/settings.json", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}`, "another hook"},
		{home + "/.claude/settings.json", `{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}`, ""},
		{home + "/.claude/settings.json", `{"sandbox": {"enabled": true}}`, "a sandbox of its own"},
		{home + "/.claude/settings.json", `{"sandbox": {"enabled": false}}`, ""},
		{home + "/.claude/remote-settings.json", `{}`, "may have rules"},
		{dir + "/.claude/settings.json", `{"permissions": {"deny": ["Bash(rm:*)"]}}`, "permissions.deny"},
		{dir + "/.claude/settings.json", `{"env": {"CLAUDE_CONFIG_DIR": "/elsewhere"}}`, "env.CLAUDE_CONFIG_DIR"},
		{dir + "/.claude/settings.json", `{"env": {"BASH_ENV": "x"}}`, "env.BASH_ENV"},
		{dir + "/.claude/settings.json", `{"env": {"X": "y"}}`, ""},
		{sub + "/.claude/settings.local.json", `{"permissions": {"deny": ["Bash(rm:*)"]}}`, "permissions.deny"},
		{top + "/.claude/settings.json/x", "", "cannot be read"}, // the file of settings is a folder
	} {
		if err := os.MkdirAll(filepath.Dir(tt.file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(tt.file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if why := own(plain); (why == "") != (tt.want == "") || !strings.Contains(why, tt.want) {
			t.Errorf("%s in %s: %q, want %q", tt.text, tt.file, why, tt.want)
		}
		if err := os.Remove(tt.file); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(top + "/.claude"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		process int
		want    string
	}{
		{agentProcess("/opt/bin/claude", []string{"HOME=" + home}, "--model", "x", "--", "do it"), ""},
		{agentProcess("claude", []string{"HOME=" + home}, "--disallowedTools=Bash(rm:*)"), "started with --disallowedTools"},
		{agentProcess("claude", []string{"HOME=" + home}, "--", "--settings", "x"), "started with --settings"},
		{agentProcess("node", []string{"HOME=" + home}), "started by -c"},
		{agentProcess("claude", []string{}), "HOME"},
		{0, "its process has ended"},
		{os.Getpid(), "was started by"},
	} {
		if why := own(tt.process); (why == "") != (tt.want == "") || !strings.Contains(why, tt.want) {
			t.Errorf("%q, want %q", why, tt.want)
		}
	}
	// The environment that the process began with says where the settings are.
	if err := os.WriteFile(moved+"/settings.json", []byte(`{"permissions": {"ask": ["Bash"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if why := own(agentProcess("claude", []string{"HOME=" + home, "CLAUDE_CONFIG_DIR=" + moved})); !strings.Contains(why, moved) {
		t.Errorf("settings that the environment names: %q", why)
	}
}
