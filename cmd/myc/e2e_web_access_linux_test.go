package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rsc.io/qr"

	"mycelium/internal/web/device"
	"mycelium/internal/web/served"
	"mycelium/internal/web/webtest"
)

// withPages lets the daemons of a project start the page server, at a port of its own. It returns that port's address.
func (p *project) withPages() string {
	p.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	defer l.Close()
	addr := l.Addr().String()
	_, port, _ := net.SplitHostPort(addr)
	p.env = append(slices.DeleteFunc(slices.Clone(p.env), func(v string) bool { return strings.HasPrefix(v, "ENABLE_DASHBOARD=") }),
		"DASHBOARD_PORT="+port)
	return addr
}

// pagesServed waits until a page server says of itself what is wanted.
func (p *project) pagesServed(what string, wanted func(n served.Note, runs bool) bool) served.Note {
	p.t.Helper()
	var n served.Note
	p.eventually(what, func() bool {
		var runs bool
		var err error
		n, runs, err = served.Look(p.state().Root)
		return err == nil && wanted(n, runs)
	})
	return n
}

// beside is another project of the same person.
func (p *project) beside(name string) *project {
	p.t.Helper()
	other := *p
	other.dir = filepath.Join(p.home, name)
	for name, text := range world(nil) {
		other.write(name, text)
	}
	other.must("trust", "--yes")
	return &other
}

// TestWebServerOfDaemons: the first daemon starts one page server, a second one none; it is no child of a daemon, outlives the first, is
// where status and doctor say, and ends when no daemon runs.
func TestWebServerOfDaemons(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(nil))
	addr := p.withPages()
	other := p.beside("other")
	p.serve()
	n := p.pagesServed("a page server", func(_ served.Note, runs bool) bool { return runs })
	if n.Addr != addr {
		t.Errorf("it is at %s, want %s", n.Addr, addr)
	}
	other.must("tools") // a daemon that a command starts, or none
	other.serve()
	for _, command := range []string{"status", "doctor"} {
		if said, _, _ := p.run(command); !strings.Contains(said, n.Base+"/") {
			t.Errorf("%s does not say where the pages are:\n%s", command, said)
		}
	}
	servers := func() (out []int) {
		for pid, line := range p.processes() {
			if strings.HasSuffix(line, "web --auto --apart") {
				out = append(out, pid)
			}
		}
		return out
	}
	if found := servers(); !slices.Equal(found, []int{n.PID}) {
		t.Errorf("page servers: %v, want %d: %v", found, n.PID, p.processes())
	}
	p.must("stop")
	r, err := http.Get("http://" + n.Addr + "/health")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("after the end of the first daemon: %v %v", r, err)
	}
	other.must("stop")
	p.pagesServed("the end of the page server", func(_ served.Note, runs bool) bool { return !runs })
	p.env = append(p.env, noPages)
	p.must("trust", "--yes") // notes the environment of the person
	p.serve()
	p.must("stop")
	if log, err := os.ReadFile(served.LogFile(p.state().Root)); err != nil || len(log) > 0 {
		t.Errorf("the log of the pages: %s %v", log, err)
	}
}

// TestWebServerCannotListen: a port that another program has ends no daemon, and status and doctor say so.
func TestWebServerCannotListen(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(nil))
	addr := p.withPages()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p.serve()
	p.pagesServed("a problem", func(n served.Note, runs bool) bool { return !runs && strings.Contains(n.Problem, addr) })
	if said := p.must("status"); !regexp.MustCompile(`pages +not served: .*`+addr).MatchString(said) || !p.status().Daemon.Running {
		t.Errorf("status:\n%s", said)
	}
	if said, _, _ := p.run("doctor"); !strings.Contains(said, "pages: not served: ") || !strings.Contains(said, "chooses another address") {
		t.Errorf("doctor:\n%s", said)
	}
}

// TestWebServerFollowsItsFile: the page server takes up web: of the user's own file once it is accepted, and not before; in a project's
// file it is an error.
func TestWebServerFollowsItsFile(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(nil))
	addr := p.withPages()
	p.serve()
	first := p.pagesServed("a page server", func(n served.Note, runs bool) bool { return runs && n.Addr == addr })
	own := filepath.Join(p.home, ".config", "mycelium", "mycelium.yaml")
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("web: {addr: \"127.0.0.1:1\", cert: own}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, _, _ := p.run("doctor"); !strings.Contains(said, first.Base+"/") {
		t.Errorf("a change that nobody accepted is in force:\n%s", said)
	}
	p.must("trust", "--yes")
	second := p.pagesServed("a page server with TLS", func(n served.Note, runs bool) bool { return runs && n.Fingerprint != "" })
	named := strings.HasPrefix(second.Base, "https://myc-") && strings.HasSuffix(second.Base, addr[strings.LastIndex(addr, ":"):])
	if second.Addr != addr || !named || second.PID != first.PID { // DASHBOARD_PORT takes precedence over the port
		t.Errorf("it serves %+v, after %+v", second, first)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // ours
	if r, err := client.Get("https://" + second.Addr + "/health"); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("%v %v", r, err)
	}
	p.write("mycelium.yaml", p.read("mycelium.yaml")+"\nweb: {addr: \"127.0.0.1:2\"}\n")
	if said, _, _ := p.run("doctor"); !strings.Contains(said, "web is not read from a project") {
		t.Errorf("web: of a project:\n%s", said)
	}
}

// TestWebPair: at a terminal of 80 columns and 24 lines, --pair shows a QR code whose link signs a phone in once; sign-ins, refused ones
// and revocations are in the log of the user. On a pipe there is no link, and where a phone cannot reach the pages it says what is needed.
func TestWebPair(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(nil))
	addr := p.withPages()
	_, port, _ := net.SplitHostPort(addr)
	own := filepath.Join(p.home, ".config", "mycelium", "mycelium.yaml")
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("web: {addr: \"0.0.0.0:1\", cert: own, hosts: [\"127.0.0.1\"]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.must("trust", "--yes")
	p.serve()
	n := p.pagesServed("a page server", func(n served.Note, runs bool) bool { return runs && n.Phone != "" })
	if n.Phone != "https://127.0.0.1:"+port {
		t.Fatalf("it serves %+v", n)
	}
	if _, said, err := p.run("web", "--pair"); err == nil || !strings.Contains(said, "on a terminal only") {
		t.Errorf("on a pipe: %v %s", err, said)
	}
	text, code := p.shown(nil, "web", "--pair", "--json")
	link := regexp.MustCompile(`HTTPS://127\.0\.0\.1:\d+/P/[A-Z2-7]{26}/[0-9A-F]{64}`).FindString(text)
	if code != 0 || link == "" || !strings.HasSuffix(link, n.Fingerprint) {
		t.Fatalf("exit %d: %s", code, text)
	}
	drawn, _ := p.shown(nil, "web", "--pair")
	lines := regexp.MustCompile(`(?m)^\x1b\[38;2;0;0;0;48;2;255;255;255m([ ▀▄█]+)\x1b\[0m\r?$`).FindAllStringSubmatch(drawn, -1)
	picture, err := qr.Encode(link, qr.L) // of another secret, so that only its shape is the same
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(lines), (picture.Size+9)/2; got != want || got > 23 || len([]rune(lines[0][1])) != picture.Size+8 ||
		!strings.Contains(drawn, strings.ReplaceAll(n.Fingerprint[:6], n.Fingerprint[2:4], ":"+n.Fingerprint[2:4]+":")) {
		t.Errorf("%d lines for %d modules, want %d:\n%s", got, picture.Size, want, drawn)
	}
	phone := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // ours
	for _, want := range []int{http.StatusOK, http.StatusForbidden} {
		if code, said, _ := webtest.TrySignIn(t, n.Phone, strings.Split(link, "/")[4], phone); code != want {
			t.Fatalf("%d %s, want %d", code, said, want)
		}
	}
	var devices []device.Device
	p.decode(&devices, "web", "devices")
	if len(devices) != 1 {
		t.Fatalf("devices: %v", devices)
	}
	p.must("web", "devices", "revoke", devices[0].ID)
	log := p.must("audit", "tail", "--outside", "--lines", "100", "--json")
	for _, want := range []string{`browser sign-in: ` + devices[0].ID, `browser sign-in refused`, `browser revoked: ` + devices[0].ID} {
		if !strings.Contains(log, want) {
			t.Errorf("the log of the user does not say %q:\n%s", want, log)
		}
	}
	p.must("audit", "verify", "--outside")
	if err := os.WriteFile(own, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.must("trust", "--yes")
	p.pagesServed("a page server of this machine", func(n served.Note, runs bool) bool { return runs && n.Phone == "" })
	if text, code := p.shown(nil, "web", "--pair"); code == 0 || !strings.Contains(text, "a phone cannot reach the pages") ||
		!strings.Contains(text, "cert: own") {
		t.Errorf("without a way for a phone: exit %d: %s", code, text)
	}
}

// TestWebGoesOn: under an open page a daemon is killed and comes back, and so does the page server. Each time the page is told, and its
// stream, which it opens again by itself, says to look at everything anew.
func TestWebGoesOn(t *testing.T) {
	t.Parallel()
	p := newProject(t, asking(nil))
	p.serve()
	first := p.pageServer("127.0.0.1:0")
	ctx, end := context.WithCancel(p.ctx)
	served := make(chan error, 1)
	go func() { served <- first.Run(ctx) }()
	b := signedIn(t, first, p.state().Root)
	page := b.get("/inbox", http.StatusOK)
	last := regexp.MustCompile(`sse-connect="/events\?after=([^"]+)"`).FindStringSubmatch(page)[1]
	events := b.since(last)
	if err := syscall.Kill(p.status().Daemon.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	b.until(events, "node", "")
	if said := b.get("/inbox", http.StatusOK); !strings.Contains(said, "No daemon runs") {
		t.Errorf("the page does not say that the daemon is gone:\n%s", said)
	}
	p.serve()
	b.until(events, "node", "")
	call := p.start("", "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"."}`)
	r := p.waiting(1, 1)[0]
	b.until(events, "inbox", r.ID)
	if said := b.get("/inbox", http.StatusOK); !strings.Contains(said, r.ID) {
		t.Errorf("the page does not show what the new daemon asks:\n%s", said)
	}
	end()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	second := p.pageServer(first.Note().Addr)
	go func() { served <- second.Run(p.ctx) }()
	b.until(b.since(last), "resync", "") // the ids of another server mean nothing: the page is loaded anew
	if said := b.get("/inbox", http.StatusOK); !strings.Contains(said, r.ID) {
		t.Errorf("the page of the new server:\n%s", said)
	}
	p.must("approvals", "approve", r.ID)
	if err := <-call.ended; err != nil {
		t.Error(err)
	}
}

// since opens the stream of events after one, as a page that lost it does.
func (b *signIn) since(last string) *bufio.Scanner {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodGet, b.base+"/events", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Last-Event-ID", last)
	answer, err := b.c.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		b.t.Fatal(answer, err)
	}
	b.t.Cleanup(func() { answer.Body.Close() })
	return bufio.NewScanner(answer.Body)
}

// TestWebTakesOver: a person who says where the pages are to be served ends the server that a daemon started, and serves them there. A
// signal ends a server, also while a daemon runs, and leaves no problem behind.
func TestWebTakesOver(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(nil))
	p.withPages()
	p.serve()
	first := p.pagesServed("the server of the daemon", func(n served.Note, runs bool) bool { return runs && n.Auto })
	cmd := p.command("web", "--addr", "127.0.0.1:0")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	second := p.pagesServed("the server of the person", func(n served.Note, runs bool) bool { return runs && !n.Auto })
	if second.PID != cmd.Process.Pid || second.Addr == first.Addr || p.processes()[first.PID] != "" {
		t.Errorf("%+v after %+v: %v", second, first, p.processes())
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if n, runs, err := served.Look(p.state().Root); runs || n.Problem != "" || err != nil {
		t.Errorf("after its end: %+v %v %v", n, runs, err)
	}
}
