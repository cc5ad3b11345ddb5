package web

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"time"

	"mycelium/internal/op/failure"
	"mycelium/internal/web/device"
	"mycelium/internal/web/served"
)

// needEvery is how often a server that a daemon started looks whether somebody needs it.
const needEvery = time.Second

// RunWhileNeeded serves until ctx is done, or until nobody needs the server: nobody looks at a page, and no node runs, so that nothing can
// wait for an answer either.
func (s *Server) RunWhileNeeded(ctx context.Context) error {
	s.auto = true
	if err := served.Write(s.site.Root, s.Note()); err != nil {
		s.Close()
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		look := time.NewTicker(needEvery)
		defer look.Stop()
		for s.Needed() {
			select {
			case <-look.C:
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	return s.Run(ctx)
}

// Needed reports whether a page is open, or a node runs.
func (s *Server) Needed() bool {
	s.mu.Lock()
	readers := s.readers
	s.mu.Unlock()
	return readers > 0 || s.site.NodesRun()
}

// phone is the address of the pages for other machines; "" if they cannot reach them.
func (s *Server) phone() string {
	switch {
	case s.cert == nil && len(s.proxies) > 0 && len(s.conf.Hosts) > 0:
		return "https://" + s.conf.Hosts[0]
	case s.cert == nil || !s.beyond:
		return ""
	}
	host := outward()
	if given, _, err := net.SplitHostPort(s.conf.Addr); err == nil {
		if ip, err := netip.ParseAddr(given); err != nil || !ip.IsUnspecified() {
			host = given
		}
	}
	if len(s.conf.Hosts) > 0 {
		host = s.conf.Hosts[0]
	}
	if host == "" {
		return ""
	}
	return "https://" + net.JoinHostPort(host, s.port)
}

// outward is the address of this machine in the network through which it reaches others; "" if it is in none. Nothing is sent.
func outward() string {
	c, err := net.Dial("udp", "192.0.2.1:9") // an address of examples (RFC 5737): only the route to it is looked up
	if err != nil {
		return ""
	}
	defer c.Close()
	a, ok := c.LocalAddr().(*net.UDPAddr)
	if !ok || a.IP.IsLoopback() {
		return ""
	}
	return a.IP.String()
}

// Sign is what is recorded of a browser that signs in or out, or is refused.
type Sign struct {
	Act    string `json:"act"`
	Device string `json:"device,omitempty"`
	Name   string `json:"name,omitempty"` // what the browser says of itself
	Peer   string `json:"peer,omitempty"` // the address from which it came
}

// note tells the terminal, and records, that a browser signs in or out. The error is that of the record.
func (s *Server) note(r *http.Request, act string, d device.Device, from asked) error {
	sign := Sign{Act: act, Device: d.ID, Name: d.Name, Peer: from.peer.String()}
	line := act
	if d.ID != "" {
		line += ": " + d.ID + ", " + d.Name
	}
	s.site.Tell(line + ", from " + sign.Peer)
	if s.site.Record == nil {
		return nil
	}
	if err := s.site.Record(r.Context(), sign, line); err != nil {
		return failure.New(failure.Unavailable, err, "what is done in a browser is recorded, and that is not possible now: myc doctor says why")
	}
	return nil
}
