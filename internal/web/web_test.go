package web

import (
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"mycelium/internal/config/pages"
	"mycelium/internal/state"
	"mycelium/internal/web/device"
	"mycelium/internal/web/served"
	"mycelium/internal/web/site"
)

// TestWebGuard: another name, another site, no cookie, and every route has the headers that keep a page to itself.
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
	routes := map[string]int{"/": 303, "/inbox": 303, "/log": 303, "/nothing": 303, "/events": 401, "/api/status": 401, "/api/approvals": 401,
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
			"another Host":      func(r *http.Request) { r.Host = "evil.example:" + s.port },
			"another port":      func(r *http.Request) { r.Host = "127.0.0.1:1" },
			"no port":           func(r *http.Request) { r.Host = "127.0.0.1" },
			"another Origin":    func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
			"an Origin of null": func(r *http.Request) { r.Header.Set("Origin", "null") },
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
			t.Errorf("POST %s without a cookie: %d", path, r.StatusCode)
		}
	}
	if r := do("POST", "/sign-in", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); r.StatusCode != 403 {
		t.Errorf("a form of another site: %d", r.StatusCode)
	}
	part := do("GET", "/inbox", func(r *http.Request) { r.Header.Set("HX-Request", "true") })
	if r := part; r.StatusCode != 401 || r.Header.Get("HX-Redirect") != "/sign-in" {
		t.Errorf("a part of a page without a cookie: %d %v", r.StatusCode, r.Header)
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

// browser is a client with cookies that follows no redirect.
func browser(t *testing.T) *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// TestWebSignIn: a link is good once and looking at it does not use it up; the cookie is bound to this server; a revoked device is out;
// failures in a row lock the sign-in.
func TestWebSignIn(t *testing.T) {
	t.Parallel()
	s := testServer(t)
	served := make(chan error, 1)
	go func() { served <- s.Run(t.Context()) }()
	base := "http://" + s.Note().Addr
	link, err := Link(s.site.Root, s.Note().Addr)
	if err != nil {
		t.Fatal(err)
	}
	secret := link[strings.LastIndex(link, "=")+1:]
	b := browser(t)
	get := func(path string) (int, string) {
		r, err := b.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(text)
	}
	for range 2 {
		if code, text := get(strings.TrimPrefix(link, base)); code != 200 || !strings.Contains(text, secret) {
			t.Fatalf("the page of the link: %d\n%s", code, text)
		}
	}
	post := func(c *http.Client, secret string) *http.Response {
		r, err := c.PostForm(base+"/sign-in", url.Values{"link": {secret}})
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		return r
	}
	r := post(b, secret)
	if r.StatusCode != 303 || r.Header.Get("Location") != "/inbox" || len(r.Cookies()) != 1 {
		t.Fatalf("sign-in: %d %v", r.StatusCode, r.Header)
	}
	if c := r.Cookies()[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Name != "mycelium-pages-"+s.port {
		t.Errorf("cookie %+v", c)
	}
	if code, text := get("/inbox"); code != 200 || !strings.Contains(text, "No daemon runs") {
		t.Errorf("inbox: %d\n%s", code, text)
	}
	if kept, err := os.ReadFile(s.site.Root.Pages() + "/devices.json"); err != nil || strings.Contains(string(kept), secret) ||
		strings.Contains(string(kept), r.Cookies()[0].Value) {
		t.Errorf("what is kept: %s, %v", kept, err)
	}
	list, err := s.devices.List()
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if err := s.devices.Revoke(list[0].ID); err != nil {
		t.Fatal(err)
	}
	if code, _ := get("/inbox"); code != 303 {
		t.Errorf("a revoked device: %d", code)
	}
	for i := range 6 {
		want := 403
		if i == 5 {
			want = 429
		}
		if r := post(browser(t), secret); r.StatusCode != want || len(r.Cookies()) > 0 {
			t.Errorf("sign-in %d with a link that was used: %d", i, r.StatusCode)
		}
	}
	if fresh, err := s.devices.NewLink(s.Note().Addr); err != nil || post(browser(t), fresh).StatusCode != 429 {
		t.Errorf("the sign-in is not locked: %v", err)
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
	if _, _, err := b.SignIn("127.0.0.1:3456", late, "x"); !errors.Is(err, device.ErrLink) {
		t.Errorf("a link after its minute: %v", err)
	}
	if _, _, err := b.SignIn("127.0.0.1:1", link(), "x"); !errors.Is(err, device.ErrLink) {
		t.Errorf("a link for another address: %v", err)
	}
	d, cookie, err := b.SignIn("127.0.0.1:3456", link(), "a\u202eb")
	if err != nil || d.Name != `a\u202eb` {
		t.Fatal(d, err)
	}
	for value, want := range map[string]error{cookie: nil, d.ID + ".x": device.ErrCookie, d.ID: device.ErrCookie, "": device.ErrCookie} {
		if _, err := b.Who(value); !errors.Is(err, want) {
			t.Errorf("cookie %q: %v", value, err)
		}
	}
	now = now.Add(device.Life)
	if _, err := b.Who(cookie); !errors.Is(err, device.ErrCookie) {
		t.Errorf("a device after its time: %v", err)
	}
}
