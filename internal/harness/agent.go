package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Agent is a coding agent that may be installed on this machine.
type Agent struct {
	Name    string // as our commands call it, and the name of its program
	Title   string // as people call it
	Package string // of npm
}

// Agents are the agents that we know, in the order of the documentation.
func Agents() []Agent {
	return []Agent{
		{"claude", "Claude Code", "@anthropic-ai/claude-code"},
		{"codex", "Codex", "@openai/codex"},
		{"gemini", "Gemini CLI", "@google/gemini-cli"},
		{"crush", "Crush", "@charmland/crush"},
	}
}

// Named is the agent of that name.
func Named(name string) (Agent, bool) {
	for _, a := range Agents() {
		if a.Name == name {
			return a, true
		}
	}
	return Agent{}, false
}

// ErrMissing is the error of Find where the agent is not installed.
var ErrMissing = errors.New("not installed")

// Find returns the program of an agent: the first of its name on the PATH of an environment.
func (a Agent) Find(environ []string) (string, error) {
	for _, dir := range filepath.SplitList(value(environ, "PATH")) {
		if !filepath.IsAbs(dir) { // "" and "." are whatever folder somebody stands in
			continue
		}
		path := filepath.Join(dir, a.Name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: no program %q on the PATH: %w", a.Title, a.Name, ErrMissing)
}

// versionWithin bounds the question for a version: a program of Node takes a second or two on a busy machine.
const versionWithin = 30 * time.Second

// Version asks a program for its version. It runs in an empty home, so that nothing of the person is read or written.
func (a Agent) Version(ctx context.Context, path string, environ []string) (string, error) {
	home, err := os.MkdirTemp("", "myc-version-")
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", a.Title, err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	ctx, cancel := context.WithTimeout(ctx, versionWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Dir, cmd.Env = home, append(Quiet(environ, home), a.homeVar()+"="+home)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", a.Title, err)
	}
	for word := range strings.FieldsSeq(string(out)) { // "2.1.197 (Claude Code)", "codex-cli 0.169.0"
		if word = strings.TrimPrefix(word, "v"); word[:1] >= "0" && word[:1] <= "9" && strings.Contains(word, ".") {
			return word, nil
		}
	}
	return strings.TrimSpace(firstLine(string(out))), nil
}

// Quiet is an environment with a home of its own, without a credential, an agent's mark or a token of ours: an allow-list of what
// programs need to run at all.
func Quiet(environ []string, home string) []string {
	out := []string{"HOME=" + home}
	for _, name := range []string{"PATH", "LANG", "LC_ALL", "TMPDIR", "TERM", "TZ", "SYSTEMROOT"} {
		if v := value(environ, name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// homeVar is the variable that moves an agent's own configuration.
func (a Agent) homeVar() string {
	switch a.Name {
	case "claude":
		return "CLAUDE_CONFIG_DIR"
	case "codex":
		return "CODEX_HOME"
	case "gemini":
		return "GEMINI_CLI_HOME"
	}
	return "XDG_CONFIG_HOME"
}

// Files are the configuration files of an agent that concern us, absolute. Trust is "" where the agent has no such file.
type Files struct {
	Hooks string // where its hooks stand
	Trust string // where it keeps which hooks it trusts
}

// Files returns where an agent reads its configuration: the user's own, or the one of a project folder that is for this machine only.
func (a Agent) Files(user bool, dir string, environ []string) (Files, error) {
	home := value(environ, "HOME")
	if !filepath.IsAbs(home) {
		return Files{}, errors.New("HOME is not set to a folder")
	}
	own := map[string]string{
		"claude": filepath.Join(home, ".claude"), "codex": filepath.Join(home, ".codex"),
		"gemini": filepath.Join(home, ".gemini"), "crush": filepath.Join(home, ".config", "crush"),
	}[a.Name]
	if moved := value(environ, a.homeVar()); filepath.IsAbs(moved) {
		switch a.Name {
		case "crush":
			moved = filepath.Join(moved, "crush")
		case "gemini":
			moved = filepath.Join(moved, ".gemini")
		}
		own = moved
	}
	f := Files{}
	switch a.Name {
	case "claude":
		f.Hooks = filepath.Join(own, "settings.json")
		if !user {
			f.Hooks = filepath.Join(dir, ".claude", "settings.local.json")
		}
	case "codex":
		f = Files{Hooks: filepath.Join(own, "hooks.json"), Trust: filepath.Join(own, "config.toml")}
		if !user {
			f.Hooks = filepath.Join(dir, ".codex", "hooks.json")
		}
	case "gemini":
		f.Hooks = filepath.Join(own, "settings.json")
		if !user {
			f.Hooks = filepath.Join(dir, ".gemini", "settings.json")
		}
	case "crush":
		f.Hooks = filepath.Join(own, "crush.json")
		if !user {
			f.Hooks = firstThere(filepath.Join(dir, "crush.json"), filepath.Join(dir, ".crush.json"))
		}
	default:
		return Files{}, fmt.Errorf("no agent %q", a.Name)
	}
	return f, nil
}

// firstThere is the first path that exists, else the first.
func firstThere(paths ...string) string {
	for _, p := range paths {
		if _, err := os.Lstat(p); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return p
		}
	}
	return paths[0]
}

// value reads a variable of an environment; the last one counts.
func value(environ []string, name string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(environ[i], name+"="); ok {
			return v
		}
	}
	return ""
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
