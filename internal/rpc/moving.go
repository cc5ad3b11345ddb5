package rpc

// The notifications between the gateway of a daemon that leaves and the process that relays a client to it. No client sees them.
const (
	Leaving = "mycelium/leaving" // of the daemon: it answers the requests that it has, and takes no other
	Moved   = "mycelium/moved"   // of the relay: every request that it sent was before this, and the next ones go to the next daemon
)
