// Package webtest holds the pages to their laws in tests: what an agent wrote is text on a page, and can be nothing else.
package webtest

import (
	"bytes"
	_ "embed"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

//go:embed injections.txt
var list string

// Injections are texts by which an agent may try to become a part of a page.
func Injections(t *testing.T) (out []string) {
	t.Helper()
	for line := range strings.Lines(list) { // one text a line, quoted as in Go
		x, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("injections.txt: %s: %v", line, err)
		}
		out = append(out, x)
	}
	if len(out) < 60 {
		t.Fatalf("only %d injections", len(out))
	}
	return out
}

// Site is a site with rooms, whose state is a folder of the test.
func Site(t *testing.T, rooms ...site.Room) *site.Site {
	t.Helper()
	s, err := site.New(site.Options{Root: state.Root(t.TempDir())}, rooms)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Show returns a page as a device gets it. x is a text of an agent, which stands in the frame too.
func Show(s *site.Site, template, x string, body any) string {
	w := httptest.NewRecorder()
	s.Show(w, httptest.NewRequest(http.MethodGet, "/inbox?done=a", nil), http.StatusOK, template, device.Device{ID: x, Name: x},
		site.Page{Title: x, Here: "/inbox", Live: "sse:inbox", Body: body})
	return w.Body.String()
}

// HoldsText tests pages, by name, that written makes with a text of an agent in each place that an agent can write to. With each injection
// their elements and attributes are those of pages with a harmless word, for a parser and in Chromium, where none of it
// runs.
func HoldsText(t *testing.T, written func(x string) map[string]string) {
	t.Helper()
	t.Run("parser", func(t *testing.T) {
		t.Parallel()
		inParser(t, written)
	})
	t.Run("chromium", func(t *testing.T) {
		t.Parallel()
		inChromium(t, written(strings.Join(Injections(t), " ")))
	})
}

func inParser(t *testing.T, written func(x string) map[string]string) {
	want := map[string][]string{}
	for name, text := range written("word") {
		want[name] = skeleton(t, text)
		if n := strings.Count(text, "word"); n < 1 {
			t.Errorf("%s shows the word %d times: is the test wrong?", name, n)
		}
	}
	for _, x := range Injections(t) {
		for name, page := range written(x) {
			got := skeleton(t, page)
			for i := range max(len(got), len(want[name])) {
				if i >= len(got) || i >= len(want[name]) || got[i] != want[name][i] {
					t.Errorf("%s: %q makes another page, at element %d: %q", name, x, i, got[min(i, len(got)):])
					break
				}
			}
			if seen := text.Visible(page); seen != page {
				t.Errorf("%s: %q: a character is in the page and nobody sees it", name, x)
			}
		}
	}
}

// inChromium loads the pages in a real browser: their elements are those that the parser sees.
func inChromium(t *testing.T, all map[string]string) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("chromium is not here")
	}
	assets := http.NewServeMux()
	assets.HandleFunc("GET /assets/{name}", site.Asset)
	assets.HandleFunc("GET /{page}", func(w http.ResponseWriter, r *http.Request) {
		// Without the headers that would keep what is injected from running.
		_, _ = w.Write([]byte(all[r.PathValue("page")])) // a browser that has gone reads nothing
	})
	server := httptest.NewServer(assets)
	defer server.Close()
	for name := range all {
		cmd := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
			"--virtual-time-budget=1000", "--dump-dom", server.URL+"/"+name)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("chromium: %v", err)
		}
		dom := out.String()
		if !strings.Contains(dom, `id="view"`) {
			t.Fatalf("%s: chromium shows %q", name, dom)
		}
		got, want := elements(t, dom), elements(t, all[name])
		if !slices.Equal(got, want) {
			t.Errorf("%s: the elements in the browser are %q\nwant %q", name, got, want)
		}
	}
}

// skeleton is a page without its text: its elements, their attributes, and the values of those that do something. What a field is filled
// with or an element is named by is text.
func skeleton(t *testing.T, text string) (out []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		switch n.Type {
		case html.CommentNode, html.DoctypeNode:
			out = append(out, fmt.Sprint("!", n.Type))
		case html.ElementNode:
			line := elementOf(n)
			if n.Parent.Data != "pre" || line != "span" && line != "span class" { // a text has as many lines as it has
				out = append(out, line)
			}
		default:
		}
	}
	return out
}

// texts are the attributes whose values may be what an agent wrote.
var texts = []string{"value", "placeholder", "class", "id", "for", "aria-labelledby", "aria-label", "title", "href", "action", "hx-get",
	"hx-post", "data-project", "data-sessions"}

// addresses are those of them that lead somewhere.
var addresses = []string{"href", "action", "hx-get", "hx-post"}

// elementOf is an element with the attributes that do something. An address is on this site, or it is not a text.
func elementOf(n *html.Node) string {
	line := n.Data
	for _, a := range n.Attr {
		line += " " + a.Key
		here := strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "//") || a.Val == "#main"
		if !slices.Contains(texts, a.Key) || slices.Contains(addresses, a.Key) && !here {
			line += "=" + a.Val
		}
	}
	return line
}

// elements are the names of the elements of a page, without what the browser adds by itself.
func elements(t *testing.T, text string) (out []string) {
	for _, line := range skeleton(t, text) {
		name, _, _ := strings.Cut(line, " ")
		out = append(out, name)
	}
	return out
}
