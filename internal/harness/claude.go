package harness

import (
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// claude is Claude Code. The format is that of its documentation of hooks and of what version 2.1.197 and later do.
var claude = Agent{
	Name: "claude", Title: "Claude Code", Package: "@anthropic-ai/claude-code",
	Marks: []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"}, ProjectVar: "CLAUDE_PROJECT_DIR", Terminal: [2]string{"CLAUDE_CODE_ENTRYPOINT", "cli"},
	configVar: "CLAUDE_CONFIG_DIR", configDir: ".claude",
	files: func(own, project string) Files {
		if project != "" {
			return Files{Hooks: filepath.Join(project, ".claude", "settings.local.json")}
		}
		return Files{Hooks: filepath.Join(own, "settings.json")}
	},
	Limit: 600 * time.Second,
	events: []eventName{
		{"PreToolUse", PreTool}, {"PermissionRequest", Permission}, {"PostToolUse", PostTool}, {"PostToolUseFailure", PostTool},
		{"UserPromptSubmit", Prompt}, {"Stop", Stop}, {"SubagentStart", SubagentStart}, {"SubagentStop", SubagentStop},
		{"SessionStart", SessionStart}, {"SessionEnd", SessionEnd}, {"Notification", Notification},
	},
	answer: answerClaude,
	// Its names are ours; these are other names that it gives, or gave, to the same tools.
	tools:       []toolName{{"Agent", "Task", ""}, {"KillBash", "KillShell", ""}},
	transcribes: true,
	Hooks: Hooks{
		unit: time.Second, argsFrom: "2.1.139", onFailure: true, blockFrom: "2.1.295", posts: []string{"PreToolUse", "PermissionRequest", "PostToolUse"},
		DenyPath: []string{"permissions", "deny"}, denyRules: denyInClaude,
		Switches: []Switch{{Path: []string{"disableAllHooks"}, On: "false", Hint: "take disableAllHooks out of the file"}},
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

// scriptClaude is the environment in which Claude Code talks to a scripted model.
func scriptClaude(home, url, key string) ([]string, error) {
	// An interactive first run would call home and ask questions; this is what it looks for.
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
		"MCP_TIMEOUT=60000", // milliseconds for an MCP server to start; on a busy machine the default leaves its tools out, silently
	}, err
}

// denyInClaude are the deny entries of Claude Code for protected paths. In the user's configuration, which counts in every folder, those
// that forbid a change of files with ordinary names in a project are left out: the hook forbids it in a project of ours.
func denyInClaude(protected []Protected, at Place) []string {
	var out []string
	for _, b := range protected {
		pattern := ""
		switch below, kind, _ := strings.Cut(b.Path, "/"); {
		case below == "" && b.Path == "/root" && (inside(at.Dir, b.Path) || inside(at.Home, b.Path)):
			continue // the project is excepted, and here everything is below it
		case below == "":
			pattern = "/" + b.Path
		case below == "~" && strings.HasPrefix(kind, "appdata/") && runtime.GOOS != "windows":
			continue
		case below == "~":
			pattern = b.Path
		case below == "**":
			pattern = "//" + b.Path
		case below == "." && !at.User:
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

// claudeOutput is what Claude Code reads from a hook; Codex reads the same with fewer of its values.
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
}

// claudeBehavior answers a PermissionRequest.
type claudeBehavior struct {
	Behavior  string `json:"behavior"`
	Message   string `json:"message,omitempty"`
	Interrupt bool   `json:"interrupt,omitzero"`
}

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
	case Permission:
		specific.Context = "" // it has no such member
		switch a.Verdict {
		case Allow:
			specific.Behavior = &claudeBehavior{Behavior: "allow"}
		case Ask, Pass: // its own dialog goes on
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
	case SubagentStart, SessionStart:
	}
	if specific != (claudeSpecific{Event: e.Name}) {
		out.Specific = &specific
	}
	if out == (claudeOutput{}) {
		return reply{}
	}
	return reply{stdout: object(out)}
}

// verdictWord is a verdict in the words of PreToolUse; "" for no opinion.
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
