package web

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/config/pages"
	"mycelium/internal/state"
	"mycelium/internal/web/certificate"
	"mycelium/internal/web/served"
	"mycelium/internal/web/site"
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

// TestWebTLS: with a certificate of ours the server speaks TLS only, its cookie is sent over TLS only, the certificate is the one whose
// fingerprint the server tells, and it stays the same.
func TestWebTLS(t *testing.T) {
	t.Parallel()
	s := openServer(t, pages.Section{Addr: "127.0.0.1:0", Cert: pages.OwnCertificate}, site.Options{})
	go func() { _ = s.Run(t.Context()) }()
	n := s.Note()
	if n.Base != "https://"+s.Note().Addr || len(n.Fingerprint) != 64 || n.Phone != "" {
		t.Errorf("the note is %+v", n)
	}
	b := browser(t)
	b.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, //nolint:gosec // the fingerprint is compared
		VerifyConnection: func(c tls.ConnectionState) error {
			if got := certificate.Fingerprint(tls.Certificate{Certificate: [][]byte{c.PeerCertificates[0].Raw}}); got != n.Fingerprint {
				return errors.New("another certificate: " + got)
			}
			return c.PeerCertificates[0].VerifyHostname("127.0.0.1")
		}}}
	link, err := Link(s.site.Root, s.Note().Addr)
	if err != nil || !strings.HasPrefix(link, n.Base+"/sign-in?link=") {
		t.Fatal(link, err)
	}
	r, err := b.PostForm(n.Base+"/sign-in", url.Values{"link": {link[strings.LastIndex(link, "=")+1:]}})
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusSeeOther || len(r.Cookies()) != 1 {
		t.Fatalf("sign-in: %d %v", r.StatusCode, r.Header)
	}
	if c := r.Cookies()[0]; !c.Secure || c.Name != "__Host-mycelium-pages-"+s.port || c.Path != "/" || c.Domain != "" {
		t.Errorf("cookie %+v", c)
	}
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
	if n := s.Note(); n.Phone != "https://pages.example.org" || n.Base != "http://127.0.0.1:"+s.port {
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
// of the site that the browser sees, and the cookie goes over TLS only.
func TestWebPeers(t *testing.T) {
	t.Parallel()
	var recorded []string
	s := openServer(t, pages.Section{Addr: "127.0.0.1:0", TrustedProxies: []string{"127.0.0.1"}, Hosts: []string{"pages.example.org"}},
		site.Options{Record: func(_ context.Context, act any, _ string) error {
			sign := act.(Sign)
			recorded = append(recorded, sign.Act+" from "+sign.Peer)
			return nil
		}})
	post := func(peer, secret string) *http.Response {
		r := httptest.NewRequest(http.MethodPost, "/sign-in", strings.NewReader(url.Values{"link": {secret}}.Encode()))
		r.RemoteAddr, r.Host = "127.0.0.1:9", s.Note().Addr
		for k, v := range map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Origin": "https://pages.example.org",
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
	if r.StatusCode != http.StatusSeeOther || len(r.Cookies()) != 1 || !r.Cookies()[0].Secure {
		t.Errorf("another one with a good link: %d %v", r.StatusCode, r.Cookies())
	}
	if n := len(recorded); n != 6 || recorded[0] != "browser sign-in refused from 203.0.113.9" ||
		recorded[5] != "browser sign-in from 203.0.113.10" {
		t.Errorf("recorded: %q", recorded)
	}
}

// TestWebPairPage: the link of a QR code leads to the question whether to sign in, and looking at it does not use it up.
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
		if text := w.Body.String(); w.Code != 200 || !strings.Contains(text, `value="`+secret+`"`) ||
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
	r := httptest.NewRequest(http.MethodPost, "/sign-in", strings.NewReader(url.Values{"link": {secret}}.Encode()))
	r.Host = s.Note().Addr
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	body, _ := io.ReadAll(w.Body)
	if list, err := s.devices.List(); w.Code != http.StatusServiceUnavailable || len(w.Result().Cookies()) > 0 || len(list) > 0 ||
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
	if n, runs, err := served.Look(root); !runs || err != nil || n.Problem != "" || n.Base != "http://"+s.Note().Addr {
		t.Errorf("%+v %v %v", n, runs, err)
	}
}
