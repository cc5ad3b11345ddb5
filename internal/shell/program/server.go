package program

import (
	"slices"
	"strings"

	"mycelium/internal/policy/address"
)

// DaemonPort is the default port of our own daemon. A client that connects to it could act as an operator.
const DaemonPort = "8420"

// OwnServer takes an argument of the project's own code that is the address of a server of this machine, perhaps behind NAME=, and reports
// whether it is one. The code may connect to anything without being told, so this is no connection of the command; but the host is known.
func OwnServer(c *Call, w Word) bool {
	i := strings.Index(w.Text, "://")
	if i <= 0 || w.Unknown || w.Pattern || c.Part.Program == "deno" { // deno runs what it finds there
		return false
	}
	text := w.Text[strings.LastIndexByte(w.Text[:i], '=')+1:]
	host, ok := address.Own(text)
	if !ok || address.Read(text).Port == DaemonPort {
		return false
	}
	if !slices.Contains(c.Part.Hosts, host) {
		c.Part.Hosts = append(c.Part.Hosts, host)
	}
	return true
}
