package servers

import (
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/backend"
	"mycelium/internal/config/source"
	"mycelium/internal/yamlfile"
)

// self are the names under which this program is or was installed.
var self = []string{"myc", "mycelium", "mycelium-cli", "mycelium-router"}

// wrappers are programs that start the program in their arguments.
var wrappers = []string{"npx", "bunx", "pnpm", "yarn", "npm", "bun", "node", "env", "sudo", "nohup", "exec", "timeout", "sh", "bash", "zsh",
	"go"}

// startsUs returns why an entry would start this program again, or "". It prevents a circle when a client's configuration contains this
// program. It does not find an entry that hides this on purpose.
func (r *reader) startsUs(s *backend.Server) string {
	if s.URL != "" && r.ownAddress(s.URL) {
		return "its url is this program's own"
	}
	if s.Command == "" {
		return ""
	}
	for _, key := range []string{"MYCELIUM_CONFIG_PATH", "MYCELIUM_ROUTER_PATH", "MYCELIUM_CURRENT_ROLE"} {
		if _, ok := s.Env[key]; ok {
			return "its env sets " + key + ", which is this program's"
		}
	}
	if isSelf(s.Command) {
		return "it would start this program again"
	}
	for _, a := range s.Args {
		slashed := path.Clean("/" + filepath.ToSlash(a))
		for _, known := range []string{"/mycelium-router/dist/mcp-server.js", "/mycelium-skills/index.js"} {
			if strings.HasSuffix(slashed, known) {
				return "its args name " + strings.TrimPrefix(known, "/") + ", which is replaced by this program"
			}
		}
	}
	if slices.Contains(wrappers, program(s.Command)) && wraps(s.Args) {
		return "it would start this program again"
	}
	return ""
}

// wraps reports whether the arguments of a wrapper start this program. The started program is the first word that is neither a flag nor an
// assignment, or for `sh -c` the first word of the script.
func wraps(args []string) bool {
	for i, a := range args {
		switch {
		case a == "-c" || a == "-lc":
			return i+1 < len(args) && wraps(strings.Fields(args[i+1]))
		case strings.HasPrefix(a, "-"), strings.Contains(a, "="), a == "exec", a == "dlx", a == "run", a == "x":
		case slices.Contains(wrappers, program(a)):
		default:
			name, _, _ := strings.Cut(a, "@") // npx name@version
			return isSelf(name)
		}
	}
	return false
}

// program is the base name of a command, without .exe.
func program(command string) string {
	return strings.TrimSuffix(path.Base(filepath.ToSlash(command)), ".exe")
}

// isSelf reports whether a command is this program, by name or because it is the very file that runs.
func isSelf(command string) bool {
	if slices.Contains(self, program(command)) {
		return true
	}
	if !strings.ContainsRune(command, filepath.Separator) {
		return false
	}
	own, err := os.Executable()
	if err != nil {
		return false
	}
	a, aerr := os.Stat(own)
	b, berr := os.Stat(command)
	return aerr == nil && berr == nil && os.SameFile(a, b)
}

// ownAddress reports whether a URL is the address of this project's daemon.
func (r *reader) ownAddress(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host, port, err := net.SplitHostPort(r.Addr)
	if err != nil {
		return false
	}
	same := u.Hostname() == host || IsLoopback(u.Hostname()) && IsLoopback(host)
	return same && u.Port() == port
}

// IsLoopback reports whether a host is this machine: localhost or a loopback address.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Ours reports whether a config.json is for this program: it has mcpServers, or a session with our keys. A file that cannot be parsed
// counts as ours, so that the mistake is seen.
func Ours(data []byte) bool {
	var loose map[string]any
	if source.Faulty(yamlfile.Decode(source.ConfigFile, data, &loose)) {
		return true
	}
	if _, ok := loose["mcpServers"]; ok {
		return true
	}
	session, ok := loose["session"].(map[string]any)
	if !ok {
		return false
	}
	for _, key := range []string{"defaultRole", "agentRole", "defaultSkills", "roles", "promotion", "requireApproval", "toolSearch"} {
		if _, ok := session[key]; ok {
			return true
		}
	}
	return false
}
