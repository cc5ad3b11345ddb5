package harness

import (
	"cmp"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/harness/rewrite"
)

// claude is Claude Code. The format is from its documentation of hooks and from the behavior of version 2.1.197 and later.
var claude = Agent{
	Name: "claude", Title: "Claude Code", Package: "@anthropic-ai/claude-code",
	Marks: []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"}, ProjectVar: "CLAUDE_PROJECT_DIR",
	Terminal:  [2]string{"CLAUDE_CODE_ENTRYPOINT", "cli"},
	configVar: "CLAUDE_CONFIG_DIR", configDir: ".claude",
	files: func(own, project string) Files {
		if project != "" {
			return Files{Hooks: filepath.Join(project, ".claude", "settings.local.json")}
		}
		return Files{Hooks: filepath.Join(own, "settings.json")}
	},
	managed: claudeManaged(),
	settings: func(own, project string) []Settings {
		return []Settings{{"user", filepath.Join(own, "settings.json")}, {"project", filepath.Join(project, ".claude", "settings.json")},
			{"local", filepath.Join(project, ".claude", "settings.local.json")}}
	},
	OwnSandbox: []string{"sandbox", "enabled"},
	Limit:      600 * time.Second,
	events: []eventName{
		{"PreToolUse", PreTool}, {"PermissionRequest", Permission}, {"PostToolUse", PostTool}, {"PostToolUseFailure", PostTool},
		{"UserPromptSubmit", Prompt}, {"Stop", Stop}, {"SubagentStart", SubagentStart}, {"SubagentStop", SubagentStop},
		{"SessionStart", SessionStart}, {"SessionEnd", SessionEnd}, {"Notification", Notification},
	},
	EditMode:   "acceptEdits",
	StatusLine: StatusLine{Setting: "statusLine", Event: "Status"},
	answer:     answerClaude,
	// The canonical names are Claude Code's; these are its other names, present or past, for the same tools.
	tools:       []toolName{{"Agent", "Task", ""}, {"KillBash", "KillShell", ""}},
	transcribes: true, Resumes: true, readScreen: readClaude,
	questions: []string{
		"Do you trust the files in this folder?", "Yes, I trust this folder", "To trust this folder, first make the window taller",
		"Select login method:", "Choose the text style that looks best with your terminal", "Claude Code running in Bypass Permissions mode",
		"New MCP server found in this project",
	},
	Hooks: Hooks{
		unit: time.Second, argsFrom: "2.1.139", blockFrom: "2.1.295",
		posts:    []string{"PreToolUse", "PermissionRequest", "PostToolUse"},
		DenyPath: []string{"permissions", "deny"}, denyRules: denyInClaude,
		// That settings.local.json stands above the others was tried with 2.1.197 and 2.1.330.
		Switches: []Switch{{Path: []string{"disableAllHooks"}, On: "false", Hint: "take disableAllHooks out of the file", Pin: true}},
	},
	Rewrites: rewrite.Claude, ReplacesFrom: "2.1.197", KeepsFolder: true,
	Launch: Launch{
		Options: func(settings, servers string) []string {
			// --mcp-config takes every word that follows it. If it were the last of these options, it would take the prompt for a file.
			return []string{"--strict-mcp-config", "--mcp-config", servers, "--settings", settings}
		},
		Refused: []string{"--settings", "--setting-sources", "--bare", "--safe-mode", "--mcp-config", "--strict-mcp-config", "--bg",
			"--background", "--tmux", "--remote", "--teleport"},
		Commands: []string{"agents", "auth", "auto-mode", "config", "daemon", "doctor", "install", "mcp", "plugin", "plugins", "project",
			"remote-control", "setup-token", "update", "upgrade"},
		Headless: []string{"-p", "--print"},
		Unset:    claudeWithoutHooks,
		Pinned:   slices.Concat(claudeWithoutHooks, loaderVars, shellVars, []string{"PATH"}, Places),
		Prefix:   Prefix{Variable: "CLAUDE_CODE_SHELL_PREFIX", unwrap: unwrapClaude},
	},
	script: &script{
		environ: scriptClaude,
		headless: func(prompt string) []string {
			return []string{"-p", "--output-format", "json", "--tools", "Bash", "--allowedTools", "Bash", "--", prompt}
		},
		shell: func(command string) (string, map[string]any) {
			return "Bash", map[string]any{"command": command, "description": "does what the script says"}
		},
	},
}

// claudeWithoutHooks are the variables with which Claude Code runs without hooks.
var claudeWithoutHooks = []string{"CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE"}

// The variables that a project may set for the child processes of an agent, and that change what they are.
var (
	// loaderVars put other code into a program: into a dynamically linked one, or into one of Node.
	loaderVars = []string{"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH",
		"NODE_OPTIONS", "GODEBUG"}
	// shellVars put other commands before a command, or are the shell that runs it.
	shellVars = []string{"BASH_ENV", "ENV", "SHELL", "CLAUDE_CODE_SHELL", "CLAUDE_CODE_SHELL_PREFIX"}
)

// Places are the variables that say where programs look for their files (environ(7), XDG Base Directory Specification 0.8).
var Places = []string{"HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}

// claudeManaged returns the settings of an administrator.
func claudeManaged() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	}
	return "/etc/claude-code/managed-settings.json"
}

// scriptClaude returns the environment in which Claude Code talks to a scripted model.
func scriptClaude(home, url, key string) ([]string, error) {
	// An interactive first run would connect to Anthropic and ask questions, unless these settings exist.
	err := seedJSON(filepath.Join(home, ".claude", ".claude.json"), map[string]any{
		"hasCompletedOnboarding": true,
		"theme":                  "dark",
		"customApiKeyResponses":  map[string][]string{"approved": {key[max(0, len(key)-20):]}, "rejected": {}},
	})
	return []string{
		"CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"),
		"ANTHROPIC_BASE_URL=" + url,
		"ANTHROPIC_API_KEY=" + key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"DISABLE_BUG_COMMAND=1",
		"MCP_TIMEOUT=60000", "MCP_CONNECTION_NONBLOCKING=0", // ms; the defaults silently leave out tools of servers that start slowly
	}, err
}

// denyInClaude returns Claude Code's deny entries for protected paths. The user's configuration applies to every folder. There, entries
// against changes of project files with ordinary names are left out, because the hook forbids those changes in our projects.
func denyInClaude(protected []Protected, at Place) []string {
	var out []string
	for _, b := range protected {
		pattern := ""
		switch below, kind, _ := strings.Cut(b.Path, "/"); {
		case below == "" && b.Path == "/root" && (inside(at.Dir, b.Path) || inside(at.Home, b.Path)):
			continue // the project is an exception, and every path here is below it
		case below == "":
			pattern = "/" + b.Path
		case below == "~" && strings.HasPrefix(kind, "appdata/") && runtime.GOOS != "windows":
			continue
		case below == "~":
			pattern = b.Path
		case below == "**":
			pattern = "//" + b.Path
		case below == "." && at.Scope == Project:
			pattern = "/" + filepath.ToSlash(at.Dir) + "/" + kind
		case below == "." && !b.ChangeOnly:
			pattern = b.Path
		default:
			continue
		}
		if !b.ChangeOnly {
			out = append(out, "Read("+pattern+")")
		}
		out = append(out, "Edit("+pattern+")")
	}
	return out
}

// inside reports whether a path is a folder or below it.
func inside(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// claudeOutput is what Claude Code reads from a hook. Codex reads the same format with fewer values.
type claudeOutput struct {
	Continue      *bool           `json:"continue,omitempty"`
	StopReason    string          `json:"stopReason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Decision      string          `json:"decision,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	Specific      *claudeSpecific `json:"hookSpecificOutput,omitempty"`
}

// claudeSpecific is the part that depends on the event.
type claudeSpecific struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision,omitempty"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Behavior *claudeBehavior `json:"decision,omitempty"`
	Context  string          `json:"additionalContext,omitempty"`
	Input    *jsontext.Value `json:"updatedInput,omitempty"`
}

// claudeBehavior answers a PermissionRequest.
type claudeBehavior struct {
	Behavior  string `json:"behavior"`
	Message   string `json:"message,omitempty"`
	Interrupt bool   `json:"interrupt,omitzero"`
}

// claudeAsksWithoutReason are the tools whose dialog does not show why the hook asks (2.1.197 and 2.1.330). A message to the person is
// shown as soon as the tool has run.
var claudeAsksWithoutReason = []string{"agent__Write", "agent__Edit", "agent__MultiEdit", "agent__NotebookEdit"}

func answerClaude(e Event, a Answer) reply {
	out := claudeOutput{SystemMessage: a.Message}
	specific := claudeSpecific{Event: e.Name, Context: a.Context}
	if a.Halt {
		no := false
		out.Continue, out.StopReason = &no, a.Reason
	}
	switch e.Kind {
	case PreTool:
		if word := verdictWord(a.Verdict); word != "" {
			specific.Decision, specific.Reason = word, a.Reason
		}
		if a.Verdict == Allow && a.Command != "" {
			input := e.otherInput(a.Command)
			specific.Input = &input
		}
		if a.Verdict == Ask && slices.Contains(claudeAsksWithoutReason, e.Tool) {
			out.SystemMessage = cmp.Or(out.SystemMessage, a.Reason)
		}
	case Permission:
		specific.Context = "" // the dialect has no such member
		switch a.Verdict {
		case Allow:
			specific.Behavior = &claudeBehavior{Behavior: "allow"}
		case Ask, Pass: // the agent's own dialog goes on
		default:
			specific.Behavior = &claudeBehavior{Behavior: "deny", Message: a.Reason, Interrupt: a.Halt}
		}
	case PostTool, Prompt:
		if a.Block {
			out.Decision, out.Reason = "block", a.Reason
		}
	case Stop, SubagentStop:
		specific.Context = ""
		if a.Block {
			out.Decision, out.Reason = "block", a.Reason
		}
	case SessionEnd, Notification:
		specific.Context = ""
	case SubagentStart, SessionStart, Status:
	}
	if specific != (claudeSpecific{Event: e.Name}) {
		out.Specific = &specific
	}
	if out == (claudeOutput{}) {
		return reply{}
	}
	return object(out)
}

// verdictWord returns the name of a verdict in PreToolUse; "" for no opinion.
func verdictWord(v Verdict) string {
	switch v {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	case Pass:
		return ""
	default:
		return "deny"
	}
}
