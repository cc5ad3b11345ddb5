// Package rewrite knows what is lost if a hook gives an agent another command in the place of the one that it meant to run. The agent then
// does not look at what its person has set for that command.
package rewrite

import (
	"path/filepath"
	"slices"
	"strings"
)

// Agent is what is known of an agent that takes another command from a hook and then runs that one.
type Agent struct {
	Lists   [][]string // the settings with rules of its person, and with what brings rules or hooks: they must be empty
	Sandbox []string   // the setting that switches the agent's own sandbox on
	// Unknown returns files with settings of an administrator. folder has the person's own settings.
	Unknown func(folder string) []string
	options []string // the options with which it starts and that bring no rules, no settings and no hooks
}

// Started says why the arguments with which an agent was started may bring rules; "" if they bring none. Options that are not known do.
func (a *Agent) Started(args []string) (why string) {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(arg, "-") && arg != "--" && !slices.Contains(a.options, name) {
			return "it was started with " + name
		}
	}
	return ""
}

// Claude is Claude Code. That updatedInput cancels permissions.deny, permissions.ask and --disallowedTools for the command of the model,
// and that a rule against the new command holds, was measured with 2.1.197 and 2.1.330.
func Claude() *Agent {
	return &Agent{
		Lists:   [][]string{{"permissions", "deny"}, {"permissions", "ask"}, {"permissions", "additionalDirectories"}, {"enabledPlugins"}},
		Sandbox: []string{"sandbox", "enabled"},
		Unknown: func(folder string) []string {
			files, err := filepath.Glob("/etc/claude-code/managed-settings.d/*")
			if err != nil {
				files = nil // not reached: the pattern is well formed
			}
			return append(files, filepath.Join(folder, "remote-settings.json"))
		},
		options: []string{"-p", "--print", "-c", "--continue", "-r", "--resume", "--fork-session", "--session-id", "-n", "--name", "--model",
			"--fallback-model", "--effort", "--output-format", "--input-format", "--include-partial-messages", "--verbose", "--max-turns",
			"--permission-mode", "--allowedTools", "--allowed-tools", "--tools"},
	}
}
