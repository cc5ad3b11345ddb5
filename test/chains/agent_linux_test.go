package chains

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// The agent is Claude Code as far as the walls see it: it reads its settings files before each tool, starts the hooks that they name with
// the environment that they set, obeys the answer as it does, and then runs the tool.

// settings are the parts of a settings file that matter here.
type settings struct {
	Env      map[string]string      `json:"env"`
	Disabled *bool                  `json:"disableAllHooks"`
	Hooks    map[string][]hookGroup `json:"hooks"`
}

type hookGroup struct {
	Matcher string      `json:"matcher"`
	Hooks   []hookEntry `json:"hooks"`
}

type hookEntry struct {
	Type      string            `json:"type"`
	Command   string            `json:"command"`
	Args      []string          `json:"args"`
	OnFailure string            `json:"onFailure"`
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
}

// settingsFiles are those of the user and of the project; a later one counts more.
func settingsFiles() []string {
	return []string{home + "/.claude/settings.json", projectDir + "/.claude/settings.json", projectDir + "/.claude/settings.local.json"}
}

// agentSettings are all settings together. more are the files that the agent was started with.
func agentSettings(more ...string) settings {
	all := settings{Env: map[string]string{}, Hooks: map[string][]hookGroup{}}
	for _, path := range append(settingsFiles(), more...) {
		var s settings
		b, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(b, &s) != nil {
			continue // as Claude Code does: a file that it cannot read has no settings
		}
		maps.Copy(all.Env, s.Env)
		all.Disabled = cmp.Or(s.Disabled, all.Disabled) // a later file stands above the others, also with false (2.1.197 and 2.1.330)
		for event, groups := range s.Hooks {
			all.Hooks[event] = append(all.Hooks[event], groups...)
		}
	}
	return all
}

// agentEnv is the environment of what the agent starts.
func agentEnv(s settings) []string {
	more := []string{"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_PROJECT_DIR=" + projectDir}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		more = append(more, name+"="+s.Env[name])
	}
	return env(more...)
}

// Answers of the hook. A weaker answer comes later.
const (
	denied  = "deny"
	asked   = "ask" // nobody sits there: as good as denied
	allowed = "allow"
)

// asks gives an event to the hooks, as the agent does, and returns the answer with its reason.
func (m *machine) asks(event, tool string, input map[string]any) (answer, error) {
	s := m.settings()
	m.turn++
	text, err := json.Marshal(map[string]any{"session_id": fmt.Sprintf("11111111-2222-3333-4444-%012d", m.session), "cwd": projectDir,
		"permission_mode": "bypassPermissions", "hook_event_name": event, "tool_name": tool, "tool_input": input,
		"tool_use_id": fmt.Sprintf("toolu_%d", m.turn), "tool_response": map[string]any{}}, json.Deterministic(true))
	if err != nil {
		return answer{}, err
	}
	const nobody = "no hook was asked"
	strictest := answer{allowed, nobody}
	if s.Disabled != nil && *s.Disabled {
		return strictest, nil
	}
	for _, g := range s.Hooks[event] {
		whole, err := regexp.Compile("^(?:" + g.Matcher + ")$")
		if everything := g.Matcher == "" || g.Matcher == "*"; !everything && (err != nil || !whole.MatchString(tool)) {
			continue
		}
		for _, h := range g.Hooks {
			a, err := m.hook(h, agentEnv(s), string(text))
			if err != nil {
				return answer{}, err
			}
			if strictest.Why == nobody || weaker(strictest.Is, a.Is) {
				strictest = a
			}
		}
	}
	return strictest, nil
}

// weaker reports whether answer a allows more than b.
func weaker(a, b string) bool {
	order := []string{denied, asked, allowed}
	return slices.Index(order, a) > slices.Index(order, b)
}

// hook runs one entry.
func (m *machine) hook(h hookEntry, environ []string, event string) (answer, error) {
	argv := append([]string{h.Command}, h.Args...)
	if h.Args == nil {
		argv = []string{"/bin/sh", "-c", h.Command}
	}
	var o output
	var err error
	if h.Type == "http" {
		o, err = m.post(h, environ, event)
	} else {
		o, err = m.start(event, environ, argv...)
	}
	switch {
	case err != nil:
		return answer{}, err
	case o.code == 2:
		return answer{denied, o.stderr}, nil
	case o.code != 0 && h.OnFailure == "block":
		return answer{denied, "the hook failed: " + o.stderr}, nil
	case o.code != 0:
		return answer{allowed, "the hook failed, and the agent goes on: " + o.stderr}, nil
	}
	var out struct {
		Special struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal([]byte(o.stdout), &out) != nil || out.Special.Decision == "" {
		return answer{allowed, "the hook has no opinion: " + o.stdout}, nil //nolint:nilerr // what is no JSON is text, as for the agent
	}
	return answer{out.Special.Decision, out.Special.Reason}, nil
}

// step asks the hook and, if it allows, takes the step.
func (m *machine) step(s step) (taken, error) {
	t := taken{Line: s.Line, Tool: s.Tool, Answer: answer{Is: allowed}}
	if !s.Given && !m.unasked {
		var err error
		if t.Answer, err = m.asks("PreToolUse", s.Tool, s.Input); err != nil || t.Answer.Is != allowed {
			return t, err
		}
	}
	text, err := m.use(s)
	if err != nil {
		return t, fmt.Errorf("line %d: %w", s.Line, err)
	}
	t.Said = strings.ToValidUTF8(text, "?")
	if s.Given {
		return t, nil
	}
	m.said.WriteString(text)
	if m.unasked {
		return t, nil
	}
	_, err = m.asks("PostToolUse", s.Tool, s.Input)
	return t, err
}

// use runs a tool and returns what the agent sees. An error is one of the test's.
func (m *machine) use(s step) (string, error) {
	text := func(name string) string { v, _ := s.Input[name].(string); return v }
	if server, ok := strings.CutPrefix(s.Tool, "mcp__mycelium__"); ok {
		return m.mcp(map[string]any{"method": "tools/call", "params": map[string]any{"name": server, "arguments": s.Input}})
	}
	switch s.Tool {
	case "Bash":
		return m.shell(text("command"), s.Given)
	case "Write":
		path := text("file_path")
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text("content")), 0o644))
		return fmt.Sprint(err), nil
	case "Edit":
		b, err := os.ReadFile(text("file_path"))
		if err != nil || !strings.Contains(string(b), text("old_string")) {
			return fmt.Sprint("no such text ", err), nil
		}
		err = os.WriteFile(text("file_path"), []byte(strings.Replace(string(b), text("old_string"), text("new_string"), 1)), 0o644)
		return fmt.Sprint(err), nil
	case "Read":
		b, err := os.ReadFile(text("file_path"))
		return fmt.Sprint(string(b), err), nil
	case "Grep":
		return m.grep(text("pattern"), text("path"), text("glob"))
	case "Glob":
		pattern := text("pattern")
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(absolute(text("path")), pattern)
		}
		found, err := filepath.Glob(pattern)
		return fmt.Sprintln(found, err), nil
	}
	return "", fmt.Errorf("the agent has no tool %s", s.Tool)
}

// shell runs a command below a process that looks like the agent, or as a person does.
func (m *machine) shell(command string, given bool) (string, error) {
	argv := []string{"/bin/bash", "-c", command}
	environ := env()
	if !given {
		environ = agentEnv(m.settings())
		if m.walled != nil {
			argv = m.walled.wrap(command)
		}
		// The first shell has the agent's name. It is not the last thing that it does, so that it stays the parent.
		argv = append([]string{"/bin/bash", "-c", `exec -a claude /bin/bash -c '"$@"; exit $?' claude "$@"`, "start"}, argv...)
	}
	o, ended, err := m.startWithin(commandLimit, "", environ, argv...)
	if !ended {
		o.stderr += fmt.Sprintf("ended after %s\n", commandLimit)
	}
	return fmt.Sprintf("%s%sexit %d\n", o.stdout, o.stderr, o.code), err
}

// grep is the agent's search: below a folder, without what git leaves alone, but a glob of the caller's counts more, as in ripgrep.
func (m *machine) grep(pattern, path, glob string) (string, error) {
	argv := []string{"/usr/bin/grep", "-rE", "--exclude-dir=.git"}
	if glob != "" {
		argv = append(argv, "--include="+filepath.Base(glob))
	} else {
		argv = append(argv, "--exclude=.*")
	}
	o, err := m.start("", agentEnv(settings{}), append(argv, "-e", pattern, absolute(path))...)
	return o.stdout + o.stderr, err
}

// mcp makes requests to the gateway, as an agent's client does, and returns the lines of the answers.
func (m *machine) mcp(requests ...map[string]any) (string, error) {
	all := append([]map[string]any{
		{"id": "hello", "method": "initialize", "params": map[string]any{"protocolVersion": "2025-06-18",
			"capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "claude-code", "version": "2.1.330"}}},
		{"method": "notifications/initialized"},
	}, requests...)
	var in strings.Builder
	for i, request := range all {
		request["jsonrpc"] = "2.0"
		if i > 1 {
			request["id"] = i
		}
		line, err := json.Marshal(request, json.Deterministic(true))
		if err != nil {
			return "", err
		}
		in.Write(line)
		in.WriteByte('\n')
	}
	o, err := m.start(in.String(), agentEnv(m.settings()), binDir+"/myc", "-C", projectDir, "mcp")
	answers := ""
	for line := range strings.Lines(o.stdout) {
		if !strings.Contains(line, `"id":"hello"`) {
			answers += line
		}
	}
	return answers + o.stderr, err
}
