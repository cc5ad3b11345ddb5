package web

import (
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"mycelium/internal/config/pages"
	"mycelium/internal/state"
	"mycelium/internal/web/device"
	"mycelium/internal/web/served"
	"mycelium/internal/web/signature"
	"mycelium/internal/web/site"
	"mycelium/internal/web/webtest"
)

// TestWebGuard: another name, another site, no signature, and every route has the headers that keep a page to itself.
func TestWebGuard(t *testing.T) {
	t.Parallel()
	s := testServer(t)
	do := func(method, path string, change func(r *http.Request)) *http.Response {
		r := httptest.NewRequest(method, path, nil)
		r.Host = s.Note().Addr
		if change != nil {
			change(r)
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w.Result()
	}
	routes := map[string]int{"/": 401, "/inbox": 401, "/log": 401, "/nothing": 401, "/events": 401, "/api/status": 401, "/api/approvals": 401,
		"/api/nothing": 401, "/health": 200, "/sign-in": 200, "/assets/pages.css": 200, "/assets/nothing.css": 404, "/assets/..%2fweb.go": 404}
	for path, want := range routes {
		r := do("GET", path, nil)
		if r.StatusCode != want {
			t.Errorf("GET %s: %d, want %d", path, r.StatusCode, want)
		}
		if csp := r.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; ") || strings.Contains(csp, "unsafe") ||
			!strings.Contains(csp, "frame-ancestors 'none'") || r.Header.Get("X-Content-Type-Options") != "nosniff" ||
			r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("GET %s: headers %v", path, r.Header)
		}
		for what, change := range map[string]func(r *http.Request){
			"a worker of its own": func(r *http.Request) { r.Header.Set("Service-Worker", "script") },
			"another Host":        func(r *http.Request) { r.Host = "evil.example:" + s.port },
			"another port":        func(r *http.Request) { r.Host = "127.0.0.1:1" },
			"no port":             func(r *http.Request) { r.Host = "127.0.0.1" },
			"another Origin":      func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
			"an Origin of null":   func(r *http.Request) { r.Header.Set("Origin", "null") },
			"a port beside ours": func(r *http.Request) {
				r.Header.Set("Origin", "http://127.0.0.1:1")
			},
		} {
			if r := do("GET", path, change); r.StatusCode != 403 {
				t.Errorf("GET %s with %s: %d", path, what, r.StatusCode)
			}
		}
	}
	for _, path := range []string{"/inbox/a/b", "/sign-out"} {
		if r := do("POST", path, nil); r.StatusCode != 401 {
			t.Errorf("POST %s without a signature: %d", path, r.StatusCode)
		}
	}
	if r := do("GET", "/sw.js", func(r *http.Request) { r.Header.Set("Service-Worker", "script") }); r.StatusCode != 200 {
		t.Errorf("the worker of the pages: %d", r.StatusCode)
	}
	for _, cookie := range []string{"mycelium-pages-" + s.port, "__Host-mycelium-pages-" + s.port} {
		r := do("GET", "/inbox", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie, Value: "d-a.secret"}) })
		if r.StatusCode != 401 || len(r.Cookies()) != 1 || r.Cookies()[0].Name != cookie || r.Cookies()[0].MaxAge >= 0 {
			t.Errorf("a cookie of before: %d %v", r.StatusCode, r.Cookies())
		}
	}
	if r := do("POST", "/sign-in", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); r.StatusCode != 403 {
		t.Errorf("a form of another site: %d", r.StatusCode)
	}
	part := do("GET", "/inbox", func(r *http.Request) { r.Header.Set("HX-Request", "true") })
	if r := part; r.StatusCode != 401 || r.Header.Get("HX-Redirect") != "/sign-in" {
		t.Errorf("a part of a page without a signature: %d %v", r.StatusCode, r.Header)
	}
	if r := do("GET", "/health", func(r *http.Request) { r.Host = "LOCALHOST:" + s.port }); r.StatusCode != 200 {
		t.Errorf("localhost: %d", r.StatusCode)
	}
}

// TestWebBeyondLoopback: the server does not start where others could listen on the way.
func TestWebBeyondLoopback(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:3456", ":3456", "192.168.1.2:3456", "[::]:3456", "example.com:3456", "127.0.0.1:x", "3456", ""} {
		if s, err := Open(t.Context(), pages.Section{Addr: addr}, site.Options{Root: state.Root(t.TempDir())}); err == nil {
			s.Close()
			t.Errorf("it listens on %q", addr)
		}
	}
}

// TestWebOneServer: a second server of the user is refused, and the first is found.
func TestWebOneServer(t *testing.T) {
	t.Parallel()
	s := testServer(t)
	if _, err := Open(t.Context(), pages.Section{Addr: "127.0.0.1:0"}, site.Options{Root: s.site.Root}); !errors.Is(err, ErrRuns) {
		t.Errorf("a second server: %v", err)
	}
	if n, runs, err := served.Look(s.site.Root); !runs || n.Addr != s.Note().Addr || err != nil {
		t.Errorf("the first is at %q (runs: %t), %v", n.Addr, runs, err)
	}
	s.Close()
	if n, runs, err := served.Look(s.site.Root); runs || err != nil {
		t.Errorf("after its end it is at %q, %v", n.Addr, err)
	}
}

// TestWebSignIn: a link is good once and looking at it does not use it up; only the public key of a device is kept; what is signed by
// nobody, by a device for another address, or by a device that is revoked shows nothing; failures in a row lock the sign-in.
func TestWebSignIn(t *testing.T) {
	t.Parallel()
	s := testServer(t)
	served := make(chan error, 1)
	go func() { served <- s.Run(t.Context()) }()
	base := "http://" + s.Note().Addr
	link, err := Link(s.site.Root, s.Note().Addr)
	if err != nil || !strings.HasPrefix(link, s.Note().Base+"/sign-in#link=") {
		t.Fatal(link, err)
	}
	secret := link[strings.LastIndex(link, "=")+1:]
	get := func(c *http.Client, path string, header ...string) (int, string) {
		r, err := http.NewRequest(http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		got, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		text, _ := io.ReadAll(got.Body)
		return got.StatusCode, string(text)
	}
	for range 2 {
		if code, text := get(http.DefaultClient, "/sign-in"); code != 200 || !strings.Contains(text, "Sign in this browser") {
			t.Fatalf("the page of the link: %d\n%s", code, text)
		}
	}
	for path, header := range map[string][]string{"/inbox": {"Sec-Fetch-Mode", "navigate"}, "/": {"Accept", "text/html"}} {
		if code, text := get(http.DefaultClient, path, header...); code != 200 || !strings.Contains(text, `id="shell"`) ||
			strings.Contains(text, "No daemon runs") {
			t.Errorf("a page for nobody: %d\n%s", code, text)
		}
	}
	b, key := webtest.SignIn(t, base, secret, nil)
	if code, text := get(b, "/inbox"); code != 200 || !strings.Contains(text, "No daemon runs") {
		t.Errorf("inbox: %d\n%s", code, text)
	}
	for _, site := range []string{"cross-site", "same-site", "none"} {
		if code, _ := get(b, "/inbox", "Sec-Fetch-Site", site); code != 401 {
			t.Errorf("signed, and from %s: %d", site, code)
		}
	}
	elsewhere := httptest.NewRequest(http.MethodGet, "http://localhost:"+s.port+"/inbox", nil)
	if err := key.Sign(elsewhere, s.checker.Run, nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	elsewhere.Host = s.Note().Addr
	w := httptest.NewRecorder()
	if s.Handler().ServeHTTP(w, elsewhere); w.Code != 401 {
		t.Errorf("what was signed for localhost is taken at 127.0.0.1: %d", w.Code)
	}
	private, err := x509.MarshalECPrivateKey(key.Private)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(s.site.Root.Pages() + "/devices.json")
	if err != nil || strings.Contains(string(kept), secret) || strings.Contains(string(kept), base64.StdEncoding.EncodeToString(private[7:39])) {
		t.Errorf("what is kept: %s, %v", kept, err)
	}
	if err := s.devices.Revoke(key.Device); err != nil {
		t.Fatal(err)
	}
	if code, _ := get(b, "/inbox"); code != 401 {
		t.Errorf("a revoked device: %d", code)
	}
	for i := range 6 {
		want := 403
		if i == 5 {
			want = 429
		}
		if code, _, _ := webtest.TrySignIn(t, base, secret, nil); code != want {
			t.Errorf("sign-in %d with a link that was used: %d", i, code)
		}
	}
	fresh, err := s.devices.NewLink(s.Note().Addr)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, _ := webtest.TrySignIn(t, base, fresh, nil); code != 429 {
		t.Errorf("the sign-in is not locked: %d", code)
	}
}

// TestWebDevices: a link ends after its minute and is good for one address; a device ends after its time.
func TestWebDevices(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	b := device.Open(state.Root(t.TempDir()), func() time.Time { return now })
	link := func() string {
		secret, err := b.NewLink("127.0.0.1:3456")
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	late := link()
	now = now.Add(device.LinkLife)
	_, key, err := signature.NewPrivate()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.SignIn("127.0.0.1:3456", late, "x", key); !errors.Is(err, device.ErrLink) {
		t.Errorf("a link after its minute: %v", err)
	}
	if _, err := b.SignIn("127.0.0.1:1", link(), "x", key); !errors.Is(err, device.ErrLink) {
		t.Errorf("a link for another address: %v", err)
	}
	if _, err := b.SignIn("127.0.0.1:3456", link(), "x", key[1:]); err == nil {
		t.Error("something else than a key is taken")
	}
	d, err := b.SignIn("127.0.0.1:3456", link(), "a\u202eb", key)
	if err != nil || d.Name != `a\u202eb` {
		t.Fatal(d, err)
	}
	if _, err := b.SignIn("127.0.0.1:3456", link(), "x", key); err == nil {
		t.Error("two devices have one key")
	}
	for id, want := range map[string]error{d.ID: nil, d.ID + "x": device.ErrOut, "": device.ErrOut} {
		if _, err := b.Find(id); !errors.Is(err, want) {
			t.Errorf("device %q: %v", id, err)
		}
	}
	now = now.Add(device.Life)
	if _, err := b.Find(d.ID); !errors.Is(err, device.ErrOut) {
		t.Errorf("a device after its time: %v", err)
	}
}

// TestWebOldDevices: a device of before there were keys is signed in no more, and its file is read.
func TestWebOldDevices(t *testing.T) {
	t.Parallel()
	root := state.Root(t.TempDir())
	if err := os.MkdirAll(root.Pages(), 0o700); err != nil {
		t.Fatal(err)
	}
	old := `{"devices":[{"id":"d-old","name":"x","digest":"00","created":"2026-11-26T12:00:00Z","seen":"2026-11-26T12:00:00Z",` +
		`"expires":"2126-11-26T12:00:00Z"}]}`
	if err := os.WriteFile(root.Pages()+"/devices.json", []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	b := device.Open(root, nil)
	if list, err := b.List(); len(list) > 0 || err != nil {
		t.Errorf("%v %v", list, err)
	}
	if _, err := b.Find("d-old"); !errors.Is(err, device.ErrOut) {
		t.Error(err)
	}
	name, err := b.Host()
	if again, err2 := b.Host(); err != nil || err2 != nil || name != again || !strings.HasPrefix(name, "myc-") ||
		!strings.HasSuffix(name, ".localhost") {
		t.Errorf("the name is %q and then %q: %v %v", name, again, err, err2)
	}
}

// TestWebBothFamilies: no other program can listen at the port of the pages, at neither of the addresses at which a browser looks for a
// name below localhost; and where another one does, the pages do not begin.
func TestWebBothFamilies(t *testing.T) {
	t.Parallel()
	s := testServer(t)
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("this machine has no IPv6")
	} else {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		if other, err := Open(t.Context(), pages.Section{Addr: "127.0.0.1:" + port}, site.Options{Root: state.Root(t.TempDir())}); err == nil {
			other.Close()
			t.Error("the pages begin beside another program at ::1")
		}
		_ = l.Close()
	}
	go func() { _ = s.Run(t.Context()) }()
	for _, host := range []string{"127.0.0.1", "::1"} {
		if l, err := net.Listen("tcp", net.JoinHostPort(host, s.port)); err == nil {
			_ = l.Close()
			t.Errorf("another program listens at %s", l.Addr())
		}
		if r, err := http.Get("http://" + net.JoinHostPort(host, s.port) + "/health"); err != nil || r.StatusCode != http.StatusOK {
			t.Errorf("at %s: %v %v", host, r, err)
		}
	}
}
