package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Server-side request forgery (SSRF): addresses that somebody else named (metadata, authorization servers, keys, redirects) are reached
// through an [Egress]. It opens no connection to this machine, to its network, or to an address that maps to another address, unless the
// operator named the host. It checks the address of each connection after the name was resolved and immediately before the dial, so that
// a name whose answers change (DNS rebinding) does not get past the check.

// special4 are the IPv4 ranges that are not the public internet (IANA special-purpose registry, and multicast).
var special4 = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
)

// global6 is the IPv6 range of global unicast addresses; special6 are its parts that are not public: protocol assignments with Teredo,
// documentation, 6to4. Outside of global6 are loopback, mapped and compatible IPv4, NAT64, discard, unique local, link-local, site-local
// and multicast.
var (
	global6  = netip.MustParsePrefix("2000::/3")
	special6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)

func prefixes(list ...string) []netip.Prefix {
	p := make([]netip.Prefix, len(list))
	for i, s := range list {
		p[i] = netip.MustParsePrefix(s)
	}
	return p
}

// isPublic reports whether an address belongs to the public internet. A mapped IPv4 address does not.
func isPublic(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	list := special4
	if !a.Is4() {
		if !global6.Contains(a) {
			return false
		}
		list = special6
	}
	for _, p := range list {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// Egress opens connections to hosts that were discovered.
type Egress struct {
	named    map[string]bool // "host" or "host:port", lower case, that the operator named
	resolver *net.Resolver   // nil: the system's
}

// NewEgress returns an Egress for which the operator named these hosts ("host" for all its ports, or "host:port") and the hosts of these
// URLs.
func NewEgress(hosts []string, urls ...*url.URL) *Egress {
	r := &Egress{named: map[string]bool{}}
	for _, h := range hosts {
		r.named[PlainHost(h)] = true
	}
	for _, u := range urls {
		if u != nil {
			r.named[net.JoinHostPort(PlainHost(u.Hostname()), PortOf(u))] = true
		}
	}
	return r
}

// PlainHost is a host, or host and port, in the form in which hosts are compared.
func PlainHost(s string) string {
	s = strings.ToLower(s)
	if host, port, err := net.SplitHostPort(s); err == nil {
		return net.JoinHostPort(strings.TrimSuffix(host, "."), port)
	}
	return strings.TrimSuffix(strings.Trim(s, "[]"), ".")
}

// PortOf is the port of a URL, or the default port of its scheme.
func PortOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// isNamed reports whether the operator named the host.
func (r *Egress) isNamed(host, port string) bool {
	host = PlainHost(host)
	return r.named[host] || r.named[net.JoinHostPort(host, port)]
}

// refusedError is a discovered address to which no connection is made.
type refusedError struct{ host, why string }

func (e *refusedError) Error() string {
	return fmt.Sprintf("%s is refused: %s", e.host, e.why)
}

// Hint is how to mend it.
func (e *refusedError) Hint() string {
	return fmt.Sprintf("if that host is right, name it in the entry's oauth: {hosts: [%s]}", e.host)
}

// Check refuses what can be refused without resolving a name: other schemes, plain HTTP to other machines, credentials in the URL, and
// numeric addresses that are not public.
func (r *Egress) Check(u *url.URL) error {
	host := u.Hostname()
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || host == "" || u.Opaque != "":
		return fmt.Errorf("%.80q is not an https address", u.Redacted())
	case u.User != nil:
		return errors.New("an address with a user name or password is refused")
	}
	named := r.isNamed(host, PortOf(u))
	if u.Scheme == "http" && (!named || !IsLoopback(host)) {
		return &refusedError{VisibleHost(u.Host), "plain http is for this machine only, where the configuration names it"}
	}
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && !named && !isPublic(a) {
		return &refusedError{VisibleHost(u.Host), "it is not an address of the public internet"}
	}
	return nil
}

// IsLoopback reports whether a host, by its name, is this machine.
func IsLoopback(host string) bool {
	host = PlainHost(host)
	a, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && a.IsLoopback()
}

// IsLoopbackURL reports whether the host of a URL, by its name, is this machine.
func IsLoopbackURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && IsLoopback(u.Hostname())
}

// VisibleHost is a host for messages: short, and on one line.
func VisibleHost(s string) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), 100)]
}

// dial opens a connection to host:port.
func (r *Egress) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: 10 * time.Second, Resolver: r.resolver}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if !r.isNamed(host, port) {
		if a, err := netip.ParseAddr(host); err == nil && !isPublic(a) { // the dialler would connect to the IPv4 address of a mapped one
			return nil, &refusedError{VisibleHost(host), "it is not an address of the public internet"}
		}
		d.Control = onlyPublic(host)
	}
	return d.DialContext(ctx, network, address)
}

// onlyPublic refuses a connection if the address that the system is about to connect to is not public.
func onlyPublic(host string) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		if a, err := netip.ParseAddrPort(address); err != nil || !isPublic(a.Addr()) {
			return &refusedError{VisibleHost(host), "it leads to an address that is not of the public internet"}
		}
		return nil
	}
}

// maxRedirects bounds the redirects of a discovered address.
const maxRedirects = 3

// Client returns an HTTP client for discovered addresses. It takes no proxy from the environment, because a proxy would resolve names
// itself. It follows a few redirects of GET, each under the same rules and never from https to http, and no redirects of POST, which
// carries credentials.
func (r *Egress) Client() *http.Client {
	return &http.Client{
		Timeout: 15 * time.Second,
		Transport: &http.Transport{
			DialContext:            r.dial,
			TLSHandshakeTimeout:    10 * time.Second,
			DisableKeepAlives:      true, // there are a few requests in months
			MaxResponseHeaderBytes: 64 << 10,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			last := via[len(via)-1]
			switch {
			case last.Method != http.MethodGet:
				return errors.New("it redirects a request that carries credentials, which is refused")
			case len(via) > maxRedirects:
				return fmt.Errorf("more than %d redirects", maxRedirects)
			case last.URL.Scheme == "https" && req.URL.Scheme != "https":
				return errors.New("it redirects from https to http, which is refused")
			}
			return r.Check(req.URL)
		},
	}
}
