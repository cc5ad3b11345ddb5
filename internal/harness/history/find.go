package history

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mycelium/internal/text"
)

// Places are the folders in which an agent keeps conversations.
type Places struct {
	Home   string
	Getenv func(string) string
}

// Find returns the files of an agent with conversations that took place in a folder or below it, in the order of their names. It looks
// into each file for the folder, because the names of files and folders do not tell it without doubt.
func (p Places) Find(agent, dir string) ([]string, error) {
	var pattern string
	switch agent {
	case Claude:
		pattern = filepath.Join(p.or("CLAUDE_CONFIG_DIR", ".claude"), "projects", "*", "*.jsonl")
	case Codex:
		pattern = filepath.Join(p.or("CODEX_HOME", ".codex"), "sessions", "*", "*", "*", "rollout-*.jsonl")
	case Gemini:
		pattern = filepath.Join(p.or("GEMINI_CLI_HOME", ""), ".gemini", "tmp", "*", "chats", "session-*.json*")
	default:
		return nil, unknownAgent(agent)
	}
	all, err := filepath.Glob(pattern)
	if err != nil { // the home has brackets in its name
		return nil, fmt.Errorf("look for conversations in %s: %w", pattern, err)
	}
	return slices.DeleteFunc(all, func(path string) bool { return !tookPlace(agent, path, dir) }), nil
}

// or returns the folder that a variable names, or else one of the home.
func (p Places) or(variable, name string) string {
	if dir := p.Getenv(variable); dir != "" {
		return dir
	}
	return filepath.Join(p.Home, name)
}

// firstLines is how many lines of a file are searched for its folder. The first lines of Claude Code are about its queue.
const firstLines = 50

// tookPlace reports whether a conversation took place in a folder or below it.
func tookPlace(agent, path, dir string) bool {
	if agent == Gemini {
		root, err := os.ReadFile(filepath.Join(filepath.Dir(path), "..", ".project_root"))
		return err == nil && below(strings.TrimSpace(string(root)), dir)
	}
	f, err := Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	b := &builder{c: &Conversation{}}
	line := b.claude
	if agent == Codex {
		line = b.codex
	}
	r := bufio.NewReaderSize(f, 64<<10)
	for range firstLines {
		raw, _, err := readLine(r)
		if len(raw) > 0 {
			_ = line(raw) // a broken line is reported when the file is read
		}
		if b.c.Dir != "" || err != nil {
			break
		}
	}
	return below(b.c.Dir, dir)
}

// below reports whether a folder is dir, or lies in it.
func below(folder, dir string) bool {
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		folder = resolved
	}
	return folder == dir || strings.HasPrefix(folder, strings.TrimSuffix(dir, "/")+"/")
}

// Open opens a regular file without waiting for anything.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // a person named it, or it lies in an agent's folder
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("read %s: not a regular file", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// unknownAgent is the error for an agent whose conversations cannot be read, with the name that was probably meant.
func unknownAgent(agent string) error {
	meant := ""
	if near := text.Nearest(agent, []string{Claude, Codex, Gemini}); near != "" {
		meant = fmt.Sprintf(" (did you mean %q?)", near)
	}
	return fmt.Errorf("conversations of %q cannot be read%s; those of %s, %s and %s can", agent, meant, Claude, Codex, Gemini)
}
