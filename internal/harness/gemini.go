package harness

import (
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// gemini is Google's Gemini CLI (docs/hooks/reference.md of its repository). It has its own names for the events.
var gemini = Agent{
	Name: "gemini", Title: "Gemini CLI", Package: "@google/gemini-cli",
	Marks: []string{"GEMINI_CLI"}, ProjectVar: "GEMINI_PROJECT_DIR",
	configVar: "GEMINI_CLI_HOME", configDir: ".gemini", movedDir: ".gemini",
	files: func(own, project string) Files {
		if project != "" {
			return Files{Hooks: filepath.Join(project, ".gemini", "settings.json")}
		}
		return Files{Hooks: filepath.Join(own, "settings.json")}
	},
	Limit: 60 * time.Second,
	events: []eventName{
		{"BeforeTool", PreTool}, {"AfterTool", PostTool}, {"BeforeAgent", Prompt}, {"AfterAgent", Stop},
		{"SessionStart", SessionStart}, {"SessionEnd", SessionEnd}, {"Notification", Notification},
	},
	answer: answerGemini,
	tools: []toolName{ // version 0.61.0
		{"run_shell_command", "Bash", "command>@command dir_path>@dir directory>@dir"},
		{"read_file", "Read", "absolute_path>file_path"},
		{"read_many_files", "Read", "include>@globs"},
		{"write_file", "Write", ""},
		{"replace", "Edit", ""},
		{"list_directory", "LS", "dir_path>path"},
		{"glob", "Glob", "dir_path>path"},
		{"grep_search", "Grep", "dir_path>path"},
		{"search_file_content", "Grep", "dir_path>path"},
		{"web_fetch", "WebFetch", "prompt>@urls"},
		{"google_web_search", "WebSearch", ""},
		{"write_todos", "TodoWrite", ""},
		{"invoke_agent", "Task", ""},
		{"activate_skill", "Skill", ""},
		{"ask_user", "AskUserQuestion", ""},
		{"enter_plan_mode", "EnterPlanMode", ""},
		{"exit_plan_mode", "ExitPlanMode", ""},
		{"read_background_output", "BashOutput", ""},
	},
	oneUnderscore: true,
	ReplacesFrom:  "0.61.0",
	Launch: Launch{
		// The hook decides about every call, and Gemini CLI asks nobody. In a folder that is not trusted it would ask.
		Always: []string{"--skip-trust", "--approval-mode", "yolo"},
		Refused: []string{"-s", "--sandbox", "-y", "--yolo", "--approval-mode", "--policy", "--admin-policy", "--acp", "--experimental-acp",
			"--allowed-mcp-server-names", "--allowed-tools", "-e", "--extensions", "-w", "--worktree", "--include-directories", "--skip-trust"},
		Commands: []string{"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"},
		Unset:    []string{"SANDBOX"},
		Headless: []string{"-p", "--prompt"},
	},
	Hooks: Hooks{
		Comments: true, unit: time.Millisecond, named: true, Disabled: []string{"hooksConfig", "disabled"},
		Switches: []Switch{{Path: []string{"hooksConfig", "enabled"}, On: "true", Hint: "set hooksConfig.enabled to true"}},
	},
	script: &script{
		environ: func(home, url, key string) ([]string, error) {
			err := seedJSON(filepath.Join(home, ".gemini", "settings.json"), map[string]any{
				"security":  map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
				"privacy":   map[string]any{"usageStatisticsEnabled": false},
				"telemetry": map[string]any{"enabled": false},
				"general":   map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
			})
			return []string{"GEMINI_API_KEY=" + key, "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_TELEMETRY_ENABLED=false"}, err
		},
		headless: func(prompt string) []string {
			// Without a model name, it first asks a model to choose one.
			return []string{"--skip-trust", "--yolo", "-m", "gemini-2.5-flash", "-o", "json", "-p", prompt}
		},
		shell: func(command string) (string, map[string]any) {
			return "run_shell_command", map[string]any{"command": command, "description": "does what the script says"}
		},
	},
}

// geminiOutput is what Gemini CLI reads from a hook.
type geminiOutput struct {
	Continue      *bool           `json:"continue,omitempty"`
	StopReason    string          `json:"stopReason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Decision      string          `json:"decision,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	Specific      *geminiSpecific `json:"hookSpecificOutput,omitempty"`
}

type geminiSpecific struct {
	Event   string         `json:"hookEventName"`
	Context string         `json:"additionalContext,omitempty"`
	Input   jsontext.Value `json:"tool_input,omitempty"` // takes the place of all arguments (measured with 0.61.0)
}

func answerGemini(e Event, a Answer) reply {
	out := geminiOutput{SystemMessage: a.Message}
	if a.Halt {
		no := false
		out.Continue, out.StopReason = &no, a.Reason
	}
	switch e.Kind {
	case PreTool:
		switch a.Verdict {
		case Allow:
			out.Decision = "allow"
			if a.Command != "" {
				out.Specific = &geminiSpecific{Event: e.Name, Input: e.otherInput(a.Command)}
			}
		case Pass:
		case Ask:
			out.Decision, out.Reason = "deny", cannotAsk(a, "Gemini CLI").Reason
		default:
			out.Decision, out.Reason = "deny", a.Reason
		}
	case PostTool, Prompt, Stop:
		if a.Block {
			out.Decision, out.Reason = "deny", a.Reason
		}
		if a.Context != "" && e.Kind != Stop {
			out.Specific = &geminiSpecific{Event: e.Name, Context: a.Context}
		}
	case SessionStart:
		if a.Context != "" {
			out.Specific = &geminiSpecific{Event: e.Name, Context: a.Context}
		}
	default: // the others only carry a message
	}
	if out == (geminiOutput{}) {
		return reply{}
	}
	return object(out)
}
