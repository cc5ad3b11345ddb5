package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// bad is a page that does everything that no page may do. ELSEWHERE is another host.
const bad = `<!DOCTYPE html><html><head><meta charset="utf-8"><title>Bad</title><script src="/bad.js" defer></script></head>
<body><h1 id="moves">Bad</h1><p>Words</p><img src="ELSEWHERE/picture.png"><p onclick="alert(1)">It runs code</p>
<p id="wide">This is wider than any window.</p></body></html>`

// badScript moves what was drawn, and fails.
const badScript = `console.error("it is wrong");
document.getElementById("wide").style.width = "5000px";
requestAnimationFrame(() => requestAnimationFrame(() => {
	document.getElementById("moves").style.marginTop = "300px";
	requestAnimationFrame(() => requestAnimationFrame(() => { document.body.id = "done"; throw new Error("it has failed"); }));
}));`

// TestFaults: what no page may do is found, each by what looks for it.
func TestFaults(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	pages := http.NewServeMux()
	pages.HandleFunc("GET /bad.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, badScript)
	})
	pages.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; img-src *; style-src 'unsafe-inline'")
		fmt.Fprint(w, strings.Replace(bad, "ELSEWHERE", other.URL, 1))
	})
	server := httptest.NewServer(pages)
	defer server.Close()
	b := Open(t, server.URL)
	b.Visit("/")
	b.Wait("#done")
	if n := b.Weight(); n < len(bad)+len(badScript) {
		t.Errorf("the page weighs %d bytes, less than what is sent", n)
	}
	if b.Shift() == 0 {
		t.Error("nothing moved")
	}
	if said := b.tooWide(); !strings.Contains(said, `id="wide"`) {
		t.Errorf("what is too wide: %q", said)
	}
	if found := b.findings(); !slices.ContainsFunc(found, func(f finding) bool { return f.ID == "image-alt" }) {
		t.Errorf("axe finds %v", found)
	}
	b.AwaitFaults("a request to another host: "+other.URL, "it is wrong", "it has failed", "Content Security Policy", "404 (Not Found)")
	b.Tolerate("")
}
