package pages

import (
	"net/netip"
	"slices"
	"testing"
)

// TestCheck: each wrong value is named, and right ones are not.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s    Section
		want []string
	}{
		{Section{}, nil},
		{Section{Addr: "127.0.0.1:3456"}, nil},
		{Section{Addr: "[::]:0", Cert: OwnCertificate, Hosts: []string{"a-b.example", "192.0.2.1", "::1"}}, nil},
		{Section{Addr: "0.0.0.0:1", Cert: "/a.pem", Key: "/k.pem", TrustedProxies: []string{"10.0.0.0/8", "::1", "192.0.2.9"}}, nil},
		{Section{Addr: "3456"}, []string{"web.addr"}},
		{Section{Addr: ":3456"}, []string{"web.addr"}},
		{Section{Addr: "127.0.0.1:http"}, []string{"web.addr"}},
		{Section{Addr: "127.0.0.1:70000"}, []string{"web.addr"}},
		{Section{Cert: "/a.pem"}, []string{"web.cert"}},
		{Section{Key: "/a.pem"}, []string{"web.cert"}},
		{Section{Cert: "own", Key: "/a.pem"}, []string{"web.key"}},
		{Section{Cert: "a.pem", Key: "/k.pem"}, []string{"web.cert"}},
		{Section{TrustedProxies: []string{"proxy.example", "0.0.0.0/0", "::/0", "10.0.0.1/33"}},
			[]string{"web.trustedProxies[0]", "web.trustedProxies[1]", "web.trustedProxies[2]", "web.trustedProxies[3]"}},
		{Section{Hosts: []string{"a.example:1", "", "-a", "a/b"}}, []string{"web.hosts[0]", "web.hosts[1]", "web.hosts[2]", "web.hosts[3]"}},
	} {
		var got []string
		c.s.Check(func(key, _, _ string) { got = append(got, key) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.s, got, c.want)
		}
	}
}

// TestProxies: an address is a network of itself, also one of IPv4 in IPv6.
func TestProxies(t *testing.T) {
	t.Parallel()
	got := Section{TrustedProxies: []string{"10.1.2.3/8", "::ffff:192.0.2.1", "x", "0.0.0.0/0"}}.Proxies()
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32")}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	no := false
	if !(Section{}).Pushes() || (Section{Push: &no}).Pushes() {
		t.Error("push: is on unless it is said to be off")
	}
}
