package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"mycelium/internal/config/pages"
	"mycelium/internal/node/port"
	"mycelium/internal/op/failure"
	"mycelium/internal/web/certificate"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// access says who reaches the server, and by which names.
type access struct {
	conf    pages.Section
	beyond  bool                // other machines reach the address
	cert    *certificate.Source // nil: no TLS
	local   string              // the name of the pages for browsers of this machine: NAME.localhost
	names   []string            // by which browsers may reach the server, besides those of loopback
	proxies []netip.Prefix
}

// beyondLoopback reports whether other machines reach an address.
func beyondLoopback(addr string) (bool, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false, failure.Usagef("web: address %q: it is HOST:PORT, for example %s", addr, DefaultAddr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return false, failure.Usagef("web: %q is no port: web.addr, --addr and DASHBOARD_PORT want a number from 0 to 65535", port)
	}
	ip, err := netip.ParseAddr(host)
	return host != "localhost" && (err != nil || !ip.IsLoopback()), nil
}

// Check returns an error if the pages may not be served so: beyond this machine they need TLS, or a proxy that has it.
func Check(conf pages.Section) error {
	beyond, err := beyondLoopback(conf.Addr)
	if err != nil {
		return err
	}
	if !beyond || conf.Cert != "" || len(conf.TrustedProxies) > 0 {
		return nil
	}
	return failure.New(failure.Usage, fmt.Errorf("web: address %q can be reached from other machines, and the pages would have no TLS there: "+
		"whoever listens on the way could answer in your name", conf.Addr),
		"add --tls-cert own, or web.cert: own to ~/.config/mycelium/mycelium.yaml; for a proxy, name it in web.trustedProxies; "+
			"or listen on "+DefaultAddr+", and reach it by ssh -L 3456:"+DefaultAddr)
}

// accessOf prepares what a configuration says: it reads or makes the certificate.
func accessOf(conf pages.Section, o site.Options) (a access, err error) {
	if err := Check(conf); err != nil {
		return a, err
	}
	a.conf, a.proxies = conf, conf.Proxies()
	a.beyond, _ = beyondLoopback(conf.Addr)
	host, _, _ := net.SplitHostPort(conf.Addr)
	if ip, err := netip.ParseAddr(host); a.beyond && (err != nil || !ip.IsUnspecified()) {
		a.names = append(a.names, host)
	}
	if a.local, err = device.Open(o.Root, o.Now).Host(); err != nil {
		return a, err
	}
	a.names = append(append(a.names, a.local), conf.Hosts...)
	load := func() (tls.Certificate, error) { return certificate.Given(conf.Cert, conf.Key) }
	switch conf.Cert {
	case "":
		return a, nil
	case pages.OwnCertificate:
		names := slices.Concat([]string{"localhost", "127.0.0.1", "::1"}, a.names, machineNames(host))
		load = func() (tls.Certificate, error) { return certificate.Own(o.Root.Pages(), names, o.Now()) }
	}
	if a.cert, err = certificate.NewSource(load, o.Now); err != nil {
		return a, err
	}
	for _, name := range certificate.Names(a.cert.Now()) {
		if !strings.HasPrefix(name, "*.") { // a name below a wildcard has to be in web.hosts
			a.names = append(a.names, name)
		}
	}
	return a, nil
}

// machineNames are the names and addresses of this machine that a server at host answers to.
func machineNames(host string) (out []string) {
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsUnspecified() {
		return nil
	}
	if name, err := os.Hostname(); err == nil && name != "" {
		out = append(out, name)
	}
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			out = append(out, n.IP.String())
		}
	}
	return out
}

// listen opens the sockets, with TLS if there is a certificate.
func (a access) listen(ctx context.Context) (net.Listener, error) {
	l, err := listenBoth(ctx, a.conf.Addr)
	if err != nil {
		return nil, failure.Hint(fmt.Errorf("web: %w", err),
			"another program listens there, or the address is not of this machine; --addr HOST:PORT, DASHBOARD_PORT or web.addr chooses another one")
	}
	if a.cert == nil {
		return l, nil
	}
	return tls.NewListener(l, &tls.Config{GetCertificate: a.cert.Get, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"}}), nil
}

// twoFamilies are two listeners as one. Its address is that of the first.
type twoFamilies struct {
	net.Listener
	other    net.Listener
	accepted chan accepted
	closed   chan struct{}
	once     sync.Once
}

type accepted struct {
	c   net.Conn
	err error
}

// listenBoth listens at an address. Where that is one of loopback in IPv4, it listens at the same port of ::1 too: browsers look for a name
// below localhost at both, and a program that listens at the other one would be taken for the pages. (Where it is every address, Go listens
// in both families.)
func listenBoth(ctx context.Context, addr string) (net.Listener, error) {
	host, number, err := net.SplitHostPort(addr)
	ip, bad := netip.ParseAddr(host)
	if err != nil || host != "localhost" && (bad != nil || !ip.Is4() || !ip.IsLoopback()) {
		return port.Listen(ctx, addr)
	}
	if host == "localhost" {
		addr = net.JoinHostPort("127.0.0.1", number)
	}
	const tries = 20 // a port that the system has chosen may be taken at ::1
	for try := 1; ; try++ {
		l, err := port.Listen(ctx, addr)
		if err != nil {
			return nil, err
		}
		_, chosen, _ := net.SplitHostPort(l.Addr().String())
		other, err := port.Listen(ctx, net.JoinHostPort("::1", chosen))
		switch {
		case err == nil:
			both := &twoFamilies{Listener: l, other: other, accepted: make(chan accepted), closed: make(chan struct{})}
			go both.take(l)
			go both.take(other)
			return both, nil
		case errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT): // this machine has no IPv6
			return l, nil
		}
		_ = l.Close()
		if number != "0" || try == tries {
			return nil, err
		}
	}
}

// take hands on the connections of one of the listeners.
func (l *twoFamilies) take(from net.Listener) {
	for {
		c, err := from.Accept()
		select {
		case l.accepted <- accepted{c, err}:
		case <-l.closed:
			if err == nil {
				_ = c.Close()
			}
			return
		}
	}
}

// Accept returns the next connection of either listener.
func (l *twoFamilies) Accept() (net.Conn, error) {
	select {
	case a := <-l.accepted:
		return a.c, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close closes both.
func (l *twoFamilies) Close() error {
	l.once.Do(func() { close(l.closed) })
	return errors.Join(l.Listener.Close(), l.other.Close())
}

// asked is how a request came: from whom, under which name of ours, and whether nobody on the way could read it.
type asked struct {
	peer   netip.Addr // the browser's machine
	host   string     // HOST or HOST:PORT, as the browser has it
	secure bool
}

// origin is what a browser calls the pages.
func (a asked) origin() string {
	if a.secure {
		return "https://" + a.host
	}
	return "http://" + a.host
}

var errName = errors.New("this name may not be used here")

// came returns how a request came. The error says why it is refused. What a proxy says of the browser is believed only of a proxy that the
// configuration names.
func (s *Server) came(r *http.Request) (asked, error) {
	peer := netip.Addr{}
	if from, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		peer = from.Addr().Unmap()
	}
	if s.trusts(peer) && (r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("X-Forwarded-Proto") != "") {
		return s.forwarded(r, peer)
	}
	a := asked{peer: peer, host: r.Host, secure: r.TLS != nil}
	if s.beyond && !a.secure && !peer.IsLoopback() {
		return a, errors.New("the pages are reached through the proxy only")
	}
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil { // a browser leaves out the port of its scheme
		host, port = strings.Trim(r.Host, "[]"), map[bool]string{true: "443", false: "80"}[a.secure]
	}
	if port != s.port || !isLoopback(host) && !s.named(host) {
		return a, errName
	}
	return a, nil
}

// trusts reports whether a proxy at an address is believed.
func (s *Server) trusts(ip netip.Addr) bool {
	return slices.ContainsFunc(s.proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// named reports whether a host is one of the names of the server.
func (s *Server) named(host string) bool {
	ip, err := netip.ParseAddr(host)
	return slices.ContainsFunc(s.names, func(name string) bool {
		other, bad := netip.ParseAddr(name)
		return strings.EqualFold(name, host) || err == nil && bad == nil && ip.Unmap() == other.Unmap()
	})
}

// forwarded is how a request came that a proxy brought.
func (s *Server) forwarded(r *http.Request, proxy netip.Addr) (asked, error) {
	a := asked{peer: proxy, host: r.Host, secure: true}
	if last := lastOf(r, "X-Forwarded-Host"); last != "" {
		a.host = last
	}
	if !strings.EqualFold(lastOf(r, "X-Forwarded-Proto"), "https") {
		return a, errors.New("the proxy does not say that the browser used https: it must set X-Forwarded-Proto")
	}
	all := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(all) { // each proxy adds the one that it heard
		ip, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			return a, errors.New("the proxy does not say from where the browser came: it must set X-Forwarded-For")
		}
		if a.peer = ip.Unmap(); !s.trusts(a.peer) {
			break
		}
	}
	host, _, err := net.SplitHostPort(a.host)
	if err != nil {
		host = strings.Trim(a.host, "[]")
	}
	if !s.named(host) {
		return a, fmt.Errorf("%w: web.hosts has the names that browsers use", errName)
	}
	return a, nil
}

// lastOf is the last value of a header, which the nearest proxy has set.
func lastOf(r *http.Request, name string) string {
	all := strings.Split(strings.Join(r.Header.Values(name), ","), ",")
	return strings.TrimSpace(all[len(all)-1])
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
