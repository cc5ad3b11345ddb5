package swarm_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"mycelium/internal/config"
	"mycelium/internal/config/pages"
	"mycelium/internal/node/project"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/state"
	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/tmux"
	"mycelium/internal/web"
	"mycelium/internal/web/signature"
	"mycelium/internal/web/site"
	"mycelium/internal/web/webtest"
)

// world is a project with a session whose workers are terminals that print, and the pages of it behind a server whose browser is signed in.
type world struct {
	at    string // address of the page of the project
	front *httptest.Server
}

// newWorld makes workers that run a shell script each.
func newWorld(t *testing.T, scripts ...string) world {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("tmux is not here")
	}
	home, err := os.MkdirTemp("", "w") // short: the path of a socket has 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	dir, run := filepath.Join(home, "p"), filepath.Join(home, "r")
	for _, d := range []string{dir, run} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := state.Root(filepath.Join(home, "s")).Of(dir)
	if err := p.WriteNote(state.Note{Home: home}); err != nil {
		t.Fatal(err)
	}
	load := func(p state.Paths) (*config.Project, error) {
		return (&project.Loader{Dir: p.Project, StateDir: string(p.Root), Environ: []string{"HOME=" + home}, Err: os.Stderr}).Load()
	}
	loaded, err := load(p)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), loaded.StoreURL())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	server, err := swarmed.Terminals(p, run)
	if err != nil {
		t.Fatal(err)
	}
	server.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TERM=xterm-256color", "HOME=" + home}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", server.Socket, "kill-server").Run() })
	s := &book.Session{ID: "s1", State: book.Going}
	for i, script := range scripts {
		id := fmt.Sprintf("f%d", i)
		window := tmux.Window{Session: "w-" + id, Name: id, Dir: dir, Command: []string{"sh", "-c", script}}
		if _, err := server.Open(t.Context(), window); err != nil {
			t.Fatal(err)
		}
		s.Features = append(s.Features, &book.Feature{Feature: plan.Feature{ID: id}, State: book.Going, Attempts: []*book.Attempt{{N: 1,
			State: book.Running, Window: "w-" + id, Folder: filepath.Join(home, id), Began: time.Now()}}})
	}
	if err := book.New(db).Begin(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	pages, err := web.Open(t.Context(), pages.Section{Addr: "127.0.0.1:0"}, site.Options{Root: p.Root, Runtime: run, Load: load})
	if err != nil {
		t.Fatal(err)
	}
	return world{"/swarm/" + site.Key(p), signedIn(t, pages, p.Root)}
}

// signedIn is a server in front of the pages that signs each request with the key of a device.
func signedIn(t *testing.T, pages *web.Server, root state.Root) *httptest.Server {
	t.Helper()
	served := make(chan error, 1)
	go func() { served <- pages.Run(t.Context()) }()
	link, err := web.Link(root, pages.Note().Addr)
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + pages.Note().Addr
	_, key := webtest.SignIn(t, base, link[strings.LastIndex(link, "=")+1:], nil)
	r, err := http.Get(base + "/health")
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	run, handler := r.Header.Get(signature.RunHeader), pages.Handler()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signed := r.Clone(r.Context())
		signed.Host, signed.URL.Scheme = pages.Note().Addr, "http"
		signed.Header.Del("Origin")
		signed.Header.Del("Sec-Fetch-Site")
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = key.Sign(signed, run, body, time.Now())
		}
		if err != nil {
			t.Error(err)
		}
		signed.Body = io.NopCloser(bytes.NewReader(body))
		handler.ServeHTTP(w, signed)
	}))
	t.Cleanup(front.Close)
	return front
}

// TestTerminalInjections: what a worker prints is text in its terminal, in a real browser under the policy of the pages: no element, no
// title, no link; colours are there; and the policy refuses nothing that the terminal needs.
func TestTerminalInjections(t *testing.T) {
	t.Parallel()
	all := filepath.Join(t.TempDir(), "all")
	printed := strings.Join(webtest.Injections(t), "\r\n") + "\r\n" +
		"\x1b]8;;https://evil.example/\x07link\x1b]8;;\x07 \x1b]0;pwned\x07\x1b]52;c;aGk=\x07" +
		"\x1b[38;2;1;99;3mexact\x1b[0m \x1b[31mred\x1b[0m done"
	if err := os.WriteFile(all, []byte(printed), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "cat '"+all+"'; exec sleep 3600")
	b := newTab(t)
	b.open(w.front.URL + w.at + "/workers/f0")
	b.until(`document.querySelector("#terminal .xterm-rows").textContent.includes("done")`)
	if said := strings.Join(b.said, "\n"); said != "" {
		t.Errorf("the browser says:\n%s", said)
	}
	root, err := html.Parse(strings.NewReader(b.value("document.documentElement.outerHTML")))
	if err != nil {
		t.Fatal(err)
	}
	if got := b.value(`getComputedStyle(document.querySelector("#terminal .xterm-fg-1")).color`); got != "rgb(155, 44, 31)" {
		t.Errorf("the styles of the terminal do not reach it: red is %s", got)
	}
	shown, title := terminalOf(t, root)
	if title != "f0 · p · Mycelium" {
		t.Errorf("the title is %q", title)
	}
	for _, want := range []string{"link", "done", "exact"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the terminal does not show %q:\n%s", want, shown)
		}
	}
}

// terminalOf is the text of the terminal in a page, whose elements are only those that xterm.js makes.
func terminalOf(t *testing.T, root *html.Node) (shown, title string) {
	t.Helper()
	colours := map[string]bool{}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "title" && n.FirstChild != nil {
			title = n.FirstChild.Data
		}
		if n.Type != html.ElementNode || attribute(n, "id") != "terminal" {
			continue
		}
		for in := range n.Descendants() {
			if in.Type == html.TextNode {
				shown += in.Data
				continue
			}
			if in.Type != html.ElementNode || !slices.Contains([]string{"div", "span", "textarea", "canvas"}, in.Data) {
				t.Errorf("there is an element %s in the terminal", in.Data)
			}
			for _, a := range in.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "href" || a.Key == "src" {
					t.Errorf("an element of the terminal has %s=%q", a.Key, a.Val)
				}
			}
			colours[attribute(in, "style")] = true
			colours[attribute(in, "class")] = true
		}
	}
	found := func(what string) bool {
		for c := range colours {
			if strings.Contains(c, what) {
				return true
			}
		}
		return false
	}
	if !found("xterm-fg-1") || !found("rgb(1, 99, 3)") && !found("#016303") {
		t.Errorf("the terminal has no colours: %v", colours)
	}
	return shown, title
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// TestWall: one stream has the terminals of fifty workers.
func TestWall(t *testing.T) {
	t.Parallel()
	scripts := make([]string, 50)
	for i := range scripts {
		scripts[i] = fmt.Sprintf("echo this is %d.; exec sleep 3600", i)
	}
	w := newWorld(t, scripts...)
	r, err := http.Get(w.front.URL + w.at + "/terminals/output")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	missing := map[string]bool{}
	for i := range scripts {
		missing[fmt.Sprintf("this is %d.", i)] = true
	}
	for len(missing) > 0 && lines.Scan() {
		for want := range missing {
			if strings.Contains(lines.Text(), want) {
				delete(missing, want)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("the stream ended without %v: %v", missing, lines.Err())
	}
}
