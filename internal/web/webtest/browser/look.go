package browser

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// hear takes down what the browser reports of the page.
func (b *Browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, "exception: "+(&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		if slices.Contains([]string{"error", "warning", "assert"}, string(e.Type)) {
			b.faults = append(b.faults, fmt.Sprintf("console: %s", said(e.Args)))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.faults = append(b.faults, strings.TrimSpace(fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)))
		}
	case *network.EventRequestWillBeSent:
		at, err := url.Parse(e.Request.URL)
		if err != nil || at.Host != b.host && at.Scheme != "about" {
			b.faults = append(b.faults, "a request to another host: "+e.Request.URL)
		}
		if string(e.RequestID) == string(e.LoaderID) { // the page itself; what the one before it asked for may never be said to have ended
			b.page, b.bytes, b.open = e.LoaderID, 0, map[network.RequestID]string{}
		}
		if e.LoaderID == b.page && e.Type != network.ResourceTypeEventSource && !streams(e.Request.Headers) {
			b.open[e.RequestID] = e.Request.URL
		}
	case *network.EventLoadingFinished:
		if _, ours := b.open[e.RequestID]; ours {
			b.bytes += e.EncodedDataLength
		}
		delete(b.open, e.RequestID)
	case *network.EventLoadingFailed:
		delete(b.open, e.RequestID)
	default:
		return
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

// streams reports whether a request asks for a stream of events, which does not end. A script writes the names of headers in small letters.
func streams(headers network.Headers) bool {
	for name, value := range headers {
		if strings.EqualFold(name, "Accept") {
			return value == "text/event-stream"
		}
	}
	return false
}

// said is what was written to the console.
func said(args []*runtime.RemoteObject) string {
	var all []string
	for _, a := range args {
		all = append(all, cmp.Or(a.Description, string(a.Value)))
	}
	return strings.Join(all, " ")
}

// Tolerate takes faults whose text contains one of the words as what the test wants.
func (b *Browser) Tolerate(words ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tolerated = append(b.tolerated, words...)
}

// Faults are what the page did and may not do.
func (b *Browser) Faults() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.faults), func(f string) bool {
		return slices.ContainsFunc(b.tolerated, func(word string) bool { return strings.Contains(f, word) })
	})
}

// AwaitFaults waits until each of the words is in one of the faults. The browser tells of some of them after the page is done.
func (b *Browser) AwaitFaults(words ...string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		b.mu.Lock()
		changed := b.changed
		b.mu.Unlock()
		faults := strings.Join(b.Faults(), "\n")
		at := slices.IndexFunc(words, func(word string) bool { return !strings.Contains(faults, word) })
		if at < 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			b.t.Fatalf("no %q among the faults:\n%s", words[at], faults)
		}
	}
}

// Weight is how many bytes came over the network for the page that was visited, as they were sent.
func (b *Browser) Weight() int {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		b.mu.Lock()
		open, changed, bytes := slices.Collect(maps.Values(b.open)), b.changed, b.bytes
		b.mu.Unlock()
		if len(open) == 0 {
			return int(bytes)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			b.t.Fatalf("requests of the page do not end: %q", open)
		}
	}
}

// Shift is how much of the page has moved since it was visited, as browsers measure it (cumulative layout shift). It waits until the page
// is drawn.
func (b *Browser) Shift() float64 {
	b.t.Helper()
	return must[float64](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(layoutShift()))))`)
}

// Moved says what has moved since the page was visited, and from where to where (x, y, width and height).
func (b *Browser) Moved() string {
	b.t.Helper()
	return must[string](b, `layoutMoved()`)
}

// Fits tests that the page is not wider than the window.
func (b *Browser) Fits() {
	b.t.Helper()
	if said := b.tooWide(); said != "" {
		b.t.Errorf("%s scrolls sideways: %s", must[string](b, "location.pathname"), said)
	}
}

// tooWide says what is wider than the window; "": nothing.
func (b *Browser) tooWide() string {
	b.t.Helper()
	const wide = `(() => {
		const width = document.documentElement.clientWidth;
		if (document.documentElement.scrollWidth <= width) { return ""; }
		const out = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > width + 1);
		return document.documentElement.scrollWidth + " > " + width + ": " + out.slice(0, 5).map((e) => e.outerHTML.slice(0, 120)).join("\n");
	})()`
	return must[string](b, wide)
}

// finding is what axe finds.
type finding struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Nodes  []string `json:"nodes"`
}

// Accessible tests the page with axe against the rules of WCAG 2.2, levels A and AA.
func (b *Browser) Accessible() {
	b.t.Helper()
	for _, f := range b.findings() {
		b.t.Errorf("%s: axe finds %s (%s): %s\n%s", must[string](b, "location.pathname"), f.ID, f.Impact, f.Help, strings.Join(f.Nodes, "\n"))
	}
}

// findings is what axe finds in the page.
func (b *Browser) findings() []finding {
	b.t.Helper()
	if !must[bool](b, `typeof axe === "object"`) {
		_ = must[chromedp.Void](b, b.axe)
	}
	const run = `axe.run(document, { resultTypes: ["violations"],
		runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] } }).then((r) => r.violations.map((v) =>
		({ id: v.id, impact: v.impact ?? "", help: v.help, nodes: v.nodes.map((n) => n.html.slice(0, 200) + " " + n.failureSummary) })))`
	return must[[]finding](b, run)
}

// ShotsVar names the folder into which [Browser.Shot] writes; without it no picture is made.
const ShotsVar = "MYC_SCREENSHOTS"

// Shot writes what the window shows to NAME.png in the folder that [ShotsVar] names.
func (b *Browser) Shot(name string) {
	b.t.Helper()
	dir := os.Getenv(ShotsVar)
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(dir, 0o750)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600)
	}
	if err != nil {
		b.t.Errorf("screenshot %s: %v", name, err)
	}
}
