package session

import (
	"slices"
	"sync"

	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// The bounds of the links that a session keeps: how many, and how long one may be, in bytes.
const (
	maxLinks = 1024
	maxLink  = 2048
)

// links are the URIs that came in results of servers, as they came, so that a client can read them under these names. It is safe for
// concurrent use.
type links struct {
	mu     sync.Mutex
	server map[string]string // by URI
	order  []string          // the URIs, the oldest first
}

// Note notes that a URI came in a result of a server. If it came from several, the last one is meant.
func (x *links) Note(server, uri string) {
	if uri == "" || len(uri) > maxLink {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, known := x.server[uri]; !known {
		if len(x.order) == maxLinks {
			delete(x.server, x.order[0])
			x.order = append(x.order[:0:0], x.order[1:]...)
		}
		x.order = append(x.order, uri)
	}
	if x.server == nil {
		x.server = map[string]string{}
	}
	x.server[uri] = server
}

func (x *links) from(uri string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.server[uri]
}

// Linked reads a URI that came in a result of a server as it came, without that server's prefix. ok is false for any other. Nobody takes
// over what is listed under that very name: a URI that begins with the name of a server, or one of the server without a prefix.
func (s *Session) Linked(uri string) (it policy.Item, ok bool) {
	it = policy.Item{Kind: policy.Resource, Server: s.Links.from(uri), Name: uri}
	if it.Server == "" {
		return policy.Item{}, false
	}
	sc := s.Snapshot()
	listed := func(l view.Listed) bool { return l.Item.Server == sc.World.Bare && l.Item.Name == uri }
	if sc.World.HasPrefix(uri) || sc.World.Bare != "" && slices.ContainsFunc(sc.View().Items[policy.Resource], listed) {
		return policy.Item{}, false
	}
	return it, true
}
