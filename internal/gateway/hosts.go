package gateway

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"mycelium/internal/gateway/resource"
	"mycelium/internal/rpc"
)

var errHost = rpc.InvalidRequest("this Host or Origin may not use the gateway; add it to the accepted hosts if it should")

// hosts are the accepted Host names besides the loopback ones, canonical.
type hosts map[string]bool

func (h hosts) add(host string) { h[canonicalHost(host)] = true }

// accept reports whether Host and Origin are ours: the page of another site can neither reach us under its own name (DNS rebinding,
// T2), nor let a script reach us under ours.
func (h hosts) accept(r *http.Request) bool {
	if !h.known(r.Host) {
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !h.known(u.Host) {
			return false
		}
	}
	return true
}

func (h hosts) known(hostport string) bool {
	host := canonicalHost(hostport)
	return h[host] || h[strings.Trim(withoutPort(host), "[]")] || resource.IsLoopback(withoutPort(host))
}

func canonicalHost(h string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(h)), ".")
}

func withoutPort(hostport string) string {
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		return h
	}
	return hostport
}

// FromHere reports whether a request comes from this machine itself, not through a proxy on it. A proxy says so in a header, or passes
// on the name that its own clients asked for.
func FromHere(r *http.Request) bool {
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && addr.Addr().Unmap().IsLoopback() && resource.IsLoopback(withoutPort(canonicalHost(r.Host))) &&
		r.Header.Get("Forwarded") == "" && r.Header.Get("X-Forwarded-For") == ""
}
