package config

import (
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/backend"
)

// self are the names under which this program is installed.
var self = []string{"myc", "mycelium", "mycelium-cli", "mycelium-router"}

// wrappers start another program that their arguments name.
var wrappers = []string{"npx", "bunx", "pnpm", "yarn", "npm", "bun", "node", "env", "sudo", "nohup", "exec", "timeout", "sh", "bash", "zsh",
	"go"}

// startsUs says why an entry would start this program again, or "". It keeps a client's configuration, in which we stand, from
// becoming a circle; it is no guard against somebody who wants to hide it.
func (l *layer) startsUs(s *backend.Server) string {
	if s.URL != "" && l.ownAddress(s.URL) {
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
	if slices.Contains(wrappers, program(s.Command)) && l.wraps(s.Args) {
		return "it would start this program again"
	}
	return ""
}

// wraps reports whether the arguments of a wrapper start this program: the first word that is neither a flag nor an assignment,
// or for `sh -c` the first word of the script.
func (l *layer) wraps(args []string) bool {
	for i, a := range args {
		switch {
		case a == "-c" || a == "-lc":
			return i+1 < len(args) && l.wraps(strings.Fields(args[i+1]))
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

// ownAddress reports whether a url is where this project's daemon listens.
func (l *layer) ownAddress(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	addr := DefaultAddr
	if l.doc.Server != nil && l.doc.Server.Addr != "" {
		addr = l.doc.Server.Addr
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	same := u.Hostname() == host || loopback(u.Hostname()) && loopback(host)
	return same && u.Port() == port
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
