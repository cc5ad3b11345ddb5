package program

import (
	"slices"
	"strings"

	"mycelium/internal/policy/address"
)

// namesHost reports whether the known beginning of an address has all that says which host is meant: scheme://host/.
func namesHost(w Word) bool {
	_, rest, ok := strings.Cut(w.Text, "://")
	end := strings.IndexByte(rest, '/')
	return ok && !w.Unquoted && end > 0 && isHost(rest[:end])
}

// isHost reports whether a text is the name or the number of a host and perhaps a port, and nothing else.
func isHost(s string) bool {
	for i := range len(s) {
		ch := s[i] | 0x20
		if (ch < 'a' || ch > 'z') && (s[i] < '0' || s[i] > '9') && s[i] != '.' && s[i] != '-' && s[i] != ':' {
			return false
		}
	}
	return s != ""
}

// OwnServer takes an argument of the project's own code that is the address of a server of this machine, perhaps behind NAME=, and reports
// whether it is one. The code may connect to anything without being told, so this is no connection of the command; but the host is known.
func (c *Call) OwnServer(w Word) bool {
	i := strings.Index(w.Text, "://")
	if i <= 0 || w.Unknown || w.Pattern || c.Part.Program == "deno" { // deno runs what it finds there
		return false
	}
	start := strings.LastIndexByte(w.Text[:i], '=') + 1
	host, after, _ := strings.Cut(w.Text[i+3:], "/")
	a := address.Read(w.Text[start:])
	const ours = "8420" // the port of our own daemon
	if !Named("http|https|ws|wss|grpc|redis|postgres|postgresql|mysql|mongodb", a.Scheme) || !a.Clear || a.Port == ours ||
		!Named("localhost|127.0.0.1", a.Host) || !isHost(host) || strings.ContainsAny(after, "\\@, ") || strings.Contains(after, "://") {
		return false
	}
	if !slices.Contains(c.Part.Hosts, a.Host) {
		c.Part.Hosts = append(c.Part.Hosts, a.Host)
	}
	return true
}
