package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

// codex is OpenAI's Codex CLI. It reads Claude Code's format with fewer values, and ignores an answer with any other value: a bare allow,
// an ask, continue:false before a tool (codex-rs/hooks/src/engine/output_parser.rs). It would then run the tool, so whatever it cannot
// express is a denial here.
var codex = Agent{
	Name: "codex", Title: "Codex", Package: "@openai/codex",
	Marks:     []string{"CODEX_SANDBOX", "CODEX_HOME_AGENT"},
	configVar: "CODEX_HOME", configDir: ".codex",
	files: func(own, project string) Files {
		f := Files{Hooks: filepath.Join(own, "hooks.json"), Trust: filepath.Join(own, "config.toml")}
		if project != "" {
			f.Hooks = filepath.Join(project, ".codex", "hooks.json")
		}
		return f
	},
	Limit: 600 * time.Second,
	events: []eventName{
		{"PreToolUse", PreTool}, {"PermissionRequest", Permission}, {"PostToolUse", PostTool}, {"UserPromptSubmit", Prompt}, {"Stop", Stop},
		{"SubagentStart", SubagentStart}, {"SubagentStop", SubagentStop}, {"SessionStart", SessionStart}, {"SessionEnd", SessionEnd},
	},
	answer: answerCodex,
	// In version 0.169.0, its hooks call each of its shells Bash, with the command as text. The other names are those of its tools.
	tools: []toolName{
		{"Bash", "Bash", "command>@command workdir>@dir"},
		{"shell", "Bash", "command>@command workdir>@dir"},
		{"shell_command", "Bash", "command>@command workdir>@dir"},
		{"local_shell", "Bash", "command>@command workdir>@dir working_directory>@dir"},
		{"container.exec", "Bash", "command>@command workdir>@dir"},
		{"exec_command", "Bash", "cmd>@command workdir>@dir"},
		{"unified_exec", "Bash", "input>@command"},
		{"apply_patch", "Edit", "command>@patch input>@patch patch>@patch"},
		{"read_file", "Read", ""},
		{"view_image", "Read", "path>file_path"},
		{"list_dir", "LS", "dir_path>path"},
		{"grep_files", "Grep", ""},
		{"web_search", "WebSearch", ""},
		{"update_plan", "TodoWrite", ""},
		{"spawn_agent", "Task", ""},
		{"request_user_input", "AskUserQuestion", ""},
	},
	Hooks:        Hooks{unit: time.Second, endLimit: 3 * time.Second, TrustKey: codexTrust},
	ReplacesFrom: "0.169.0", ShowsReplaced: true, Types: true,
	Launch: Launch{
		// Else its terminal is served by a process of an earlier start, which has the session of that one and is not behind the wall of this.
		Always: []string{"--no-daemon"},
		Refused: []string{"-c", "--config", "--enable", "--disable", "--remote", "-p", "--profile", "-s", "--sandbox", "-a", "--ask-for-approval",
			"--approve-for-me", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--yolo", "--full-auto", "-C",
			"--cd", "--add-dir", "--worktree", "--search"},
		Commands: []string{"agents", "login", "logout", "mcp", "mcp-server", "plugin", "app-server", "remote-control", "completion", "update",
			"doctor", "sandbox", "debug", "apply", "a", "queue", "archive", "delete", "migrate-rollouts", "migrate-nfs-db", "unarchive", "cloud",
			"exec-server", "features"},
		Headless: []string{"exec", "e", "review"},
	},
	script: &script{
		environ: func(home, url, key string) ([]string, error) {
			config := fmt.Sprintf("model = \"gpt-5\"\nmodel_provider = \"script\"\ncheck_for_update_on_startup = false\n\n[analytics]\nenabled = "+
				"false\n\n"+
				"[model_providers.script]\nname = \"script\"\nbase_url = \"%s/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPT_KEY\"\n"+
				"request_max_retries = 0\nstream_max_retries = 0\n", url)
			err := seed(filepath.Join(home, ".codex", "config.toml"), []byte(config))
			return []string{"CODEX_HOME=" + filepath.Join(home, ".codex"), "SCRIPT_KEY=" + key}, err
		},
		headless: func(prompt string) []string {
			return []string{"exec", "--skip-git-repo-check", "--json", "-s", "danger-full-access", "--", prompt}
		},
		shell: func(command string) (string, map[string]any) { return "exec_command", map[string]any{"cmd": command} },
	},
}

// codexLabels are the names of the events in the keys of its trust.
var codexLabels = []struct{ event, label string }{
	{"PreToolUse", "pre_tool_use"}, {"PermissionRequest", "permission_request"}, {"PostToolUse", "post_tool_use"},
	{"UserPromptSubmit", "user_prompt_submit"}, {"Stop", "stop"}, {"SubagentStart", "subagent_start"}, {"SubagentStop", "subagent_stop"},
	{"SessionStart", "session_start"}, {"SessionEnd", "session_end"},
}

// codexTrust returns the key and the hash under which Codex trusts a handler: the SHA-256 of the entry with its defaults, as JSON with
// sorted names (Codex 0.169.0).
func codexTrust(file string, h HookEntry) (key, hash string) {
	label := ""
	for _, e := range codexLabels {
		if e.event == h.Event {
			label = e.label
		}
	}
	seconds, err := strconv.Atoi(h.Timeout)
	if err != nil {
		seconds = 600
	}
	entry := map[string]any{"event_name": label,
		"hooks": []any{map[string]any{"async": false, "command": h.Command, "timeout": seconds, "type": "command"}}}
	if h.Matcher != "" {
		entry["matcher"] = h.Matcher
	}
	b, err := json.Marshal(entry, json.Deterministic(true))
	if err != nil {
		return "", "" // not reached: the entry has only strings and numbers
	}
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%s:%s:%d:%d", file, label, h.Group, h.Index), "sha256:" + hex.EncodeToString(sum[:])
}

func answerCodex(e Event, a Answer) reply {
	switch e.Kind {
	case PreTool:
		a.Halt, a.Context = false, "" // older versions ignore a denial with a context
		switch a.Verdict {
		case Allow, Pass: // no output allows; its own sandbox and approvals follow
			if a.Verdict == Allow && a.Command != "" { // it takes allow with another input only
				break
			}
			a.Verdict, a.Reason = Pass, ""
		case Ask:
			a = cannotAsk(a, "Codex")
		default:
		}
	case Permission:
		a.Halt = false
	case SessionEnd:
		return reply{stderr: a.Message}
	default:
	}
	return answerClaude(e, a)
}
