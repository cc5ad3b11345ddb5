package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// patience is how long a page may take until it shows what a test waits for. It ends a test that would hang.
const patience = 2 * time.Minute

// Browser is a window in which nobody is signed in yet, with its own storage.
type Browser struct {
	t    *testing.T
	ctx  context.Context
	base string // "http://127.0.0.1:1234"
	host string
	axe  string

	mu        sync.Mutex // guards what follows
	faults    []string
	tolerated []string
	page      cdp.LoaderID                 // the page that is shown
	open      map[network.RequestID]string // requests of it that have not ended, with their addresses
	bytes     float64                      // what came for the page over the network
	changed   chan struct{}                // closed when one of these has changed
}

// Theme is what the system of a reader prefers.
type Theme string

// The themes.
const (
	Light Theme = "light"
	Dark  Theme = "dark"
)

// Open opens a window for the pages at base, "http://127.0.0.1:1234". It is 1440 pixels wide.
func Open(t *testing.T, base string) *Browser {
	t.Helper()
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	b := &Browser{t: t, base: strings.TrimSuffix(base, "/"), host: at.Host, axe: npmPart(t, "axe-core/axe.min.js"),
		open: map[network.RequestID]string{}, changed: make(chan struct{})}
	ctx, end := chromedp.NewContext(use(t), chromedp.WithNewBrowserContext(), chromedp.WithListener(b.hear))
	b.ctx = ctx
	t.Cleanup(func() {
		end()
		for _, f := range b.Faults() {
			t.Errorf("the browser says: %s", f)
		}
	})
	b.do("open a window", chromedp.Func(func(ctx context.Context, at *chromedp.Target) error {
		_, err := cdp.Call(ctx, at, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: observer})
		if err == nil {
			_, err = cdp.Call(ctx, at, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
		}
		return err
	}))
	b.Look(1440, Light)
	return b
}

// observer notes in every page how much of it moved while it was made.
const observer = `{
	let sum = 0;
	const what = [];
	const name = (n) => n && n.outerHTML ? n.outerHTML.slice(0, 150) : String(n && n.textContent);
	const place = (r) => [r.x, r.y, r.width, r.height].map(Math.round).join(" ");
	const seen = (list) => { for (const e of list) {
		sum += e.value;
		what.push(...e.sources.map((s) => name(s.node) + " from " + place(s.previousRect) + " to " + place(s.currentRect)));
	} };
	const o = new PerformanceObserver((l) => seen(l.getEntries()));
	o.observe({ type: "layout-shift", buffered: true });
	window.layoutShift = () => { seen(o.takeRecords()); return sum; };
	window.layoutMoved = () => what.join("\n");
}`

// do runs a step that must not fail.
func (b *Browser) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(b.first(ctx), steps...); err != nil {
		b.t.Fatalf("%s: %v\n%s", what, err, b.shown())
	}
}

// first is the context for a step: the first one makes the window, which lives as long as the context of that step.
func (b *Browser) first(limited context.Context) context.Context {
	if chromedp.FromContext(b.ctx).Target == nil {
		return b.ctx
	}
	return limited
}

// eval returns the value of an expression of JavaScript in the page; a promise is waited for.
func eval[T any](b *Browser, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// must is eval for what must not fail.
func must[T any](b *Browser, expression string) T {
	b.t.Helper()
	v, err := eval[T](b, expression)
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", expression, err, b.shown())
	}
	return v
}

// shown is the text of the page, for messages.
func (b *Browser) shown() string {
	s, err := eval[string](b, `location.href + "\n" + document.body.innerText`)
	if err != nil {
		return err.Error()
	}
	return s
}

// Look sets the width of the window and the theme. The page stays.
func (b *Browser) Look(width int, theme Theme) {
	b.t.Helper()
	height := int64(900)
	if width < 600 {
		height = 780
	}
	b.do("set the width", chromedp.EmulateViewport(int64(width), height), chromedp.Func(func(ctx context.Context, at *chromedp.Target) error {
		_, err := cdp.Call(ctx, at, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: string(theme)},
				{Name: "prefers-reduced-motion", Value: "reduce"}}})
		return err
	}))
}

// Visit goes to an address below the base and waits until the page and what it loads are there.
func (b *Browser) Visit(path string) {
	b.t.Helper()
	target := path
	if !strings.HasPrefix(path, "http://") {
		target = b.base + path
	}
	b.do("visit "+path, chromedp.Navigate(target))
}

// SignIn signs the window in by a link that myc web printed, as a person does.
func (b *Browser) SignIn(link string) {
	b.t.Helper()
	b.Visit(link)
	b.Click("#shell [data-part=link] button")
	b.Wait(`nav a[href="/inbox"]`)
}

// settled is an expression that is true when a press on a card would be taken: pages.js takes none just after cards have moved.
const settled = `!document.querySelector("[data-moved]")`

// Click presses the middle of the first element that fits a selector of CSS, once it is there, nothing covers it and presses are taken.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	b.until(fmt.Sprintf("%s can be pressed", selector), fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({ block: "center", behavior: "instant" });
		const r = e.getBoundingClientRect();
		return e.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)) && %s;
	})()`, selector, settled))
	at := must[[]float64](b, fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2]; })()`, selector))
	b.do("press "+selector, chromedp.MouseClickXY(at[0], at[1]))
}

// Tick ticks a box. If the page is drawn anew while the mouse is on its way, the press falls beside the box, and a person presses again.
func (b *Browser) Tick(selector string) {
	b.t.Helper()
	const most = 5
	for range most {
		b.Click(selector)
		if must[bool](b, fmt.Sprintf(`document.querySelector(%q)?.checked === true`, selector)) {
			return
		}
	}
	b.t.Fatalf("%s cannot be ticked\n%s", selector, b.shown())
}

// Keys presses keys, wherever the focus is, once presses are taken.
func (b *Browser) Keys(keys string) {
	b.t.Helper()
	b.until("presses are taken", settled)
	b.do("press "+keys, chromedp.KeyEvent(keys))
}

// Fill writes a text into a field.
func (b *Browser) Fill(selector, text string) {
	b.t.Helper()
	b.Click(selector)
	b.Keys(text)
}

// Wait waits until an element is there.
func (b *Browser) Wait(selector string) {
	b.t.Helper()
	b.until(selector+" is there", fmt.Sprintf(`document.querySelector(%q) !== null`, selector))
}

// WaitGone waits until no such element is there.
func (b *Browser) WaitGone(selector string) {
	b.t.Helper()
	b.until(selector+" is gone", fmt.Sprintf(`document.querySelector(%q) === null`, selector))
}

// WaitText waits until an element says a text.
func (b *Browser) WaitText(selector, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf("%s says %q", selector, text),
		fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.innerText.includes(%q))`, selector, text))
}

// until waits until an expression holds in a page that is loaded. It looks whenever something in the document changes. A page that is left
// meanwhile takes the question with it, so it is asked anew in the next one.
func (b *Browser) until(what, expression string) {
	b.t.Helper()
	ask := fmt.Sprintf(`new Promise((done) => {
		const holds = () => { try { return document.readyState === "complete" && Boolean(%s); } catch { return false; } };
		if (holds()) { done(true); return; }
		const look = () => { if (holds()) { o.disconnect(); done(true); } };
		const o = new MutationObserver(look);
		o.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
		for (const event of ["readystatechange", "focusin", "input"]) { document.addEventListener(event, look); }
		window.addEventListener("load", look);
	})`, expression)
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](ask, chromedp.EvalAwaitPromise))
		switch {
		case err == nil:
			return
		case ctx.Err() != nil:
			b.t.Fatalf("not within %v: %s\n%s", patience, what, b.shown())
		case !left(err):
			b.t.Fatalf("%s: %v\n%s", what, err, b.shown())
		}
	}
}

// left reports whether an expression failed because the page in which it ran was left.
func left(err error) bool {
	var e *cdproto.Error
	if !errors.As(err, &e) {
		return false
	}
	for _, said := range []string{"navigated or closed", "context was destroyed", "Cannot find context", "Promise was collected"} {
		if strings.Contains(e.Message, said) {
			return true
		}
	}
	return false
}

// Mark marks the document that is shown. [Browser.Marked] reports whether it is still the one.
func (b *Browser) Mark() {
	b.t.Helper()
	must[bool](b, `window.marked = true`)
}

// Marked reports whether the document is the one that [Browser.Mark] marked: it was not loaded anew.
func (b *Browser) Marked() bool {
	b.t.Helper()
	return must[bool](b, `window.marked === true`)
}
