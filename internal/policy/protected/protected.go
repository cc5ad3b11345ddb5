// Package protected lists the paths that no agent may touch, whatever the configuration says.
package protected

import (
	"slices"

	"mycelium/internal/policy/secretfile"
)

// Constraint is one base constraint on paths. No configuration, bundle, model or agent can lift it. Comparisons ignore case, because a file
// system may.
type Constraint struct {
	Name       string
	Paths      []string // in the forms of [Constraints]
	ChangeOnly bool     // it refuses to write, to delete, and any access that is not known to be read or execute; else every access
	Reason     string
	Secret     bool // it is about what is in the file: a call that only looks at the name, or makes the file, is not refused
}

const (
	anyAccess = false
	changes   = true
)

// Constraints are the 26 prohibited paths (requirements, C75) with their like, and the files that govern us (threats, W6). The names of
// files with secrets that are closed in every folder come from [secretfile.Files].
//
// A path has one of these forms. Each form also stands for everything below the path:
//
//	/x        absolute
//	~/x       in the home of the user, and in any other user's
//	**/x      a file or folder of that name anywhere; **/x/y one in a folder of a name
//	./x       in the project
//	c:/x      on Windows, also seen from its Linux (/mnt/c/x)
//
// The files of agents' hooks and of the policy are protected in every folder, not only where they take effect, because git and archives
// bring in files from elsewhere (decision 46). The files that take effect are listed again with their folder, because deleting the folder
// deletes the files.
//
// The list is without the folder of [Memory]. The caller must not change it.
func Constraints() []Constraint { return all }

var all = slices.Concat(table, secrets())

// secrets are the constraints of the table of files with secrets.
func secrets() (list []Constraint) {
	for _, f := range secretfile.Files {
		switch n := len(list); {
		case f.Base == "":
		case n > 0 && list[n-1].Name == f.Base:
			list[n-1].Paths = append(list[n-1].Paths, "**/"+f.Path)
		default:
			list = append(list, Constraint{f.Base, []string{"**/" + f.Path}, anyAccess, f.What, true})
		}
	}
	return list
}

// Memory is the constraint on the folder of a project that has the memories of its roles: whoever reads or writes it by hand passes by the
// memory policies. dir is relative to the project.
func Memory(dir string) Constraint {
	return Constraint{"mycelium-memory", []string{"./" + dir}, anyAccess, "the memories of other roles", false}
}

var table = []Constraint{
	{"passwd", []string{"/etc/passwd", "/etc/passwd-"}, anyAccess, "the list of accounts", false},
	{"shadow", []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-"}, anyAccess, "password hashes", false},
	{"sudoers", []string{"/etc/sudoers", "/etc/sudoers.d"}, anyAccess, "who may become root", false},
	{"etc-ssh", []string{"/etc/ssh"}, anyAccess, "the keys of this machine", false},
	{"root-home", []string{"/root"}, anyAccess, "the home of root", false},
	{"boot", []string{"/boot"}, anyAccess, "what this machine boots", false},
	{"kcore", []string{"/proc/kcore"}, anyAccess, "the memory of the kernel", false},
	{"dev-mem", []string{"/dev/mem", "/dev/kmem", "/dev/port"}, anyAccess, "the memory of this machine", false},
	{"ssh", []string{"~/.ssh"}, anyAccess, "SSH keys", false},
	{"gnupg", []string{"~/.gnupg"}, anyAccess, "PGP keys", false},
	{"aws", []string{"~/.aws"}, anyAccess, "cloud credentials", false},
	{"gcloud", []string{"~/.config/gcloud"}, anyAccess, "cloud credentials", false},
	{"azure", []string{"~/.azure"}, anyAccess, "cloud credentials", false},
	{"kube", []string{"~/.kube"}, anyAccess, "cluster credentials", false},
	{"docker-config", []string{"~/.docker/config.json"}, anyAccess, "registry credentials", false},
	{"windows-system", []string{"c:/windows/system32", "c:/windows/syswow64"}, anyAccess, "the Windows system", false},
	{"windows-registry", []string{"c:/windows/repair", "c:/windows/ntds"}, anyAccess, "the Windows account database", false},
	{"windows-credentials", []string{"~/appdata/roaming/microsoft/credentials", "~/appdata/local/microsoft/credentials",
		"~/appdata/roaming/microsoft/protect"}, anyAccess, "Windows credentials", false},

	{"mycelium-config", []string{"./mycelium.yaml", "**/mycelium.yaml", "./config.json", "./.mcp.json"}, changes, "what governs this agent", false},
	{"mycelium-skills", []string{"./skills", "./roles", "./rules.yaml", "./policies.yaml", "./policies.local.yaml", "./protocols",
		"./workflows"}, changes, "what governs this agent", false},
	{"mycelium-worktrees", []string{"**/.git/worktrees"}, changes, "what makes another folder a part of this project", false},
	{"mycelium-state", []string{"./.mycelium"}, anyAccess, "state, log and socket of the guard", false},
	{"mycelium-user", []string{"~/.config/mycelium", "~/.local/state/mycelium"}, anyAccess, "policy and keys of the user", false},
	{"mycelium-programs", []string{"**/bin/myc", "**/bin/myc-hook"}, changes,
		"the program that guards this agent", false}, // besides those of a source
	{"claude-settings", []string{"./.claude/settings.json", "./.claude/settings.local.json", "**/.claude/settings.json",
		"**/.claude/settings.local.json", "~/.claude/settings.json", "~/.claude/settings.local.json", "~/.claude.json",
		"/etc/claude-code", "/Library/Application Support/ClaudeCode"}, changes,
		"the hook that guards this agent", false},
	{"codex-settings", []string{"./.codex", "**/.codex", "~/.codex"}, changes, "the hook that guards this agent", false},
	{"gemini-settings", []string{"./.gemini/settings.json", "**/.gemini/settings.json", "~/.gemini/settings.json"}, changes,
		"the hook that guards this agent", false},
	{"crush-settings", []string{"./crush.json", "**/crush.json", "./.crush.json", "**/.crush.json", "./.crush", "~/.config/crush",
		"~/.local/share/crush"}, changes, "the hook that guards this agent", false},
	// Editors with an agent of their own. These files name the programs and servers that the editor starts, and what it asks about.
	{"cursor-settings", []string{"**/.cursor/mcp.json", "**/.cursor/hooks.json", "**/.cursor/cli.json", "~/.cursor/mcp.json",
		"~/.cursor/hooks.json", "~/.cursor/cli-config.json"}, changes, "what governs the agent of an editor", false},
	{"windsurf-settings", []string{"**/.windsurf/hooks.json", "**/.codeium/mcp_config.json", "**/.codeium/windsurf/mcp_config.json",
		"**/.codeium/windsurf/hooks.json", "~/.codeium/mcp_config.json", "~/.codeium/windsurf"}, changes,
		"what governs the agent of an editor", false},
	{"vscode-settings", []string{"**/.vscode/mcp.json", "~/.config/Code/User/mcp.json",
		"~/Library/Application Support/Code/User/mcp.json"}, changes, "what governs the agent of an editor", false},
	{"copilot-hooks", []string{"**/.github/hooks"}, changes, "the hooks of another agent", false},
	{"zed-settings", []string{"**/.zed/settings.json", "~/.config/zed/settings.json"}, changes, "what governs the agent of an editor", false},
}
