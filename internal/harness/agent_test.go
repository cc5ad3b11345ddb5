package harness

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/shell"
)

// install writes a program into a folder.
func install(t *testing.T, dir, name, script string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), mode); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	install(t, first, "codex", "", 0o600) // not executable
	install(t, second, "codex", "", 0o700)
	if err := os.MkdirAll(filepath.Join(second, "gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(second)
	environ := []string{"PATH=/nowhere", "PATH=" + strings.Join([]string{"", ".", first, second}, ":")}
	codex, _ := Named("codex")
	if path, err := codex.Find(environ); err != nil || path != filepath.Join(second, "codex") {
		t.Errorf("%s %v", path, err)
	}
	for _, name := range []string{"gemini", "claude"} {
		a, _ := Named(name)
		if path, err := a.Find(environ); !errors.Is(err, ErrMissing) {
			t.Errorf("%s: %s %v", name, path, err)
		}
	}
	if _, err := codex.Find([]string{"PATH=:."}); !errors.Is(err, ErrMissing) {
		t.Errorf("the working folder is on the PATH: %v", err)
	}
	if _, ok := Named("cloude"); ok {
		t.Error("there is an agent cloude")
	}
}

func TestVersion(t *testing.T) {
	dir := t.TempDir()
	for said, want := range map[string]string{"2.1.197 (Claude Code)": "2.1.197", "codex-cli 0.169.0": "0.169.0",
		"crush version v0.96.1": "0.96.1", "who knows": "who knows", "": ""} {
		install(t, dir, "claude", "env > "+dir+"/env\necho 'a warning' >&2\necho '"+said+"'\n", 0o700)
		a, _ := Named("claude")
		got, err := a.Version(t.Context(), filepath.Join(dir, "claude"),
			[]string{"PATH=" + os.Getenv("PATH"), "HOME=/home/somebody", "ANTHROPIC_API_KEY=secret"})
		if err != nil || got != want {
			t.Errorf("%q: %q %v", said, got, err)
		}
	}
	seen, err := os.ReadFile(filepath.Join(dir, "env"))
	if err != nil || strings.Contains(string(seen), "somebody") || strings.Contains(string(seen), "secret") ||
		!strings.Contains(string(seen), "CLAUDE_CONFIG_DIR=") {
		t.Errorf("it was asked with %s %v", seen, err)
	}
	a, _ := Named("codex")
	if _, err := a.Version(t.Context(), filepath.Join(dir, "none"), nil); err == nil {
		t.Error("a program that is not there has a version")
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	home := "HOME=/h"
	for _, c := range []struct {
		agent, more string
		scope       Scope
		want        Files
	}{
		{"claude", "", User, Files{Hooks: "/h/.claude/settings.json"}},
		{"claude", "CLAUDE_CONFIG_DIR=/c", User, Files{Hooks: "/c/settings.json"}},
		{"claude", "CLAUDE_CONFIG_DIR=c", User, Files{Hooks: "/h/.claude/settings.json"}},
		{"claude", "CLAUDE_CONFIG_DIR=/c", Project, Files{Hooks: dir + "/.claude/settings.local.json"}},
		{"claude", "CLAUDE_CONFIG_DIR=/c", Managed, Files{Hooks: claudeManaged()}},
		{"codex", "", User, Files{Hooks: "/h/.codex/hooks.json", Trust: "/h/.codex/config.toml"}},
		{"codex", "CODEX_HOME=/c", Project, Files{Hooks: dir + "/.codex/hooks.json", Trust: "/c/config.toml"}},
		{"gemini", "GEMINI_CLI_HOME=/c", User, Files{Hooks: "/c/.gemini/settings.json"}},
		{"gemini", "", Project, Files{Hooks: dir + "/.gemini/settings.json"}},
		{"crush", "XDG_CONFIG_HOME=/c", User, Files{Hooks: "/c/crush/crush.json"}},
		{"crush", "", User, Files{Hooks: "/h/.config/crush/crush.json"}},
		{"crush", "", Project, Files{Hooks: dir + "/crush.json"}},
	} {
		a, _ := Named(c.agent)
		if got, err := a.Files(c.scope, dir, []string{home, c.more}); err != nil || got != c.want {
			t.Errorf("%s %s %s: %+v %v, want %+v", c.agent, c.more, c.scope, got, err, c.want)
		}
	}
	install(t, dir, ".crush.json", "", 0o600)
	crush, _ := Named("crush")
	if got, err := crush.Files(Project, dir, []string{home}); err != nil || got.Hooks != dir+"/.crush.json" {
		t.Errorf("with .crush.json: %+v %v", got, err)
	}
	if _, err := crush.Files(User, dir, nil); err == nil {
		t.Error("without HOME there are files")
	}
	if _, err := (Agent{Name: "x"}).Files(User, dir, []string{home}); err == nil {
		t.Error("an unknown agent has files")
	}
}

func TestQuiet(t *testing.T) {
	got := Quiet([]string{"HOME=/a", "PATH=/bin", "MYCELIUM_TOKEN=x", "CLAUDECODE=1", "OPENAI_API_KEY=y", "LANG=C"}, "/b")
	if !slices.Equal(got, []string{"HOME=/b", "PATH=/bin", "LANG=C"}) {
		t.Errorf("%v", got)
	}
}

// TestEveryAgentIsWhole: every agent has all its parts.
func TestEveryAgentIsWhole(t *testing.T) {
	for _, a := range Agents() {
		for part, there := range map[string]bool{
			"title": a.Title != "", "package": a.Package != "", "marks": len(a.Marks) > 0, "configVar": a.configVar != "",
			"configDir": a.configDir != "",
			"files":     a.files != nil, "limit": a.Limit > 0, "events": len(a.events) > 0, "answer": a.answer != nil, "tools": len(a.tools) > 0,
			"unit":                     a.Hooks.unit > 0,
			"deny entries":             (a.Hooks.DenyPath == nil) == (a.Hooks.denyRules == nil),
			"one that precedes a tool": slices.ContainsFunc(a.events, func(e eventName) bool { return e.kind == PreTool }),
		} {
			if !there {
				t.Errorf("%s: %s", a.Name, part)
			}
		}
		if s := a.script; s != nil && (s.environ == nil || s.headless == nil || s.shell == nil) {
			t.Errorf("%s: its script lacks a part", a.Name)
		}
		if f, err := a.Files(Project, "/p", []string{"HOME=/h"}); err != nil || (f.Trust != "") != (a.Hooks.TrustKey != nil) {
			t.Errorf("%s: %+v %v", a.Name, f, err)
		}
	}
}

// TestOthersAgree: the packages below harness repeat a few facts about agents, which must be the same.
func TestOthersAgree(t *testing.T) {
	var aliases [][2]string
	for _, tool := range claude.tools {
		aliases = append(aliases, [2]string{tool.native, tool.tool})
	}
	if !slices.Equal(aliases, policy.AgentAliases[:]) {
		t.Errorf("the policy's other names of tools are %v, Claude Code's %v", policy.AgentAliases[:], aliases)
	}
	if own != policy.AgentServer {
		t.Errorf("own tools stand under %q here, and under %q in the policy", own, policy.AgentServer)
	}
	for _, name := range Programs() {
		if f := shell.Facts(name+" -p hi", shell.Options{Dir: "/p"}); len(f.Parts) != 1 ||
			!slices.Contains(f.Parts[0].Effects, policy.EffectAgent) {
			t.Errorf("a shell that starts %s: %+v", name, f.Parts)
		}
	}
	protected := func(file string) bool {
		name := strings.Replace(strings.Replace(file, "/h/", "~/", 1), "/p/", "./", 1)
		return slices.ContainsFunc(policy.BasePaths(), func(b policy.BasePath) bool { return inside(name, b.Path) })
	}
	for _, a := range Agents() {
		for _, scope := range a.Scopes() {
			f, err := a.Files(scope, "/p", []string{"HOME=/h"})
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{f.Hooks, f.Trust} {
				if file != "" && !protected(file) {
					t.Errorf("%s: %s is protected by no base constraint", a.Name, file)
				}
			}
		}
	}
}
