package proxy

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/text"
)

// The ports of a host for which no port is named.
const (
	httpPort  = 80
	httpsPort = 443
)

// Host is what a person lets a command reach: example.com, *.example.com for every name below it, or an address; with :PORT that port only,
// without it 80 and 443.
type Host struct {
	name string // in the form of canonical; of a wildcard what follows the star, with its dot
	wild bool
	addr netip.Addr // valid: the host is an address
	port uint16     // 0: the two ports
}

// ParseHost reads a host as people write it.
func ParseHost(s string) (Host, error) {
	var h Host
	name := s
	if before, port, ok := cutPort(s); ok {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || port[0] == '0' {
			return h, fmt.Errorf("host %q: %q is not a port", s, text.Visible(port))
		}
		name, h.port = before, uint16(n)
	}
	rest, wild := strings.CutPrefix(name, "*.")
	var err error
	if h.name, h.addr, err = canonical(rest); err != nil {
		return h, fmt.Errorf("host %q: %w", s, err)
	}
	if wild && (h.addr.IsValid() || !strings.Contains(h.name, ".")) {
		return h, fmt.Errorf("host %q: a star stands before a domain of at least two parts, as in *.example.com", s)
	}
	if wild {
		h.name, h.wild = "."+h.name, true
	}
	return h, nil
}

// cutPort splits host:port. An IPv6 address with a port stands in brackets.
func cutPort(s string) (host, port string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.HasSuffix(s, "]") || strings.Count(s, ":") > 1 && s[0] != '[' {
		return s, "", false
	}
	return s[:i], s[i+1:], len(s) > i+1
}

// matches reports whether the host is the one of a request.
func (h Host) matches(t target) bool {
	switch {
	case h.port != 0 && h.port != t.port, h.port == 0 && t.port != httpPort && t.port != httpsPort:
		return false
	case h.addr.IsValid() || t.addr.IsValid():
		return h.addr == t.addr
	case h.wild:
		return strings.HasSuffix(t.name, h.name)
	}
	return t.name == h.name
}

// covers reports whether every request that o allows is one that h allows.
func (h Host) covers(o Host) bool {
	switch {
	case h.port != o.port && (h.port != 0 || o.port != httpPort && o.port != httpsPort):
		return false
	case h.addr.IsValid() || o.addr.IsValid():
		return h.addr == o.addr
	case h.wild:
		return strings.HasSuffix(o.name, h.name)
	}
	return !o.wild && h.name == o.name
}

// Within returns those of the hosts that are among others, or are reached by one of them anyway. What [ParseHost] cannot read is not.
func Within(hosts, others []string) (out []string) {
	for _, s := range hosts {
		h, err := ParseHost(s)
		if err == nil && slices.ContainsFunc(others, func(o string) bool {
			other, err := ParseHost(o)
			return err == nil && other.covers(h)
		}) {
			out = append(out, s)
		}
	}
	return out
}

// target is where a request goes.
type target struct {
	name string     // in the form of canonical
	addr netip.Addr // valid: the command named an address
	port uint16
}

func (t target) String() string { return net.JoinHostPort(t.name, strconv.Itoa(int(t.port))) }

// parseTarget reads the host and port of a request. port is used if the host has none.
func parseTarget(s string, port uint16) (target, error) {
	name := s
	if before, digits, ok := cutPort(s); ok {
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || n == 0 {
			return target{}, fmt.Errorf("%q is not a port", text.Visible(digits))
		}
		name, port = before, uint16(n)
	}
	name, addr, err := canonical(name)
	return target{name, addr, port}, err
}

// maxName bounds a name, in bytes (RFC 1035, section 2.3.4).
const (
	maxName  = 253
	maxLabel = 63
)

// canonical returns the one form of a host: lower case, without the dot at the end. An address has the form of [netip.Addr.String]; one
// that is written in any other way, such as 2130706433 or 0x7f.1, is refused, because programs do not agree on what it means.
func canonical(s string) (name string, addr netip.Addr, err error) {
	bare := s
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		bare = s[1 : len(s)-1]
	}
	if addr, err = netip.ParseAddr(bare); err == nil {
		if addr.Zone() != "" {
			return "", netip.Addr{}, fmt.Errorf("%q names an interface of the machine", text.Visible(s))
		}
		addr = addr.Unmap()
		return addr.String(), addr, nil
	}
	name = strings.TrimSuffix(s, ".")
	if name == "" || len(name) > maxName {
		return "", netip.Addr{}, fmt.Errorf("%q is not the name of a host", text.Visible(text.Truncate(s, maxName)))
	}
	lower := []byte(name)
	for i, c := range lower {
		switch {
		case c >= 'A' && c <= 'Z':
			lower[i] = c + ('a' - 'A')
		case c > '~':
			return "", netip.Addr{}, fmt.Errorf("%q is not written in ASCII: use the form that begins with xn--", text.Visible(s))
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '.', c == '_':
		default:
			return "", netip.Addr{}, fmt.Errorf("%q is not the name of a host", text.Visible(s))
		}
	}
	labels := strings.Split(string(lower), ".")
	if slices.ContainsFunc(labels, func(l string) bool { return l == "" || len(l) > maxLabel }) {
		return "", netip.Addr{}, fmt.Errorf("%q is not the name of a host", text.Visible(s))
	}
	if isNumber(labels[len(labels)-1]) {
		return "", netip.Addr{}, fmt.Errorf("%q is an address in an unusual form: write it as 192.0.2.1", text.Visible(s))
	}
	return string(lower), netip.Addr{}, nil
}

// isNumber reports whether a name that ends in this label is an address to some program (WHATWG URL, "ends in a number").
func isNumber(label string) bool {
	hex, ok := strings.CutPrefix(label, "0x")
	if ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
