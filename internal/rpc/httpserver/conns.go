package httpserver

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
	"time"
)

// conns are the connections of a server. Where there are too many, one that we wait for gives way to a new one: one that has never had a
// request before one that has, and the oldest of those. A connection whose request is served never does.
type conns struct {
	most int

	mu        sync.Mutex
	open      int
	closed    bool
	byAddress map[string]*address
}

// address is the connections of one address, or of one network of IPv6.
type address struct {
	open  int
	fresh list.List // of *conn: without a request so far, oldest first
	idle  list.List // of *conn: whose next request we wait for
}

// share is how many connections one address may have, of four.
const share = 3

// listener accepts connections as far as there is room.
type listener struct {
	net.Listener
	conns *conns
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if t, ok := c.(*net.TCPConn); ok {
			if admitted := l.conns.admit(t); admitted != nil {
				return admitted, nil
			}
		}
		_ = c.Close() // each connection of its address is in use
	}
}

// conn is one connection. The lock of conns guards its fields.
type conn struct {
	*net.TCPConn
	conns *conns
	from  *address
	name  string
	list  *list.List // the list that it is in; nil: its request is served
	at    *list.Element
	gone  bool
}

// admit takes a connection in. It returns nil if no other can give way to it.
func (s *conns) admit(t *net.TCPConn) *conn {
	name := network(t.RemoteAddr())
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.byAddress[name]
	switch {
	case s.closed:
		return nil
	case from != nil && from.open*4 >= s.most*share:
		if !s.evict(from) {
			return nil
		}
	case s.open >= s.most:
		var largest *address
		for _, a := range s.byAddress {
			if a.fresh.Len()+a.idle.Len() > 0 && (largest == nil || a.open > largest.open) {
				largest = a
			}
		}
		if largest == nil || !s.evict(largest) {
			return nil
		}
	}
	if from = s.byAddress[name]; from == nil { // evict may have forgotten it
		from = &address{}
		s.byAddress[name] = from
	}
	c := &conn{TCPConn: t, conns: s, from: from, name: name}
	s.open++
	from.open++
	c.enter(&from.fresh)
	return c
}

// evict closes a connection of an address. The lock is held.
func (s *conns) evict(a *address) bool {
	from := &a.fresh
	if from.Len() == 0 {
		from = &a.idle
	}
	if from.Len() == 0 {
		return false
	}
	c := from.Front().Value.(*conn) //nolint:forcetypeassert // the lists hold nothing else
	s.remove(c)
	_ = c.SetLinger(0) // what it sent and we did not read is nobody's
	_ = c.TCPConn.Close()
	return true
}

// close closes the connections that we wait for, and admits no more.
func (s *conns) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, a := range s.byAddress {
		for s.evict(a) { //nolint:revive // until none is left
		}
	}
}

// remove forgets a connection. The lock is held.
func (s *conns) remove(c *conn) {
	if c.gone {
		return
	}
	c.gone = true
	c.leave()
	s.open--
	if c.from.open--; c.from.open == 0 {
		delete(s.byAddress, c.name)
	}
}

func (c *conn) enter(l *list.List) { c.list, c.at = l, l.PushBack(c) }

func (c *conn) leave() {
	if c.list != nil {
		c.list.Remove(c.at)
		c.list, c.at = nil, nil
	}
}

// busy notes that the request of a connection is served.
func (s *conns) busy(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.leave()
}

// silent notes that we wait for the next request of a connection.
func (s *conns) silent(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.leave(); !c.gone {
		c.enter(&c.from.idle)
	}
}

// Close closes the connection.
func (c *conn) Close() error {
	c.conns.mu.Lock()
	c.conns.remove(c)
	c.conns.mu.Unlock()
	return c.TCPConn.Close()
}

// Write writes in parts, each of which the client has to take in time.
func (c *conn) Write(p []byte) (n int, err error) {
	for {
		part := p[n:min(len(p), n+writePart)]
		_ = c.SetWriteDeadline(time.Now().Add(stallTime))
		m, err := c.TCPConn.Write(part)
		if n += m; err != nil || n == len(p) {
			return n, err
		}
	}
}

// network is the address whose connections are counted together: that of a machine, or of IPv6 the network that one machine can have for
// itself.
func network(a net.Addr) string {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return ""
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() && !ip.IsLoopback() {
		p, _ := ip.Prefix(64)
		return p.String()
	}
	return ip.String()
}
