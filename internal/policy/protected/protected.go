// Package protected lists the paths that no agent may touch, whatever the configuration says.
package protected

// Constraint is one base constraint on paths. No configuration, bundle, model or agent can lift it. Comparisons ignore case, because a file
// system may.
type Constraint struct {
	Name       string
	Paths      []string // in the forms of [Constraints]
	ChangeOnly bool     // it refuses to write, to delete, and any access that is not known to be read or execute; else every access
	Reason     string
}

const (
	anyAccess = false
	changes   = true
)

// Constraints are the 26 prohibited paths (requirements, C75) and the files that govern us (threats, W6).
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
func Constraints() []Constraint { return table }

// Memory is the constraint on the folder of a project that has the memories of its roles: whoever reads or writes it by hand passes by the
// memory policies. dir is relative to the project.
func Memory(dir string) Constraint {
	return Constraint{"mycelium-memory", []string{"./" + dir}, anyAccess, "the memories of other roles"}
}

var table = []Constraint{
	{"passwd", []string{"/etc/passwd", "/etc/passwd-"}, anyAccess, "the list of accounts"},
	{"shadow", []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-"}, anyAccess, "password hashes"},
	{"sudoers", []string{"/etc/sudoers", "/etc/sudoers.d"}, anyAccess, "who may become root"},
	{"etc-ssh", []string{"/etc/ssh"}, anyAccess, "the keys of this machine"},
	{"root-home", []string{"/root"}, anyAccess, "the home of root"},
	{"boot", []string{"/boot"}, anyAccess, "what this machine boots"},
	{"kcore", []string{"/proc/kcore"}, anyAccess, "the memory of the kernel"},
	{"dev-mem", []string{"/dev/mem", "/dev/kmem", "/dev/port"}, anyAccess, "the memory of this machine"},
	{"ssh", []string{"~/.ssh"}, anyAccess, "SSH keys"},
	{"gnupg", []string{"~/.gnupg"}, anyAccess, "PGP keys"},
	{"aws", []string{"~/.aws"}, anyAccess, "cloud credentials"},
	{"gcloud", []string{"~/.config/gcloud"}, anyAccess, "cloud credentials"},
	{"azure", []string{"~/.azure"}, anyAccess, "cloud credentials"},
	{"kube", []string{"~/.kube"}, anyAccess, "cluster credentials"},
	{"docker-config", []string{"~/.docker/config.json"}, anyAccess, "registry credentials"},
	{"env-production", []string{"**/.env.production"}, anyAccess, "secrets of production"},
	{"env-local", []string{"**/.env.local"}, anyAccess, "secrets of this machine"},
	{"credentials-json", []string{"**/credentials.json"}, anyAccess, "credentials"},
	{"credentials-yaml", []string{"**/credentials.yaml", "**/credentials.yml"}, anyAccess, "credentials"},
	{"secrets-json", []string{"**/secrets.json"}, anyAccess, "secrets"},
	{"secrets-yaml", []string{"**/secrets.yaml", "**/secrets.yml", "**/secrets.toml"}, anyAccess, "secrets"},
	{"id-rsa", []string{"**/id_rsa"}, anyAccess, "a private key"},
	{"id-ed25519", []string{"**/id_ed25519"}, anyAccess, "a private key"},
	{"windows-system", []string{"c:/windows/system32", "c:/windows/syswow64"}, anyAccess, "the Windows system"},
	{"windows-registry", []string{"c:/windows/repair", "c:/windows/ntds"}, anyAccess, "the Windows account database"},
	{"windows-credentials", []string{"~/appdata/roaming/microsoft/credentials", "~/appdata/local/microsoft/credentials",
		"~/appdata/roaming/microsoft/protect"}, anyAccess, "Windows credentials"},

	{"mycelium-config", []string{"./mycelium.yaml", "**/mycelium.yaml", "./config.json", "./.mcp.json"}, changes, "what governs this agent"},
	{"mycelium-skills", []string{"./skills", "./roles", "./rules.yaml", "./policies.yaml", "./policies.local.yaml", "./protocols",
		"./workflows"}, changes, "what governs this agent"},
	{"mycelium-worktrees", []string{"**/.git/worktrees"}, changes, "what makes another folder a part of this project"},
	{"mycelium-state", []string{"./.mycelium"}, anyAccess, "state, log and socket of the guard"},
	{"mycelium-user", []string{"~/.config/mycelium", "~/.local/state/mycelium"}, anyAccess, "policy and keys of the user"},
	{"mycelium-programs", []string{"**/bin/myc", "**/bin/myc-hook"}, changes,
		"the program that guards this agent"}, // besides those of a source
	{"claude-settings", []string{"./.claude/settings.json", "./.claude/settings.local.json", "**/.claude/settings.json",
		"**/.claude/settings.local.json", "~/.claude/settings.json", "~/.claude/settings.local.json", "~/.claude.json",
		"/etc/claude-code", "/Library/Application Support/ClaudeCode"}, changes,
		"the hook that guards this agent"},
	{"codex-settings", []string{"./.codex", "**/.codex", "~/.codex"}, changes, "the hook that guards this agent"},
	{"gemini-settings", []string{"./.gemini/settings.json", "**/.gemini/settings.json", "~/.gemini/settings.json"}, changes,
		"the hook that guards this agent"},
	{"crush-settings", []string{"./crush.json", "**/crush.json", "./.crush.json", "**/.crush.json", "./.crush", "~/.config/crush",
		"~/.local/share/crush"}, changes, "the hook that guards this agent"},
	// Editors with an agent of their own. These files name the programs and servers that the editor starts, and what it asks about.
	{"cursor-settings", []string{"**/.cursor/mcp.json", "**/.cursor/hooks.json", "**/.cursor/cli.json", "~/.cursor/mcp.json",
		"~/.cursor/hooks.json", "~/.cursor/cli-config.json"}, changes, "what governs the agent of an editor"},
	{"windsurf-settings", []string{"**/.windsurf/hooks.json", "**/.codeium/mcp_config.json", "**/.codeium/windsurf/mcp_config.json",
		"**/.codeium/windsurf/hooks.json", "~/.codeium/mcp_config.json", "~/.codeium/windsurf"}, changes,
		"what governs the agent of an editor"},
	{"vscode-settings", []string{"**/.vscode/mcp.json", "~/.config/Code/User/mcp.json",
		"~/Library/Application Support/Code/User/mcp.json"}, changes, "what governs the agent of an editor"},
	{"copilot-hooks", []string{"**/.github/hooks"}, changes, "the hooks of another agent"},
	{"zed-settings", []string{"**/.zed/settings.json", "~/.config/zed/settings.json"}, changes, "what governs the agent of an editor"},
}
