// Package pages has the section of the user's mycelium.yaml that says where the pages for browsers are served, and to whom.
package pages

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"mycelium/internal/config/source"
)

// OwnCertificate is the value of Cert for a certificate that this program makes and keeps itself.
const OwnCertificate = "own"

// Section is the web: section. Only the user's own file has one: the pages are those of all projects.
type Section struct {
	Addr           string   `yaml:"addr" json:"addr,omitempty" about:"HOST:PORT; default 127.0.0.1:3456"`
	Cert           string   `yaml:"cert" json:"cert,omitempty" about:"a file with a certificate and those between it and its root (PEM), or own"`
	Key            string   `yaml:"key" json:"key,omitempty" about:"the file with its private key (PEM)"`
	TrustedProxies []string `yaml:"trustedProxies" json:"trustedProxies,omitempty" about:"addresses and networks from which a proxy brings the requests of browsers. What it says of them (X-Forwarded-…) is believed"`
	Hosts          []string `yaml:"hosts" json:"hosts,omitempty" about:"names by which browsers reach the pages, besides those of this machine"`
	Push           *bool    `yaml:"push" json:"push,omitzero" about:"whether a browser may ask to be told of questions; absent: it may"`
}

// Pushes reports whether a browser may ask to be told of questions by Web Push.
func (s Section) Pushes() bool { return s.Push == nil || *s.Push }

// Proxies returns the networks of TrustedProxies. Those that cannot be read are left out: Check reports them.
func (s Section) Proxies() (out []netip.Prefix) {
	for _, text := range s.TrustedProxies {
		if p, err := network(text); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// network reads an address, or a network such as 10.0.0.0/8.
func network(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		ip, err := netip.ParseAddr(text)
		if err != nil {
			return netip.Prefix{}, err
		}
		return netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err == nil && p.Bits() == 0 {
		err = fmt.Errorf("%s is everybody", text)
	}
	return p.Masked(), err
}

// Check reports what is wrong with the section.
func (s *Section) Check(bad source.Report) {
	if host, port, err := net.SplitHostPort(s.Addr); s.Addr != "" && (err != nil || host == "" || !isPort(port)) {
		bad("web.addr", "web.addr is "+strconv.Quote(s.Addr), "write host:port, such as 127.0.0.1:3456")
	}
	switch {
	case s.Cert == OwnCertificate && s.Key != "":
		bad("web.key", "web.key names a key, and web.cert is own", "leave web.key out: we keep the key of our own certificate")
	case s.Cert != OwnCertificate && (s.Cert == "") != (s.Key == ""):
		bad("web.cert", "web.cert and web.key name only one of certificate and key", "name both files, or write cert: own")
	}
	for key, file := range map[string]string{"web.cert": s.Cert, "web.key": s.Key} {
		if file != "" && file != OwnCertificate && !strings.HasPrefix(file, "/") {
			bad(key, key+" is "+strconv.Quote(file), "write the whole path of the file, from / on")
		}
	}
	for i, text := range s.TrustedProxies {
		if _, err := network(text); err != nil {
			bad(fmt.Sprintf("web.trustedProxies[%d]", i), "web.trustedProxies has "+strconv.Quote(text),
				"write an address such as 10.0.0.2, or a network such as 10.0.0.0/24; a proxy must be told from everybody else")
		}
	}
	for i, name := range s.Hosts {
		if !isName(name) {
			bad(fmt.Sprintf("web.hosts[%d]", i), "web.hosts has "+strconv.Quote(name), "write a name such as pages.example.org, without a port")
		}
	}
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// isName reports whether a text is the name of a host, or an address.
func isName(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	return text != "" && len(text) <= 253 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == "" &&
		!strings.HasPrefix(text, ".") && !strings.HasPrefix(text, "-")
}
