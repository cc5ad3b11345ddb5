package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"mycelium/internal/web"
	"mycelium/internal/web/webtest"
	"mycelium/internal/web/webtest/browser"
)

// notification is one that a browser shows.
type notification struct {
	Tag, Title, Body string
	Actions          []string
	Silent           bool
}

// shownBy returns the notifications that a browser shows.
func shownBy(w *browser.Worker) []notification {
	return browser.Eval[[]notification](w.Browser, `registration.getNotifications().then(list => list.map(n => ({Tag: n.tag, Title: n.title,
		Body: n.body, Silent: n.silent === true, Actions: (n.actions || []).map(a => a.action + " " + a.title)})))`)
}

// press presses a button of a notification. DevTools cannot press one, so the worker gets the event that a press makes. It is not the
// browser's own event, so that nothing can be opened by it.
func press(w *browser.Worker, tag, action string) {
	browser.Eval[bool](w.Browser, fmt.Sprintf(`registration.getNotifications({tag: %q}).then(list =>
		self.dispatchEvent(new NotificationEvent("notificationclick", {notification: list[0], action: %q})))`, tag, action))
}

// pushManager stands for the browser's own, which would ask a push service in the internet. The subscription is kept for the window.
const pushManager = `
PushManager.prototype.getSubscription = async function () {
	const said = sessionStorage.getItem("subscription");
	return said && {endpoint: JSON.parse(said).endpoint, toJSON: () => JSON.parse(said),
		unsubscribe: async () => { sessionStorage.removeItem("subscription"); return true; }};
};
PushManager.prototype.subscribe = async function (o) {
	const key = btoa(String.fromCharCode(...o.applicationServerKey)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
	if (!o.userVisibleOnly || key !== %q) {
		throw new Error("subscribe with " + key);
	}
	sessionStorage.setItem("subscription", %q);
	return this.getSubscription();
};`

// deliver hands the next message for a browser to it, and returns what it shows then. It waits for the worker: to ask again and again what
// is shown would lose the notification, because Chromium forgets those that it has written down and not yet shown when it is asked.
func deliver(t *testing.T, b *browser.Browser, w *browser.Worker, phone *webtest.PushBrowser) []notification {
	t.Helper()
	m := <-phone.Got
	browser.Eval[bool](w.Browser, `(() => {
		const kind = ServiceWorkerRegistration.prototype;
		kind.show ??= kind.showNotification;
		self.shown = new Promise((done) => {
			kind.showNotification = function (...said) { return this.show(...said).then(done); };
		});
		return true;
	})()`)
	w.Deliver(b, string(m.Text))
	browser.Eval[bool](w.Browser, `self.shown.then(() => true)`)
	return shownBy(w)
}

// TestPushInBrowser: the pages can be installed; a button turns notifications on; a message becomes a notification with the answers, which
// answer; the end of a request takes its place; without the server the browser says so, and keeps no page.
func TestPushInBrowser(t *testing.T) {
	t.Parallel()
	p := newProject(t, asking(nil))
	p.serve()
	service := webtest.NewPushService(t)
	s, stop := p.servePages(service.Host)
	b := browser.Open(t, s.Note().Base)
	b.Notifiable()
	link, err := web.Link(p.state().Root, s.Note().Addr)
	if err != nil {
		t.Fatal(err)
	}
	b.SignIn(link)
	key := browser.Eval[string](b, `fetch("/push").then(r => r.json()).then(said => said.key)`)
	phone, err := service.Subscribe(key)
	if err != nil {
		t.Fatal(err)
	}
	b.First(fmt.Sprintf(pushManager, key, phone.JSON()))
	b.Visit("/inbox")
	w := b.Worker(t)
	for _, f := range browser.Command(b, page.GetInstallabilityErrors, cdp.Empty{}).InstallabilityErrors {
		if f.ErrorID != "in-incognito" { // a window of a test is one
			t.Errorf("the pages cannot be installed: %s %v", f.ErrorID, f.ErrorArguments)
		}
	}

	b.Click("#notify button")
	b.Wait("#notify[hidden]")
	first := p.start("", "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"."}`)
	shown := deliver(t, b, w, phone)
	if len(shown) != 1 || !strings.Contains(shown[0].Title, "risk: files__list_directory") || !strings.Contains(shown[0].Body, p.dir) ||
		!slices.Equal(shown[0].Actions, []string{"allow Approve", "deny Deny"}) {
		t.Fatalf("shown: %+v", shown)
	}
	press(w, shown[0].Tag, "deny")
	if err := <-first.ended; err == nil || !strings.Contains(first.err.String(), "Not approved by") {
		t.Errorf("the caller: %v %s", err, first.err.String())
	}
	if shown := shownBy(w); len(shown) != 0 {
		t.Errorf("after the answer: %+v", shown)
	}

	second := p.start("", "call", "--ask", "wait", "files__list_directory", "--args", `{"path":".."}`)
	tag := deliver(t, b, w, phone)[0].Tag
	p.must("approvals", "approve", p.waiting(1, 1)[0].ID)
	<-second.ended
	if shown := deliver(t, b, w, phone); len(shown) != 1 || shown[0].Tag != tag || len(shown[0].Actions) != 0 || !shown[0].Silent ||
		!strings.HasPrefix(shown[0].Title, "Allowed: ") {
		t.Errorf("after the end: %+v", shown)
	}

	// Browser and htmx say of a stream and of a request that they ended.
	b.Tolerate("Failed to load resource", "[object Event]", "htmx:sendError", "htmx:afterRequest")
	stop()
	b.Visit("/inbox")
	b.WaitText("h1", "The pages cannot be reached")
	kept := browser.Eval[string](b, `caches.keys().then(names => Promise.all(names.map(n => caches.open(n).then(c => c.keys()))))
		.then(all => all.flat().map(r => new URL(r.url).pathname).sort().join(" "))`)
	if kept != "/assets/icon.svg /assets/offline.html /assets/pages.css" {
		t.Errorf("kept: %s", kept)
	}
}
