// Package proxy is the one way out of a sandbox that has hosts: it reaches the hosts that a person named, and refuses every other.
//
// It runs outside, in this program, on a listener that belongs to the loopback of the sandbox. It speaks HTTP, HTTP's CONNECT and SOCKS 5.
// The name of a host is looked up only after it was allowed, so that a look-up carries nothing out. Every address that a name has must be
// one of the internet's; the connection goes to an address that was checked.
package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Outside is the world in which names are looked up and connections made. A nil field is the machine's own.
type Outside struct {
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	Roots  *x509.CertPool // whom the hosts must be certified by whose TLS the proxy opens
}

// Proxy reaches hosts for one run of one command. [Proxy.Serve] runs it.
type Proxy struct {
	hosts     []Host
	named     int // how many of the hosts were named themselves: they are open as a whole. The others are of masks
	masks     []mask
	outside   Outside
	authority *authority // nil: no TLS is opened
	transport *http.Transport
	asks      string // how a host is asked for, as a sentence

	registries registries

	mu      sync.Mutex
	open    map[io.Closer]bool // connections, and the listener
	closed  bool
	refused []Refusal
}

// Refusal says which host was refused, and why.
type Refusal struct {
	Host string `json:"host"` // with its port
	Why  string `json:"why"`
	// Nameable says that nobody named the host or the package, and that a person can. Such a host is a name, or an address of the internet.
	Nameable bool `json:"-"`
	// Package is what was refused of a registry, as the text of a [registry.Package]; empty: the host was refused.
	Package string `json:"package,omitempty"`
}

func (r *Refusal) Error() string {
	if r.Package != "" {
		return r.Why
	}
	return r.Host + " was refused: " + r.Why
}

// What names what was refused.
func (r *Refusal) What() string {
	if r.Package != "" {
		return "package " + r.Package
	}
	return "host " + r.Host
}

const (
	mostConns    = 256              // connections of the command at once
	mostRefusals = 100              // of one run, that are kept
	dialTime     = 20 * time.Second // for one address
	headerTime   = time.Minute      // for the head of a request, or the beginning of a tunnel
	maxHeader    = 64 << 10         // bytes of the head of a request
)

// New makes a proxy for hosts, each as [ParseHost] reads it. A host of a mask may be reached as well, and packages of registries. A host
// that is named itself is open as a whole, also where it is that of a registry. A refusal ends with asks, a sentence that says how a host is
// asked for.
func New(hosts []string, masks []Mask, from Registries, outside Outside, asks string) (*Proxy, error) {
	p := &Proxy{outside: outside, open: map[io.Closer]bool{}, asks: asks}
	for _, s := range hosts {
		h, err := ParseHost(s)
		if err != nil {
			return nil, err
		}
		p.hosts = append(p.hosts, h)
	}
	p.named = len(p.hosts)
	if err := p.addMasks(masks); err != nil {
		return nil, err
	}
	if err := p.addRegistries(from); err != nil {
		return nil, err
	}
	if len(p.masks)+len(p.registries.places) > 0 {
		var err error
		if p.authority, err = newAuthority(); err != nil {
			return nil, err
		}
	}
	p.transport = &http.Transport{
		DialContext: func(ctx context.Context, _, to string) (net.Conn, error) {
			t, err := parseTarget(to, 0)
			if err != nil {
				return nil, err
			}
			if p.isRegistry(t) { // the request was decided on
				return p.connectTo(ctx, t)
			}
			return p.reach(ctx, t)
		},
		TLSClientConfig: &tls.Config{RootCAs: outside.Roots, MinVersion: tls.VersionTLS12},
		TLSNextProto:    map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1 only
		// What the command did not ask for is not asked for in its name.
		DisableCompression:  true,
		MaxIdleConnsPerHost: 8, //nolint:mnd // a browser's six, and some
		IdleConnTimeout:     time.Minute,
	}
	return p, nil
}

// Serve answers the connections of a listener until [Proxy.Close]. It closes the listener.
func (p *Proxy) Serve(l net.Listener) {
	defer func() { _ = l.Close() }()
	if !p.keep(l) {
		return
	}
	slots := make(chan struct{}, mostConns)
	var all sync.WaitGroup
	defer all.Wait()
	for {
		slots <- struct{}{}
		conn, err := l.Accept()
		if err != nil {
			return // it is closed; a command that takes all descriptors of this program gets no further ones
		}
		if !p.keep(conn) {
			return
		}
		all.Go(func() {
			defer func() { <-slots }()
			defer p.drop(conn)
			p.answer(conn)
		})
	}
}

// answer finds out which of the protocols a connection speaks.
func (p *Proxy) answer(conn net.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(headerTime))
	in := bufio.NewReader(conn)
	first, err := in.Peek(1)
	if err != nil {
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	if first[0] == socksVersion {
		p.socks(buffered{conn, in})
		return
	}
	serveHTTP(buffered{conn, in}, http.HandlerFunc(p.plain))
}

// Close ends the proxy with every connection, and returns what was refused, each host once.
func (p *Proxy) Close() []Refusal {
	p.mu.Lock()
	p.closed = true
	refused, open := p.refused, slices.Collect(maps.Keys(p.open))
	p.mu.Unlock() // a connection that is closed asks for it
	for _, c := range open {
		_ = c.Close()
	}
	p.transport.CloseIdleConnections()
	return refused
}

// keep remembers a connection, which Close closes. It reports false if that has happened, and closes it.
func (p *Proxy) keep(c io.Closer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return false
	}
	p.open[c] = true
	return true
}

func (p *Proxy) drop(c io.Closer) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

// refuse records a refusal.
func (p *Proxy) refuse(host, why string) *Refusal {
	return p.note(Refusal{Host: host, Why: why})
}

func (p *Proxy) note(r Refusal) *Refusal {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.refused) < mostRefusals && !slices.Contains(p.refused, r) {
		p.refused = append(p.refused, r)
	}
	return &r
}

// allows decides by the name alone. It looks nothing up.
func (p *Proxy) allows(t target) error {
	if slices.ContainsFunc(p.hosts, func(h Host) bool { return h.matches(t) }) {
		return nil
	}
	nameable := t.name != "localhost" && (!t.addr.IsValid() || isPublic(t.addr) && !isOwn(t.addr))
	return p.note(Refusal{Host: t.String(), Why: "it is not among the hosts of this sandbox", Nameable: nameable})
}

// reach connects to a host, on which it decides each time.
func (p *Proxy) reach(ctx context.Context, t target) (net.Conn, error) {
	if err := p.allows(t); err != nil {
		return nil, err
	}
	return p.connectTo(ctx, t)
}

// connectTo is the only place where a connection to the outside is made. The caller has decided that the host may be reached.
func (p *Proxy) connectTo(ctx context.Context, t target) (net.Conn, error) {
	addrs := []netip.Addr{t.addr} // a person named this very address
	if !t.addr.IsValid() {
		var err error
		if addrs, err = p.lookup(ctx, t.name); err != nil {
			return nil, err
		}
		for _, a := range addrs {
			if !isPublic(a) || isOwn(a) {
				return nil, p.refuse(t.String(), "its name leads to "+a.String()+", which is not an address of the internet")
			}
		}
	}
	err := fmt.Errorf("%s has no address", t.name)
	for _, a := range addrs {
		var conn net.Conn
		if conn, err = p.dial(ctx, netip.AddrPortFrom(a, t.port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

func (p *Proxy) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	look := p.outside.Lookup
	if look == nil {
		look = func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name+".") // without the domains that the machine would add
		}
	}
	addrs, err := look(ctx, name)
	var dns *net.DNSError
	switch { // the error itself names the name server of the machine, which is not the command's business
	case errors.As(err, &dns) && dns.IsNotFound:
		return nil, fmt.Errorf("there is no host of the name %s", name)
	case err != nil:
		return nil, fmt.Errorf("the name %s could not be looked up", name)
	}
	return addrs, nil
}

func (p *Proxy) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	dial := p.outside.Dial
	if dial == nil {
		dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
		}
	}
	conn, err := dial(ctx, to)
	if err != nil {
		return nil, err
	}
	if !p.keep(conn) {
		return nil, net.ErrClosed
	}
	return &outward{conn, p}, nil
}

// outward is a connection to the outside that the proxy forgets when it is closed.
type outward struct {
	net.Conn
	proxy *Proxy
}

// Close closes the connection.
func (o *outward) Close() error {
	o.proxy.drop(o.Conn)
	return nil
}

// CloseWrite says to the other side that no more comes.
func (o *outward) CloseWrite() error { return closeWrite(o.Conn) }

// buffered is a connection of which a part was read already.
type buffered struct {
	net.Conn
	in *bufio.Reader
}

// Read reads what was read already, and then the connection.
func (b buffered) Read(to []byte) (int, error) { return b.in.Read(to) }

// CloseWrite says to the other side that no more comes.
func (b buffered) CloseWrite() error { return closeWrite(b.Conn) }

func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
