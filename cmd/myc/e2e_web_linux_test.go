package main

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"mycelium/internal/state"
	"mycelium/internal/web"
	"mycelium/internal/web/device"
	"mycelium/internal/web/webtest"
)

// TestWeb: a call that waits stands in the inbox of a browser with what it would do and why; the answer there reaches the caller and is in
// the record with the device; whoever is late is told; an open page learns what is asked and answered elsewhere; and a daemon that has
// ended changes nothing and does not end the pages.
func TestWeb(t *testing.T) {
	t.Parallel()
	p := newProject(t, asking(nil))
	p.serve()
	s := p.pageServer("127.0.0.1:0")
	served := make(chan error, 1)
	go func() { served <- s.Run(p.ctx) }()
	b := signedIn(t, s, p.state().Root)

	events := b.events()
	first := p.start("", "call", "--ask", "wait", "files__list_directory", "--args", `{"path":".","note":"<b onclick=x>"}`)
	r := p.waiting(1, 1)[0]
	b.until(events, "inbox", r.ID)
	page := b.get("/inbox", http.StatusOK)
	for _, want := range []string{"1 waiting for you", "People decide about lists.", "&lt;b onclick=x&gt;", "read " + p.dir, "role guest"} {
		if !strings.Contains(page, want) {
			t.Errorf("the inbox does not say %q:\n%s", want, page)
		}
	}
	if !strings.Contains(b.get("/", http.StatusOK), `<a href="/inbox">1 waiting for you</a>`) {
		t.Error("what is at work does not say that a call waits")
	}
	form := url.Values{"digest": {r.Digest}, "answer": {"deny"}, "reason": {"not on a Friday"}}
	action := regexp.MustCompile(`action="(/inbox/[^"]+)"`).FindStringSubmatch(page)[1]
	b.post(action, url.Values{"digest": {"another"}, "answer": {"once"}}, http.StatusConflict) // what it showed was another request
	b.post(action, form, http.StatusSeeOther)
	if err := <-first.ended; err == nil || !strings.Contains(first.err.String(), "not on a Friday") {
		t.Errorf("the caller: %v %s", err, first.err.String())
	}
	b.until(events, "inbox", r.ID)
	if late := b.post(action, form, http.StatusConflict); !strings.Contains(late, "was denied by") {
		t.Errorf("a late answer:\n%s", late)
	}
	settled := p.must("approvals", "show", r.ID)
	if !regexp.MustCompile(`denied by \S+ \(browser, d-[a-z2-7]{8}\)`).MatchString(settled) {
		t.Errorf("the record:\n%s", settled)
	}

	second := p.start("", "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"."}`)
	r = p.waiting(1, 1)[0]
	b.until(events, "inbox", r.ID)
	p.must("approvals", "approve", r.ID) // elsewhere: the page learns it
	b.until(events, "inbox", r.ID)
	if err := <-second.ended; err != nil {
		t.Error(err)
	}

	p.must("stop")
	b.until(events, "node", "")
	if said := b.post(action, form, http.StatusServiceUnavailable); !strings.Contains(said, "nothing was changed") {
		t.Errorf("an answer without a daemon:\n%s", said)
	}
	if said := b.get("/inbox", http.StatusOK); !strings.Contains(said, "No daemon runs") {
		t.Errorf("the inbox without a daemon:\n%s", said)
	}
	p.serve()
	b.until(events, "node", "") // it goes on by itself
	var devices []device.Device
	p.decode(&devices, "web", "devices")
	if len(devices) != 1 || devices[0].Key != nil {
		t.Fatalf("devices: %+v", devices)
	}
	p.must("web", "devices", "revoke", devices[0].ID)
	b.get("/inbox", http.StatusUnauthorized)
}

// signIn is a browser that is signed in.
type signIn struct {
	t    *testing.T
	c    *http.Client
	base string
}

func signedIn(t *testing.T, s *web.Server, root state.Root) *signIn {
	t.Helper()
	return signedInAt(t, s.Note().Addr, root)
}

// signedInAt signs in at a page server that listens at addr.
func signedInAt(t *testing.T, addr string, root state.Root) *signIn {
	t.Helper()
	link, err := web.Link(root, addr)
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + addr
	c, _ := webtest.SignIn(t, base, link[strings.LastIndex(link, "=")+1:], nil)
	return &signIn{t, c, base}
}

func (b *signIn) read(r *http.Response, err error, want int) string {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	if r.StatusCode != want {
		b.t.Errorf("%s: %d, want %d\n%s", r.Request.URL, r.StatusCode, want, text)
	}
	return string(text)
}

func (b *signIn) get(path string, want int) string {
	b.t.Helper()
	r, err := b.c.Get(b.base + path)
	return b.read(r, err, want)
}

func (b *signIn) post(path string, form url.Values, want int) string {
	b.t.Helper()
	r, err := b.c.PostForm(b.base+path, form)
	return b.read(r, err, want)
}

// events opens the stream of events.
func (b *signIn) events() *bufio.Scanner {
	b.t.Helper()
	r, err := b.c.Get(b.base + "/events")
	if err != nil || r.StatusCode != http.StatusOK {
		b.t.Fatal(r, err)
	}
	b.t.Cleanup(func() { r.Body.Close() })
	return bufio.NewScanner(r.Body)
}

// until reads events until one of a kind names this.
func (b *signIn) until(lines *bufio.Scanner, kind, name string) {
	b.t.Helper()
	at := ""
	for lines.Scan() {
		if k, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			at = k
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && at == kind && strings.Contains(data, name) {
			return
		}
	}
	b.t.Fatalf("the stream of events ended before %s %s: %v", kind, name, lines.Err())
}
