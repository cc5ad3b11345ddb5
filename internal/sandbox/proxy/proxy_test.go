package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// internet is the outside of a test: names, and servers at every address.
type internet struct {
	names map[string][]string // what a name leads to

	mu     sync.Mutex
	asked  []string // names that were looked up
	dialed []netip.AddrPort

	plain, secure *httptest.Server
	seen          atomic.Pointer[chan http.Header] // gets the headers that arrive
	ca            *authority
}

// far is an address of the internet, at which nobody is asked.
const far = "93.184.215.14"

// newInternet starts the servers: on port 443 one with TLS for every name, on every other one without.
func newInternet(t *testing.T) *internet {
	t.Helper()
	ca, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	n := &internet{ca: ca, names: map[string][]string{
		"good.example": {far}, "other.example": {far}, "moved.example": {far}, "deep.sub.good.example": {far},
		"rebind.example": {"127.0.0.1"}, "mixed.example": {far, "10.0.0.1"}, "six.example": {"::1"}, "mapped.example": {"::ffff:169.254.169.254"},
		"cgnat.example": {"100.64.0.1"}, "tunnel.example": {"2002:7f00:1::1"}, "nat64.example": {"64:ff9b::7f00:1"},
		"many.example": {"224.0.0.1"},
		"zero.example": {"0.0.0.0"}, "ula.example": {"fd00::1"}, "empty.example": {},
	}}
	n.plain = httptest.NewServer(http.HandlerFunc(n.answer))
	n.secure = httptest.NewUnstartedServer(http.HandlerFunc(n.answer))
	n.secure.Config.ErrorLog = log.New(io.Discard, "", 0) // a tunnel that is refused ends in the middle of it
	n.secure.TLS = &tls.Config{GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		name, addr, err := canonical(h.ServerName)
		if err != nil {
			name, addr = far, netip.MustParseAddr(far)
		}
		return ca.certify(target{name, addr, httpsPort})
	}}
	n.secure.StartTLS()
	t.Cleanup(func() { n.plain.Close(); n.secure.Close() })
	return n
}

// answer repeats what it was asked, or sends elsewhere.
func (n *internet) answer(w http.ResponseWriter, r *http.Request) {
	if seen := n.seen.Load(); seen != nil {
		*seen <- r.Header.Clone()
	}
	if r.Host == "moved.example" {
		http.Redirect(w, r, "http://other.example/", http.StatusFound)
		return
	}
	w.Header().Set("X-Repeated", r.Header.Get("X-Api-Key"))
	_, _ = fmt.Fprintf(w, "host %s path %s authorization %s key %s end", r.Host, r.URL, r.Header.Get("Authorization"),
		r.Header.Get("X-Api-Key"))
}

func (n *internet) outside() Outside {
	pool := x509.NewCertPool()
	pool.AddCert(n.ca.cert)
	return Outside{Roots: pool,
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.asked = append(n.asked, name)
			all, ok := n.names[name]
			if !ok {
				return nil, errors.New("no such host")
			}
			var out []netip.Addr
			for _, s := range all {
				out = append(out, netip.MustParseAddr(s))
			}
			return out, nil
		},
		Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			n.mu.Lock()
			n.dialed = append(n.dialed, to)
			n.mu.Unlock()
			server := n.plain
			if to.Port() == httpsPort {
				server = n.secure
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		}}
}

// start runs a proxy on the loopback.
func start(t *testing.T, n *internet, hosts []string, masks ...Mask) (*Proxy, string) {
	t.Helper()
	p, err := New(hosts, masks, Registries{}, n.outside(), "ask so")
	if err != nil {
		t.Fatal(err)
	}
	return p, serveOn(t, p)
}

// serveOn runs a proxy on the loopback, and returns its address.
func serveOn(t *testing.T, p *Proxy) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		p.Serve(l)
		close(done)
	}()
	t.Cleanup(func() {
		p.Close()
		<-done
	})
	return l.Addr().String()
}

// TestRequests: each form in which a command can ask for a host.
func TestRequests(t *testing.T) {
	t.Parallel()
	hosts := []string{"good.example", "*.good.example", "moved.example", "rebind.example", "mixed.example", "six.example", "mapped.example",
		"cgnat.example", "tunnel.example", "nat64.example", "many.example", "zero.example", "ula.example", "empty.example",
		"good.example:8080", "198.51.100.7"}
	const get = " HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n"
	connect := func(to string) string { return "CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n\r\n" }
	for _, row := range []struct {
		send, status string
		asked        string // the name that was looked up; "": none
		refused      string // part of what is told at the end; "": nothing is
	}{
		{"GET http://good.example/a" + get, "200", "good.example", ""},
		{"GET http://GOOD.example./a" + get, "200", "good.example", ""},
		{"GET http://deep.sub.good.example/" + get, "200", "deep.sub.good.example", ""},
		{"GET http://good.example:8080/" + get, "200", "good.example", ""},
		{"GET http://198.51.100.7/" + get, "200", "", ""},
		{connect("good.example:443"), "200", "good.example", ""},
		{connect("good.example:80"), "200", "", ""}, // it is looked up with the first request

		{"GET http://other.example/" + get, "403", "", "other.example:80 was refused"},
		{connect("other.example:443"), "403", "", "other.example:443"},
		{connect("good.example:22"), "403", "", "good.example:22"},
		{connect("good.example.other.example:443"), "403", "", "good.example.other.example"},
		{connect("evilgood.example:443"), "403", "", "evilgood.example"},
		{connect("secret-in-a-name.other.example:443"), "403", "", "secret-in-a-name"},
		{connect("good.example:0"), "403", "", "not a port"},
		{connect("good.example:99999"), "400|403", "", ""},
		{"GET https://good.example/" + get, "400", "", ""},
		{"GET ftp://good.example/" + get, "400", "", ""},
		{"GET /" + get, "400", "", ""},

		{"GET http://2130706433/" + get, "403", "", "unusual form"},
		{"GET http://0x7f000001/" + get, "403", "", "unusual form"},
		{"GET http://0177.0.0.1/" + get, "403", "", "unusual form"},
		{"GET http://127.1/" + get, "403", "", "unusual form"},
		{"GET http://127.0.0.0x1/" + get, "403", "", "unusual form"},
		{"GET http://127.0.0.1./" + get, "403", "", "unusual form"},
		{"GET http://127.0.0.1/" + get, "403", "", "127.0.0.1:80"},
		{"GET http://[::1]/" + get, "403", "", "[::1]:80"},
		{"GET http://[::ffff:127.0.0.1]/" + get, "403", "", "127.0.0.1:80"},
		{"GET http://[::ffff:198.51.100.7]/" + get, "200", "", ""}, // the same address
		{"GET http://[fe80::1%25lo]/" + get, "403", "", "interface"},
		{"GET http://" + far + "/" + get, "403", "", far},
		{"GET http://good。example/" + get, "403", "", "xn--"},
		{"GET http://ｇood.example/" + get, "403", "", "xn--"},
		{"GET http://good.example%00.other.example/" + get, "400|403", "", ""},
		{"GET http://good.example%2eother.example/" + get, "400|403", "", ""},
		{"GET http://good.example@other.example/" + get, "403", "", "other.example"},
		{"GET http://good..example/" + get, "403", "", "not the name of a host"},

		{"GET http://rebind.example/" + get, "403", "rebind.example", "127.0.0.1, which is not an address of the internet"},
		{"GET http://mixed.example/" + get, "403", "mixed.example", "10.0.0.1"},
		{connect("mixed.example:443"), "403", "mixed.example", "10.0.0.1"},
		{"GET http://six.example/" + get, "403", "six.example", "::1"},
		{"GET http://mapped.example/" + get, "403", "mapped.example", "169.254.169.254"},
		{"GET http://cgnat.example/" + get, "403", "cgnat.example", "100.64.0.1"},
		{"GET http://tunnel.example/" + get, "403", "tunnel.example", "2002:"},
		{"GET http://nat64.example/" + get, "403", "nat64.example", "64:ff9b::"},
		{"GET http://many.example/" + get, "403", "many.example", "224.0.0.1"},
		{"GET http://zero.example/" + get, "403", "zero.example", "0.0.0.0"},
		{"GET http://ula.example/" + get, "403", "ula.example", "fd00::1"},
		{"GET http://empty.example/" + get, "502", "empty.example", ""},

		{"GET http://good.example/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400", "", ""},
		{"GET http://good.example/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400", "", ""},
		{"\x16\x03\x01\r\n\r\n", "400", "", ""},
		{"GET http://good.example/ HTTP/1.1\r\nX: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n", "431", "", ""},
	} {
		t.Run(row.send[:min(len(row.send), 60)], func(t *testing.T) {
			t.Parallel()
			n := newInternet(t)
			p, addr := start(t, n, hosts)
			answer := exchange(t, addr, row.send)
			if _, status, _ := strings.Cut(answer, " "); !slices.ContainsFunc(strings.Split(row.status, "|"),
				func(s string) bool { return strings.HasPrefix(status, s) }) {
				t.Errorf("want %s: %s", row.status, answer)
			}
			refused := p.Close()
			n.mu.Lock()
			defer n.mu.Unlock()
			if strings.Join(n.asked, " ") != row.asked {
				t.Errorf("looked up: %q, want %q", n.asked, row.asked)
			}
			if row.status == "403" && len(n.dialed) > 0 {
				t.Errorf("connected to %v", n.dialed)
			}
			if said := fmt.Sprint(refused); row.refused != "" && (len(refused) != 1 || !strings.Contains(refused[0].Error(), row.refused)) {
				t.Errorf("told: %s, want %q", said, row.refused)
			} else if row.refused == "" && row.status[0] != '4' && len(refused) > 0 {
				t.Errorf("told: %s", said)
			}
			if row.status == "403" && row.refused != "" && !strings.Contains(answer, "ask so") {
				t.Errorf("the command is not told how to ask: %s", answer)
			}
		})
	}
}

// exchange sends a text and returns the beginning of the answer: all of it, if the connection is closed after it.
func exchange(t *testing.T, addr, send string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { _, _ = io.WriteString(conn, send) }() // it may be answered before all is sent
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatal(err)
	}
	body := ""
	if resp.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(io.LimitReader(resp.Body, 400))
		body = string(data)
	}
	return "HTTP/1.1 " + resp.Status + "\n" + body
}

// client is a client that goes through the proxy and trusts the internet's authority, and the proxy's if it has one.
func client(t *testing.T, n *internet, p *Proxy, addr string) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(n.ca.cert)
	pool.AppendCertsFromPEM(p.Authorities())
	via := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: addr})}
	t.Cleanup(via.CloseIdleConnections)
	return &http.Client{Transport: via}
}

func body(t *testing.T, c *http.Client, r *http.Request) (string, *http.Response) {
	t.Helper()
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), resp
}

func request(t *testing.T, to string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestHostHeader: what leaves names the host of the URL; in a tunnel another name is refused.
func TestHostHeader(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	_, addr := start(t, n, []string{"good.example", "other.example"})
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for i, row := range []struct {
		send   string
		status int
	}{
		{"GET http://good.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n", 200},
		{"CONNECT good.example:80 HTTP/1.1\r\nHost: good.example:80\r\n\r\n", 200},
		{"GET /in HTTP/1.1\r\nHost: good.example\r\n\r\n", 200},
		{"GET /in HTTP/1.1\r\nHost: other.example\r\n\r\n", 403},
		{"GET http://other.example/in HTTP/1.1\r\nHost: good.example\r\n\r\n", 403},
		{"CONNECT other.example:443 HTTP/1.1\r\nHost: good.example\r\n\r\n", 403},
	} {
		_, _ = io.WriteString(conn, row.send)
		method := http.MethodGet
		if i == 1 {
			method = http.MethodConnect
		}
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil || resp.StatusCode != row.status {
			t.Fatalf("%q: %v %+v", row.send, err, resp)
		}
		if i != 1 {
			data, _ := io.ReadAll(resp.Body)
			if row.status == http.StatusOK && !strings.HasPrefix(string(data), "host good.example path") {
				t.Errorf("%q: %s", row.send, data)
			}
		}
	}
}

// TestRedirect: the command gets the redirect, and the host to which it leads is refused.
func TestRedirect(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	p, addr := start(t, n, []string{"moved.example"})
	got, resp := body(t, client(t, n, p, addr), request(t, "http://moved.example/"))
	if resp.StatusCode != http.StatusForbidden || !strings.Contains(got, "other.example:80 was refused") {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
}

// TestServerName: the name in TLS is the one of the tunnel.
func TestServerName(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	hosts := []string{"good.example", "other.example", far, "good.example:8443"}
	for _, row := range []struct{ to, name, refused string }{
		{"good.example:443", "good.example", ""},
		{"good.example:443", "GOOD.Example", ""},
		{"good.example:443", "other.example", "names another host"},
		{"good.example:443", "", "does not name the host"},
		{far + ":443", "", ""},
		{far + ":443", "good.example", "names another host"},
	} {
		p, addr := start(t, n, hosts)
		conn := dialTunnel(t, addr, row.to)
		secure := tls.Client(conn, &tls.Config{ServerName: row.name, InsecureSkipVerify: true}) //nolint:gosec // whom it names is the question
		err := secure.HandshakeContext(t.Context())
		if refused := fmt.Sprint(p.Close()); (err == nil) != (row.refused == "") || !strings.Contains(refused, row.refused) {
			t.Errorf("%s as %q: %v, told %s", row.to, row.name, err, refused)
		}
		if row.refused != "" && !strings.Contains(fmt.Sprint(err), "unrecognized name") {
			t.Errorf("the client sees %v", err)
		}
		_ = conn.Close()
	}
}

func dialTunnel(t *testing.T, addr, to string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "CONNECT "+to+" HTTP/1.1\r\nHost: "+to+"\r\n\r\n")
	head := make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))
	if _, err := io.ReadFull(conn, head); err != nil || !bytes.HasPrefix(head, []byte("HTTP/1.1 200")) {
		t.Fatalf("%v %s", err, head)
	}
	return conn
}

// TestNotTLS: on port 443 there is TLS or nothing, and a hidden name is refused.
func TestNotTLS(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	p, addr := start(t, n, []string{"good.example"})
	conn := dialTunnel(t, addr, "good.example:443")
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\n\r\n")
	if got, _ := io.ReadAll(conn); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if refused := fmt.Sprint(p.Close()); !strings.Contains(refused, "is not TLS") {
		t.Error(refused)
	}
	p, addr = start(t, n, []string{"good.example"})
	conn = dialTunnel(t, addr, "good.example:443")
	defer conn.Close()
	_, _ = conn.Write(hidden(t, "good.example"))
	if got, _ := io.ReadAll(conn); !bytes.Equal(got, unrecognizedName) {
		t.Errorf("%q", got)
	}
	if refused := fmt.Sprint(p.Close()); !strings.Contains(refused, "hides the name") {
		t.Error(refused)
	}
}

// greetingOf records the first message of a client of TLS.
func greetingOf(t testing.TB, name string) []byte {
	t.Helper()
	var sent bytes.Buffer
	err := tls.Client(&recording{sent: &sent}, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake() //nolint:gosec // not made
	if err == nil || sent.Len() == 0 {
		t.Fatal("nothing was sent")
	}
	return sent.Bytes()
}

type recording struct {
	reading
	sent *bytes.Buffer
}

func (r *recording) Write(b []byte) (int, error) { return r.sent.Write(b) }
func (*recording) Read([]byte) (int, error)      { return 0, io.EOF }

// hidden is a first message with an empty extension for an encrypted one, put behind the others.
func hidden(t testing.TB, name string) []byte {
	t.Helper()
	raw := slices.Clone(greetingOf(t, name))
	raw = append(raw, extensionECH>>8, extensionECH&0xff, 0, 0)
	grow := func(at int) { // a length of two bytes
		n := int(raw[at])<<8 + int(raw[at+1]) + 4
		raw[at], raw[at+1] = byte(n>>8), byte(n)
	}
	grow(3) // of the record
	grow(7) // of the message, whose first byte of three is zero
	at := 5 + 4 + 2 + 32
	at += 1 + int(raw[at])                     // session
	at += 2 + int(raw[at])<<8 + int(raw[at+1]) // ciphers
	at += 1 + int(raw[at])                     // compression
	grow(at)                                   // of the extensions
	return raw
}
