package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	window "mycelium/internal/web/webtest/browser"
)

// TestWebEmptyInABrowser: the pages of a user without any project sign in, fit, shut nobody out, and hold the policy of their content.
func TestWebEmptyInABrowser(t *testing.T) {
	t.Parallel()
	s := testServer(t)
	served := make(chan error, 1)
	go func() { served <- s.Run(t.Context()) }()
	t.Cleanup(func() { <-served })
	b := window.Open(t, s.Note().Base)
	b.Visit("/inbox")
	b.WaitText("h1", "Sign in")
	b.Accessible()
	link, err := Link(s.site.Root, s.Note().Addr)
	if err != nil {
		t.Fatal(err)
	}
	b.SignIn(link)
	for _, path := range []string{"/inbox", "/", "/log"} {
		b.Visit(path)
		b.Wait(".empty")
		b.Look(360, window.Dark)
		b.Fits()
		b.Accessible()
		b.Look(1440, window.Light)
	}
}

// TestWebCompresses: what can be compressed is, for clients that take it; a stream of events is not, and each event leaves at once.
func TestWebCompresses(t *testing.T) {
	t.Parallel()
	h := compressed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		_, _ = io.WriteString(w, strings.Repeat("a", 10_000))
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
	}))
	for _, c := range []struct {
		kind, accepts string
		want          bool
	}{
		{"text/html; charset=utf-8", "gzip, deflate, br", true}, {"application/json", "br, GZIP;q=0.5", true},
		{"text/event-stream", "gzip", false}, {"image/png", "gzip", false}, {"text/html", "", false}, {"text/html", "gzip;q=0", false},
		{"text/html", "br", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/?type="+strings.ReplaceAll(strings.ReplaceAll(c.kind, " ", "%20"), ";", "%3B"), nil)
		r.Header.Set("Accept-Encoding", c.accepts)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var body io.Reader = w.Body
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != c.want || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s for %q: %v", c.kind, c.accepts, w.Header())
		} else if got {
			if w.Body.Len() > 200 {
				t.Errorf("%s: %d bytes", c.kind, w.Body.Len())
			}
			var err error
			if body, err = gzip.NewReader(w.Body); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := io.ReadAll(body); err != nil || len(text) != 10_000 {
			t.Errorf("%s for %q: %d bytes, %v", c.kind, c.accepts, len(text), err)
		}
	}
}
