package browser

import (
	"context"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"
)

// Command sends a command of the DevTools protocol to a window, which must succeed.
func Command[P, R any](b *Browser, c cdp.Command[P, R], params P) (result R) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	result, err := chromedp.Run(ctx, func(ctx context.Context, at *chromedp.Target) (R, error) { return cdp.Call(ctx, at, c, params) })
	if err != nil {
		b.t.Fatalf("%s: %v", c.Method, err)
	}
	return result
}

// Eval returns the value of an expression of JavaScript in the page; a promise is waited for.
func Eval[T any](b *Browser, expression string) T {
	b.t.Helper()
	return must[T](b, expression)
}

// First runs a script in every page from now on, before its own.
func (b *Browser) First(script string) {
	b.t.Helper()
	Command(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// Notifiable lets the pages show notifications, as a person who was asked does.
func (b *Browser) Notifiable() {
	b.t.Helper()
	c := chromedp.FromContext(b.ctx)
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	_, err := cdp.Call(ctx, c.Browser, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{Origin: b.base,
		BrowserContextID: c.BrowserContextID, Setting: cdpbrowser.PermissionSettingGranted,
		Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"}})
	if err != nil {
		b.t.Fatalf("let the pages show notifications: %v", err)
	}
}

// Worker is the service worker of the pages.
type Worker struct {
	*Browser
	registration serviceworker.RegistrationID
}

// Worker attaches to the service worker of the page that is shown.
func (b *Browser) Worker(t *testing.T) *Worker {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	must[string](b, `navigator.serviceWorker.ready.then((r) => r.scope)`)
	w := &Worker{}
	updates := cdp.Events(ctx, chromedp.FromContext(b.ctx).Target, serviceworker.WorkerRegistrationUpdated)
	Command(b, serviceworker.Enable, cdp.Empty{})
	for e, err := range updates {
		if err != nil {
			t.Fatalf("find the registration of the worker: %v", err)
		}
		for _, r := range e.Registrations {
			if !r.IsDeleted && r.ScopeURL == b.base+"/" {
				w.registration = r.RegistrationID
			}
		}
		if w.registration != "" {
			break
		}
	}
	targets, err := chromedp.Targets(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range targets {
		if i.Type == "service_worker" && i.URL == b.base+"/sw.js" {
			inside, end := chromedp.NewContext(b.ctx, chromedp.WithTargetID(i.TargetID), chromedp.WithDetachOnCancel())
			t.Cleanup(end)
			if err := chromedp.Do(inside); err != nil {
				t.Fatalf("attach to the worker: %v", err)
			}
			w.Browser = &Browser{t: t, ctx: inside, base: b.base}
			return w
		}
	}
	t.Fatalf("the worker does not run: %+v", targets)
	return nil
}

// Deliver hands a message to the worker, as the browser does when a push service has sent it.
func (w *Worker) Deliver(b *Browser, message string) {
	b.t.Helper()
	Command(b, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: b.base,
		RegistrationID: w.registration, Data: message})
}
