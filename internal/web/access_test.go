package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/config/pages"
	"mycelium/internal/state"
	"mycelium/internal/web/certificate"
	"mycelium/internal/web/served"
	"mycelium/internal/web/signature"
	"mycelium/internal/web/site"
	"mycelium/internal/web/webtest"
)

// openServer opens a server as a section says.
func openServer(t *testing.T, conf pages.Section, o site.Options) *Server {
	t.Helper()
	if o.Root == "" {
		o.Root = state.Root(t.TempDir())
	}
	s, err := Open(t.Context(), conf, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestWebTLS: with a certificate of ours the server speaks TLS only, requests are signed for the address with https, the certificate is the one whose
// fingerprint the server tells, and it stays the same.
func TestWebTLS(t *testing.T) {
	t.Parallel()
	s := openServer(t, pages.Section{Addr: "127.0.0.1:0", Cert: pages.OwnCertificate}, site.Options{})
	go func() { _ = s.Run(t.Context()) }()
	n := s.Note()
	if n.Base != "https://"+s.local+":"+s.port || len(n.Fingerprint) != 64 || n.Phone != "" {
		t.Errorf("the note is %+v", n)
	}
	through := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.Note().Addr) // names below localhost are for browsers to find
	}, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, //nolint:gosec // the fingerprint is compared
		VerifyConnection: func(c tls.ConnectionState) error {
			if got := certificate.Fingerprint(tls.Certificate{Certificate: [][]byte{c.PeerCertificates[0].Raw}}); got != n.Fingerprint {
				return errors.New("another certificate: " + got)
			}
			return errors.Join(c.PeerCertificates[0].VerifyHostname("127.0.0.1"), c.PeerCertificates[0].VerifyHostname(s.local))
		}}}
	link, err := Link(s.site.Root, s.Note().Addr)
	if err != nil || !strings.HasPrefix(link, n.Base+"/sign-in#link=") {
		t.Fatal(link, err)
	}
	b, _ := webtest.SignIn(t, n.Base, link[strings.LastIndex(link, "=")+1:], through)
	if r, err := b.Get(n.Base + "/inbox"); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("signed in: %v %v", r, err)
	}
	if r, err := http.Get("http://" + s.Note().Addr + "/health"); err != nil || r.StatusCode != http.StatusBadRequest {
		t.Errorf("without TLS: %v %v", r, err)
	}
	st, err := os.Stat(filepath.Join(s.site.Root.Pages(), "tls.pem"))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v %v", st, err)
	}
	s.Close()
	again := openServer(t, pages.Section{Addr: "127.0.0.1:0", Cert: pages.OwnCertificate}, site.Options{Root: s.site.Root})
	if again.Note().Fingerprint != n.Fingerprint {
		t.Error("the certificate is another one after a restart")
	}
}

// TestWebProxy: a proxy that the file names says from where a browser came and under which name, and over https only; nobody else is
// believed.
func TestWebProxy(t *testing.T) {
	t.Parallel()
	s := openServer(t, pages.Section{Addr: "0.0.0.0:0", TrustedProxies: []string{"192.0.2.0/24", "198.51.100.7"},
		Hosts: []string{"pages.example.org"}}, site.Options{})
	if n := s.Note(); n.Phone != "https://pages.example.org" || n.Base != "http://"+s.local+":"+s.port {
		t.Errorf("the note is %+v", n)
	}
	type header = map[string]string
	proxied := func(more header) header {
		out := header{"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "pages.example.org"}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	for name, c := range map[string]struct {
		from   string
		host   string
		header header
		want   int
	}{
		"a browser behind the proxy":       {"192.0.2.1:9", "inside:1", proxied(nil), 200},
		"the proxy keeps the Host":         {"192.0.2.1:9", "pages.example.org", proxied(header{"X-Forwarded-Host": ""}), 200},
		"its page":                         {"192.0.2.1:9", "x", proxied(header{"Origin": "https://pages.example.org"}), 200},
		"two proxies":                      {"192.0.2.1:9", "x", proxied(header{"X-Forwarded-For": "203.0.113.9, 198.51.100.7"}), 200},
		"another name":                     {"192.0.2.1:9", "x", proxied(header{"X-Forwarded-Host": "evil.example"}), 403},
		"another site":                     {"192.0.2.1:9", "x", proxied(header{"Origin": "https://evil.example"}), 403},
		"the site without TLS":             {"192.0.2.1:9", "x", proxied(header{"Origin": "http://pages.example.org"}), 403},
		"a browser without TLS":            {"192.0.2.1:9", "x", proxied(header{"X-Forwarded-Proto": "http"}), 403},
		"no word of TLS":                   {"192.0.2.1:9", "x", proxied(header{"X-Forwarded-Proto": ""}), 403},
		"no word of where it came from":    {"192.0.2.1:9", "x", proxied(header{"X-Forwarded-For": ""}), 403},
		"nonsense where it came from":      {"192.0.2.1:9", "x", proxied(header{"X-Forwarded-For": "unknown"}), 403},
		"somebody who says to be a proxy":  {"203.0.113.5:9", "pages.example.org", proxied(nil), 403},
		"somebody without a proxy":         {"203.0.113.5:9", "pages.example.org:" + s.port, nil, 403},
		"a proxy that says nothing":        {"192.0.2.1:9", "127.0.0.1:" + s.port, nil, 403},
		"this machine":                     {"127.0.0.1:9", "127.0.0.1:" + s.port, nil, 200},
		"this machine, and a foreign name": {"127.0.0.1:9", "evil.example:" + s.port, nil, 403},
		"this machine says to be a proxy":  {"127.0.0.1:9", "evil.example", proxied(nil), 403},
	} {
		r := httptest.NewRequest(http.MethodGet, "/health", nil)
		r.RemoteAddr, r.Host = c.from, c.host
		for k, v := range c.header {
			if v != "" {
				r.Header.Set(k, v)
			}
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: %d, want %d: %s", name, w.Code, c.want, w.Body)
		}
	}
}

// TestWebPeers: whoever fails to sign in is locked out by its own address, which a proxy tells; others are not. Behind the proxy a form is
// of the site that the browser sees, and what is signed is the address that the browser sees.
func TestWebPeers(t *testing.T) {
	t.Parallel()
	var recorded []string
	s := openServer(t, pages.Section{Addr: "127.0.0.1:0", TrustedProxies: []string{"127.0.0.1"}, Hosts: []string{"pages.example.org"}},
		site.Options{Record: func(_ context.Context, act any, _ string) error {
			sign := act.(Sign)
			recorded = append(recorded, sign.Act+" from "+sign.Peer)
			return nil
		}})
	private, public, err := signature.NewPrivate()
	if err != nil {
		t.Fatal(err)
	}
	post := func(peer, secret string) *http.Response {
		r := httptest.NewRequest(http.MethodPost, "/sign-in", signInOf(t, secret, public))
		r.RemoteAddr, r.Host = "127.0.0.1:9", s.Note().Addr
		for k, v := range map[string]string{"Content-Type": "application/json", "Origin": "https://pages.example.org",
			"X-Forwarded-For": peer, "X-Forwarded-Proto": "https", "X-Forwarded-Host": "pages.example.org"} {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w.Result()
	}
	for i, want := range []int{403, 403, 403, 403, 403, 429} {
		if r := post("203.0.113.9", "x"); r.StatusCode != want {
			t.Errorf("failure %d: %d", i, r.StatusCode)
		}
	}
	link, err := PairLink(s.site.Root, s.Note())
	if err != nil || strings.ToUpper(link) != link || !strings.HasPrefix(link, "HTTPS://PAGES.EXAMPLE.ORG/P/") {
		t.Fatal(link, err)
	}
	secret := link[strings.LastIndex(link, "/")+1:]
	if r := post("203.0.113.9", secret); r.StatusCode != http.StatusTooManyRequests {
		t.Errorf("who is locked out has a good link: %d", r.StatusCode)
	}
	r := post("203.0.113.10", secret)
	var got struct {
		Device string `json:"device"`
	}
	if err := json.UnmarshalRead(r.Body, &got); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("another one with a good link: %d %v", r.StatusCode, err)
	}
	for origin, want := range map[string]int{"https://pages.example.org": 200, "http://pages.example.org": 401, "http://" + s.addr: 401} {
		r := httptest.NewRequest(http.MethodGet, origin+"/inbox", nil)
		if err := (signature.Key{Device: got.Device, Private: private}).Sign(r, s.checker.Run, nil, time.Now()); err != nil {
			t.Fatal(err)
		}
		r.RemoteAddr, r.Host = "127.0.0.1:9", s.addr
		for k, v := range map[string]string{"X-Forwarded-For": "203.0.113.10", "X-Forwarded-Proto": "https",
			"X-Forwarded-Host": "pages.example.org"} {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		if s.Handler().ServeHTTP(w, r); w.Code != want {
			t.Errorf("behind the proxy, signed for %s: %d, want %d", origin, w.Code, want)
		}
	}
	if n := len(recorded); n != 6 || recorded[0] != "browser sign-in refused from 203.0.113.9" ||
		recorded[5] != "browser sign-in from 203.0.113.10" {
		t.Errorf("recorded: %q", recorded)
	}
}

// TestWebPairPage: the link of a QR code leads to the shell, which does not use it up.
func TestWebPairPage(t *testing.T) {
	t.Parallel()
	s := testServer(t)
	secret, err := s.devices.NewLink(s.Note().Addr)
	if err != nil || strings.Trim(secret, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		t.Fatal(secret, err)
	}
	for range 2 {
		r := httptest.NewRequest(http.MethodGet, "/P/"+secret+"/0123ABCD", nil)
		r.Host = s.Note().Addr
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if text := w.Body.String(); w.Code != 200 || strings.Contains(text, secret) ||
			!strings.Contains(text, "Sign in this browser") {
			t.Errorf("%d %s", w.Code, text)
		}
	}
}

// TestWebUnrecorded: a sign-in that cannot be recorded is refused, and leaves no device.
func TestWebUnrecorded(t *testing.T) {
	t.Parallel()
	s := openServer(t, pages.Section{Addr: "127.0.0.1:0"},
		site.Options{Record: func(context.Context, any, string) error { return errors.New("the log is damaged") }})
	secret, err := s.devices.NewLink(s.Note().Addr)
	if err != nil {
		t.Fatal(err)
	}
	_, public, err := signature.NewPrivate()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/sign-in", signInOf(t, secret, public))
	r.Host = s.Note().Addr
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	body, _ := io.ReadAll(w.Body)
	if list, err := s.devices.List(); w.Code != http.StatusServiceUnavailable || len(list) > 0 ||
		err != nil || !strings.Contains(string(body), "the log is damaged") {
		t.Errorf("%d %v %v %s", w.Code, list, err, body)
	}
}

// TestWebCannotListen: an address that another program has is told to those who ask where the pages are, until a server runs.
func TestWebCannotListen(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	root := state.Root(t.TempDir())
	addr := strings.TrimPrefix(other.URL, "http://")
	if _, err := Open(t.Context(), pages.Section{Addr: addr}, site.Options{Root: root}); err == nil {
		t.Fatal("it listens where another program does")
	}
	if n, runs, err := served.Look(root); runs || err != nil || !strings.Contains(n.Problem, addr) {
		t.Errorf("%+v %v %v", n, runs, err)
	}
	s, err := Open(t.Context(), pages.Section{Addr: "127.0.0.1:0"}, site.Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n, runs, err := served.Look(root); !runs || err != nil || n.Problem != "" || n.Base != "http://"+s.local+":"+s.port {
		t.Errorf("%+v %v %v", n, runs, err)
	}
}

// signInOf is what a browser sends to sign in.
func signInOf(t *testing.T, secret string, public []byte) *bytes.Reader {
	t.Helper()
	b, err := json.Marshal(map[string]any{"link": secret, "key": public})
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b)
}
