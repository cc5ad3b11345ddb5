package httpclient

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// TestReachRanges names one address of every range that a discovered URL may not lead to (T14), both ends of the larger ones, and
// neighbours that are public.
func TestReachRanges(t *testing.T) {
	closed := map[string][]string{
		"this network": {"0.0.0.0", "0.255.255.255"}, "private": {"10.0.0.1", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.1"},
		"CGNAT": {"100.64.0.0", "100.127.255.255"}, "loopback": {"127.0.0.1", "127.255.255.254", "::1"},
		"link-local": {"169.254.169.254", "fe80::1", "febf::1"},
		"protocol":   {"192.0.0.1", "192.0.0.170"}, "documentation": {"192.0.2.1", "198.51.100.1", "203.0.113.255", "2001:db8::1", "3fff::1"},
		"6to4": {"192.88.99.1", "2002::1", "2002:7f00:1::", "2002:808:808::"}, "benchmark": {"198.18.0.0", "198.19.255.255", "2001:2::1"},
		"multicast": {"224.0.0.1", "239.255.255.255", "ff02::1"}, "reserved": {"240.0.0.0", "255.255.255.255"}, "unspecified": {"::"},
		"mapped": {"::ffff:127.0.0.1", "::ffff:8.8.8.8"}, "compatible": {"::7f00:1", "::8.8.8.8"},
		"NAT64":   {"64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1"},
		"discard": {"100::1"}, "Teredo": {"2001::1"}, "ORCHID": {"2001:20::1"}, "unique local": {"fc00::1", "fd00:ec2::254"},
		"site-local":  {"fec0::1"},
		"unallocated": {"4000::1", "5f00::1", "1::1"}, "with a zone": {"2600::1%eth0"},
	}
	for name, list := range closed {
		for _, s := range list {
			if isPublic(netip.MustParseAddr(s)) {
				t.Errorf("%s: %s passes", name, s)
			}
		}
	}
	for _, s := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "172.15.255.255",
		"172.32.0.0", "192.0.1.0",
		"192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2600::1", "2001:200::1", "2001:4860:4860::8888",
		"2003::1", "2a00::1",
	} {
		if !isPublic(netip.MustParseAddr(s)) {
			t.Errorf("%s is refused", s)
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("no address passes")
	}
}

// TestReachChecks: what is refused before anything is resolved, and what the operator's word allows.
func TestReachChecks(t *testing.T) {
	own, err := url.Parse("http://127.0.0.1:8080/mcp")
	if err != nil {
		t.Fatal(err)
	}
	r := NewEgress([]string{"LOCALHOST.", "10.1.2.3:8443", "login.corp"}, own)
	for address, ok := range map[string]bool{
		"https://example.com/x": true, "https://login.corp/x": true, "https://10.1.2.3:8443/x": true, "http://127.0.0.1:8080/x": true,
		"http://localhost:9/x": true,
		"http://example.com/x": false, "http://login.corp/x": false, "http://127.0.0.1:8081/x": false, "https://10.1.2.3/x": false,
		"https://[::1]/x":            false,
		"https://[::ffff:8.8.8.8]/x": false, "https://169.254.169.254/latest": false, "ftp://example.com/": false, "file:///etc/passwd": false,
		"gopher://example.com/":        false,
		"https://user:pw@example.com/": false, "https:///x": false, "javascript:alert(1)": false, "//example.com/x": false,
		"https:example.com": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(u); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestReachRefusesAtDial: the connection itself is refused, by number and by name, and a server that would have answered sees nobody.
func TestReachRefusesAtDial(t *testing.T) {
	var seen atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen.Add(1) }))
	defer s.Close()
	port := s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "2130706433",
		"0x7f.1", "127.1"} {
		res, err := NewEgress(nil).Client().Get("http://" + host + ":" + port + "/")
		if err == nil {
			res.Body.Close()
			t.Errorf("%s was reached", host)
		}
	}
	if seen.Load() != 0 {
		t.Error("the server was asked")
	}
	res, err := NewEgress([]string{"127.0.0.1:" + port}).Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if seen.Load() != 1 {
		t.Error("a host that the operator named was not reached")
	}
}

// TestReachRedirects: an honest beginning may not lead where we would not go by ourselves.
func TestReachRedirects(t *testing.T) {
	var inner atomic.Int32
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inner.Add(1) }))
	defer secret.Close()
	to := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/loop" {
			to = "/loop"
		}
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	c := NewEgress([]string{strings.TrimPrefix(s.URL, "http://")}).Client()
	for name, address := range map[string]string{
		"another port": secret.URL, "by name": strings.Replace(secret.URL, "127.0.0.1", "localhost", 1),
		"metadata service": "http://169.254.169.254/latest", "a file": "file:///etc/passwd",
		"plain http": "http://example.com/", "a private network": "https://192.168.0.1/",
	} {
		to = address
		res, err := c.Get(s.URL)
		if err == nil {
			res.Body.Close()
			t.Errorf("%s: followed", name)
		}
	}
	if res, err := c.Get(s.URL + "/loop"); err == nil || !strings.Contains(err.Error(), "more than 3") {
		t.Error("a loop is followed", res, err)
	}
	to = s.URL + "/x"
	if res, err := c.Post(s.URL, "text/plain", strings.NewReader("secret")); err == nil || !strings.Contains(err.Error(), "credentials") {
		t.Error("a POST is redirected", res, err)
	}
	if inner.Load() != 0 {
		t.Error("the inner server was asked")
	}
}

// TestReachRebinding: a name whose answers change. What counts is the address of each connection, not an earlier answer.
func TestReachRebinding(t *testing.T) {
	at := onlyPublic("rebind.example.com")
	for address, ok := range map[string]bool{"8.8.8.8:443": true, "[2600::1]:443": true, "127.0.0.1:443": false, "[::1]:443": false,
		"10.0.0.1:443": false, "nonsense": false} {
		if err := at("tcp", address, nil); (err == nil) != ok {
			t.Errorf("one name, connection to %s: %v", address, err)
		}
	}
	var seen atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen.Add(1) }))
	defer s.Close()
	for name, answers := range map[string][]string{
		"another address first": {"192.0.2.1", "127.0.0.1"}, "this machine": {"127.0.0.1"}, "link-local": {"169.254.169.254"},
	} {
		dns := newNameServer(t, answers)
		r := NewEgress(nil)
		r.resolver = &net.Resolver{PreferGo: true, Dial: dns.dial}
		for range 3 {
			conn, err := r.dial(t.Context(), "tcp", "rebind.example.com:"+s.URL[strings.LastIndexByte(s.URL, ':')+1:])
			var closed *refusedError
			if err == nil {
				conn.Close()
			}
			if !errors.As(err, &closed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if dns.asked.Load() == 0 {
			t.Errorf("%s: the name was not resolved by the test's own server", name)
		}
	}
	if seen.Load() != 0 {
		t.Error("this machine was reached")
	}
}

// nameServer is a DNS server on loopback that answers each question for an IPv4 address with the next of its answers, the last one for
// ever.
type nameServer struct {
	conn    net.PacketConn
	answers []string
	asked   atomic.Int32
}

func newNameServer(t *testing.T, answers []string) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &nameServer{conn: conn, answers: answers}
	done := make(chan struct{})
	go func() { defer close(done); n.serve() }()
	t.Cleanup(func() { conn.Close(); <-done })
	return n
}

func (n *nameServer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "udp", n.conn.LocalAddr().String())
}

func (n *nameServer) serve() {
	buf := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		q := buf[:size]
		end := 12 // of the question: its name, type and class
		for end < size && q[end] != 0 {
			end += int(q[end]) + 1
		}
		end += 5
		if size < end {
			continue
		}
		a := append([]byte{}, q[:end]...)
		a[2], a[3] = 0x84, 0 // an answer, authoritative
		clear(a[6:12])
		if kind := binary.BigEndian.Uint16(q[end-4:]); kind == 1 {
			i := int(n.asked.Add(1)) - 1
			ip := netip.MustParseAddr(n.answers[min(i, len(n.answers)-1)]).As4()
			a[7] = 1
			a = append(a, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
			a = append(a, ip[:]...)
		}
		if _, err := n.conn.WriteTo(a, from); err != nil {
			return
		}
	}
}
