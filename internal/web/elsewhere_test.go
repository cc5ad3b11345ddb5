package web

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	window "mycelium/internal/web/webtest/browser"
)

// stranger is a server of another program at another port of this machine. It keeps what browsers send it.
type stranger struct {
	mu   sync.Mutex
	seen []*http.Request
}

func (o *stranger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.seen = append(o.seen, r)
	o.mu.Unlock()
	switch r.URL.Path {
	case "/redirect":
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	case "/sw.js":
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = fmt.Fprint(w, `self.addEventListener("install", () => self.skipWaiting());
			self.addEventListener("activate", (e) => e.waitUntil(self.clients.claim()));
			self.addEventListener("fetch", (e) => e.respondWith(new Response("taken over")));`)
	default:
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Service-Worker-Allowed", "/")
		_, _ = fmt.Fprint(w, `<!DOCTYPE html><title>Elsewhere</title><p id="elsewhere">A page of another program</p>`)
	}
}

// TestWebOtherPort: a page of another port of this machine, under each name of the machine and under the name of the pages, gets nothing
// from a browser that is signed in with which anything can be read, answered or changed, and reaches nothing through the browser.
func TestWebOtherPort(t *testing.T) {
	t.Parallel()
	s := testServer(t)
	served := make(chan error, 1)
	go func() { served <- s.Run(t.Context()) }()
	t.Cleanup(func() { <-served })
	other := &stranger{}
	l, err := listenBoth(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := &httptest.Server{Listener: l, Config: &http.Server{Handler: other}}
	elsewhere.Start()
	t.Cleanup(elsewhere.Close)
	_, port, _ := net.SplitHostPort(l.Addr().String())

	base := s.Note().Base
	b := window.Open(t, base)
	b.Tolerate("") // the other page does what browsers refuse, and say
	link, err := Link(s.site.Root, s.addr)
	if err != nil {
		t.Fatal(err)
	}
	b.SignIn(link)
	signedIn := func(after string) {
		t.Helper()
		b.Visit("/inbox")
		b.WaitText("main", "No daemon runs")
		if got := window.Eval[string](b, `document.cookie`); got != "" {
			t.Errorf("after %s: the cookie is %q", after, got)
		}
		if list, err := s.devices.List(); len(list) != 1 || err != nil {
			t.Fatalf("after %s: devices %v, %v", after, list, err)
		}
	}
	signedIn("the sign-in")
	if got := window.Eval[string](b, `(async () => { const own = await ownKey.device();
		return crypto.subtle.exportKey("pkcs8", own.key).then(() => "given away", (e) => e.name) + " " + own.key.extractable; })()`); got == "" ||
		strings.Contains(got, "given away") || !strings.Contains(window.Eval[string](b, `(async () =>
		String((await ownKey.device()).key.extractable))()`), "false") {
		t.Errorf("the key: %s", got)
	}

	for _, host := range []string{"127.0.0.1", "localhost", s.local} {
		at := "http://" + net.JoinHostPort(host, port)
		b.Visit(at + "/")
		b.Wait("#elsewhere")
		for what, c := range map[string]struct{ script, want string }{
			"a fetch with credentials": {`fetch(BASE + "/inbox", { credentials: "include" }).then((r) => r.text(), () => "refused")`, "refused"},
			"a fetch of the API":       {`fetch(BASE + "/api/status", { credentials: "include" }).then((r) => r.text(), () => "refused")`, "refused"},
			"a fetch that looks at nothing": {`fetch(BASE + "/inbox", { credentials: "include", mode: "no-cors" })
				.then((r) => r.type + r.status, () => "refused")`, "refused"},
			"an act by fetch": {`fetch(BASE + "/sign-out", { method: "POST", credentials: "include", mode: "no-cors" })
				.then((r) => r.type + r.status, () => "refused")`, "refused"},
			"a sign-in by fetch": {`fetch(BASE + "/sign-in", { method: "POST", body: "{}", headers: { "Content-Type": "application/json" } })
				.then((r) => "" + r.status, () => "refused")`, "refused"},
			"a script": {`new Promise((done) => { const e = document.createElement("script"); e.src = BASE + "/inbox";
				e.onload = () => done("loaded"); e.onerror = () => done("refused"); document.head.append(e); })`, "refused"},
			"a frame": {`new Promise((done) => { const e = document.createElement("iframe"); e.src = BASE + "/inbox";
				e.onload = () => { let seen = "refused"; try { seen = e.contentWindow.document.body.innerText || "refused"; } catch { }
					done(seen); }; document.body.append(e); })`, "refused"},
			"the worker of the pages": {`navigator.serviceWorker.register(BASE + "/sw.js", { scope: BASE + "/" })
				.then(() => "registered", () => "refused")`, "refused"},
			"the key": {`new Promise((done) => { const q = indexedDB.open("mycelium"); q.onsuccess = () =>
				done(q.result.objectStoreNames.length ? "found" : "refused"); q.onerror = () => done("refused"); })`, "refused"},
			"a stream": {`new Promise((done) => { const e = new EventSource(BASE + "/events", { withCredentials: true });
				e.onopen = () => done("open"); e.onerror = () => { e.close(); done("refused"); }; })`, "refused"},
		} {
			script := strings.ReplaceAll(c.script, "BASE", fmt.Sprintf("%q", base))
			if got := window.Eval[string](b, script); got != c.want {
				t.Errorf("%s: %s: %q", at, what, got)
			}
		}
		signedIn("what scripts did at " + at)

		// A form of the other page, which leads the browser to the pages.
		b.Visit(at + "/")
		_ = window.Eval[bool](b, fmt.Sprintf(`(() => { const f = document.createElement("form"); f.method = "post"; f.action = %q + "/sign-out";
			document.body.append(f); setTimeout(() => f.submit()); return true; })()`, base))
		b.WaitGone("#elsewhere")
		signedIn("a form at " + at)

		// A redirect leads the person to the pages, and says nothing to who redirects.
		b.Visit(at + "/redirect?to=" + base + "/inbox")
		b.WaitText("main", "No daemon runs")
		signedIn("a redirect at " + at)

		// A worker of the other page rules over its own port.
		b.Visit(at + "/")
		if got := window.Eval[string](b, `navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready).then(() => "its own")`); got != "its own" {
			t.Fatalf("the worker at %s: %s", at, got)
		}
		signedIn("a worker at " + at)
		if got := window.Eval[string](b, `navigator.serviceWorker.getRegistrations().then((all) => all.map((r) =>
			(r.active || r.installing || r.waiting).scriptURL).join(" "))`); got != base+"/sw.js" {
			t.Errorf("the workers of the pages: %s", got)
		}
	}

	// A signature that was stolen is worth nothing: it was used, and is for one address.
	stolen := func(path string) map[string]string {
		return window.Eval[map[string]string](b, fmt.Sprintf(`ownKey.sign("GET", %q, new ArrayBuffer(0))`, path))
	}
	send := func(to, path string, headers map[string]string) int {
		r, err := http.NewRequest(http.MethodGet, "http://"+s.addr+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = to
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		return got.StatusCode
	}
	ours := strings.TrimPrefix(base, "http://")
	used := stolen("/inbox")
	if code := send(ours, "/inbox", used); code != http.StatusOK {
		t.Fatalf("a good signature: %d: is the test wrong?", code)
	}
	for what, code := range map[string]int{
		"the same again":    send(ours, "/inbox", used),
		"another path":      send(ours, "/log", stolen("/inbox")),
		"another query":     send(ours, "/inbox?x", stolen("/inbox")),
		"another name":      send(s.addr, "/inbox", stolen("/inbox")),
		"another port":      send(s.local+":"+port, "/inbox", stolen("/inbox")),
		"no signature more": send(ours, "/inbox", nil),
	} {
		if code != http.StatusUnauthorized && code != http.StatusForbidden {
			t.Errorf("%s: %d", what, code)
		}
	}

	other.mu.Lock()
	defer other.mu.Unlock()
	hosts := map[string]int{}
	for _, r := range other.seen {
		host, _, _ := net.SplitHostPort(r.Host)
		hosts[host]++
		for name, values := range r.Header {
			text := name + ": " + strings.Join(values, " ")
			if name == "Cookie" || name == "Authorization" || strings.Contains(name, "Signature") || strings.Contains(strings.ToLower(text), "mycelium") {
				t.Errorf("%s %s received %s", r.Host, r.URL.Path, text)
			}
		}
	}
	if len(hosts) != 3 {
		t.Errorf("the other program was reached under %v", maps.Collect(maps.All(hosts)))
	}
}
