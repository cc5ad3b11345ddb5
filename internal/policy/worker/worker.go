// Package worker tells the workers of the swarm by the ids of their principals.
package worker

import "strings"

// Server is the built-in server that has several agents work at once. A worker starts no swarm, so it never sees the tools of this server.
const Server = "mycelium-swarm"

// Prefix begins the id of a principal that is a worker of the swarm. Whoever has such an id sees less, and one tool more,
// which changes nothing; so it need not be guarded. A sub-agent's id begins with that of its parent.
const Prefix = "swarm-worker:"

// Report is the control tool with which a worker reports how sure it is. Nobody else sees it.
const Report = "report_confidence"

// Hides returns why a principal with an id sees no such tool; "": nothing of the kind. control says that it is one of the gate's own.
func Hides(server, name string, control bool, id string) (why string) {
	switch {
	case server == Server && Is(id):
		return "a worker starts no swarm"
	case control && name == Report && !Is(id):
		return "only a worker of the swarm reports"
	}
	return ""
}

// Is reports whether an id is that of a worker.
func Is(id string) bool { return strings.HasPrefix(id, Prefix) }

// Mark is the same text for the ids of all workers, and another one for all others.
func Mark(id string) string {
	if Is(id) {
		return Prefix
	}
	return ""
}
