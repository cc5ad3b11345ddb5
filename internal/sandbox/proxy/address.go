package proxy

import (
	"net"
	"net/netip"
)

// inner are addresses that lead into this machine, its network or a tunnel, and that no method of [netip.Addr] knows. They are those of the
// registry of special addresses (RFC 6890 and its followers).
var inner = [...]string{
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
}

// public is the part of IPv6 whose addresses are given out to everybody (RFC 4291, section 2.4). What translates to IPv4 lies outside.
const public = "2000::/3"

// isPublic reports whether an address is one of the internet's.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" {
		return false
	}
	for _, s := range inner {
		if netip.MustParsePrefix(s).Contains(a) {
			return false
		}
	}
	return a.Is4() || netip.MustParsePrefix(public).Contains(a)
}

// isOwn reports whether an address is one of this machine's. It says so too where the machine cannot be asked.
func isOwn(a netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	for _, one := range all {
		if p, err := netip.ParsePrefix(one.String()); err == nil && p.Addr().Unmap() == a.Unmap() {
			return true
		}
	}
	return false
}
