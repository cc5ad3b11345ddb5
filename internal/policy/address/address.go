// Package address reads the host of an address as programs read it. Programs do not agree about every text: curl takes a backslash into
// the user's name, browsers end the host there. Where the host could be another one for curl, or for a browser, the address is not clear.
package address

import (
	"net/netip"
	"strconv"
	"strings"
)

// Address is what was read of an address.
type Address struct {
	Scheme string // in lower case; empty if there is none
	Host   string // in lower case, without user, port, brackets and the dot at the end; a numeric address in its usual form
	Port   string // without leading zeros; empty if there is none
	Clear  bool   // no program takes it for the address of another host
}

// Read reads scheme://user@host:port/…, or the same without a scheme, or host:path as ssh takes it.
func Read(s string) Address {
	a := Address{Clear: true}
	rest := s
	if i := strings.Index(s, ":"); i > 0 && isScheme(s[:i]) && strings.HasPrefix(s[i+1:], "/") {
		slashes := 0
		for rest = s[i+1:]; strings.HasPrefix(rest, "/"); rest = rest[1:] {
			slashes++
		}
		a.Scheme, a.Clear = strings.ToLower(s[:i]), slashes == 2
	}
	authority, after := rest, ""
	if i := strings.IndexAny(rest, `/?#\`); i >= 0 {
		authority, after = rest[:i], rest[i:]
	}
	if after != "" && after[0] != '/' { // who does not end the host here may find another one behind @
		line, _, _ := strings.Cut(after, "/")
		a.Clear = a.Clear && after[0] != '\\' && strings.IndexByte(line, '@') < 0
	}
	host := authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user := authority[:i]
		host = authority[i+1:]
		a.Clear = a.Clear && strings.IndexByte(user, '@') < 0 && (a.Scheme != "" || strings.IndexByte(user, ':') < 0) && printable(user)
	}
	a.split(host)
	return a
}

// isScheme reports whether a text has the form of a scheme.
func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (i == 0 || (s[i] < '0' || s[i] > '9') && s[i] != '+' && s[i] != '-' && s[i] != '.') {
			return false
		}
	}
	return s != ""
}

// printable reports whether a text has only visible characters of ASCII.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// split reads host:port.
func (a *Address) split(s string) {
	bracketed := strings.HasPrefix(s, "[")
	switch {
	case bracketed:
		var found bool
		s, a.Port, found = strings.Cut(s[1:], "]")
		a.Clear = a.Clear && found && (a.Port == "" || a.Port[0] == ':')
		a.Port = strings.TrimPrefix(a.Port, ":")
	case strings.Count(s, ":") > 1 && a.six(s):
		return
	default:
		s, a.Port, _ = strings.Cut(s, ":")
	}
	if bracketed && !a.six(s) {
		a.Host, a.Clear = strings.ToLower(s), false
	}
	if a.Scheme != "" && strings.Trim(a.Port, "0123456789") != "" {
		a.Clear = false
	}
	if a.Port != "" {
		a.Port = strings.TrimLeft(a.Port, "0")
	}
	if !bracketed {
		a.name(strings.ToLower(s))
	}
}

// six reads an IPv6 address. It reports false if the text is none.
func (a *Address) six(s string) bool {
	s, zone, _ := strings.Cut(s, "%")
	ip, err := netip.ParseAddr(s)
	if err != nil || !ip.Is6() {
		return false
	}
	a.Host = ip.Unmap().String()
	a.Clear = a.Clear && strings.Trim(strings.ToLower(zone), "abcdefghijklmnopqrstuvwxyz0123456789_.-") == ""
	return true
}

// name reads the name of a host, or an IPv4 address.
func (a *Address) name(s string) {
	a.Host = strings.TrimSuffix(s, ".")
	if a.Host == "" {
		a.Clear = a.Clear && s == "" && a.Scheme == "" // http://./ is none
		return
	}
	for label := range strings.SplitSeq(a.Host, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			a.Clear = false
			return
		}
	}
	last := a.Host[strings.LastIndexByte(a.Host, '.')+1:]
	if last[0] < '0' || last[0] > '9' {
		return
	}
	if a.Scheme == "" && len(a.Host) < 6 && strings.Trim(a.Host, "0123456789") == "" { // a port, or the number of a process
		return
	}
	four, ok := numeric(a.Host)
	if ok {
		a.Host = four
	}
	// A zero in front means octal to some and nothing to others, and a dot behind a number is not for all a number.
	a.Clear = a.Clear && ok && s[len(s)-1] != '.' && !octal(s)
}

// numeric returns the usual form of an IPv4 address: of one to four numbers, the last fills what is left.
func numeric(s string) (string, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return "", false
	}
	var ip uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 33)
		last := i == len(parts)-1
		if err != nil || strings.IndexByte(p, '_') >= 0 || !last && n > 255 || last && n >= 1<<(8*(5-len(parts))) {
			return "", false
		}
		if last {
			ip |= n
		} else {
			ip |= n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}).String(), true
}

// octal reports whether one of the numbers begins with a zero that means something.
func octal(s string) bool {
	for p := range strings.SplitSeq(s, ".") {
		if len(p) > 1 && p[0] == '0' && p[1] != 'x' {
			return true
		}
	}
	return false
}

// Own returns the host of an address if all of the text is the address of a server of this machine, with a scheme of those that servers of
// projects have.
func Own(s string) (host string, ok bool) {
	_, rest, _ := strings.Cut(s, "://")
	authority, after, _ := strings.Cut(rest, "/")
	a := Read(s)
	switch a.Scheme {
	case "http", "https", "ws", "wss", "grpc", "redis", "postgres", "postgresql", "mysql", "mongodb":
	default:
		return "", false
	}
	if !a.Clear || a.Host != "localhost" && a.Host != "127.0.0.1" || !plainAuthority(authority) || strings.ContainsAny(after, "\\@, ") ||
		strings.Contains(after, "://") {
		return "", false
	}
	return a.Host, true
}

// NamesHost reports whether the beginning of an address has all that says which host is meant: scheme://host/.
func NamesHost(beginning string) bool {
	_, rest, ok := strings.Cut(beginning, "://")
	end := strings.IndexByte(rest, '/')
	return ok && end > 0 && plainAuthority(rest[:end])
}

// plainAuthority reports whether a text is the name or the number of a host and perhaps a port, and nothing else.
func plainAuthority(s string) bool {
	for i := range len(s) {
		ch := s[i] | 0x20
		if (ch < 'a' || ch > 'z') && (s[i] < '0' || s[i] > '9') && s[i] != '.' && s[i] != '-' && s[i] != ':' {
			return false
		}
	}
	return s != ""
}
