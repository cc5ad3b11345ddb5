package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"mycelium/internal/audit/index"
	"mycelium/internal/state"
	"mycelium/internal/web"
)

// TestWebInBrowser does what a person does, in Chromium: signs in with the link, sees a call appear in the open page without loading it,
// answers it by the keys, and sees that a call which was answered elsewhere has gone. The page reports no error, so its policy of contents
// lets it do all that it wants. At 360 pixels nothing is wider than the screen.
func TestWebInBrowser(t *testing.T) {
	t.Parallel()
	chromium, err := exec.LookPath("chromium")
	needed(t, err, "chromium")
	p := newProject(t, asking(nil))
	p.serve()
	s, err := web.Listen(t.Context(), "127.0.0.1:0", web.Options{Root: p.state().Root, Runtime: filepath.Join(p.home, "run"),
		Records: func(context.Context, state.Paths, index.Query) ([]index.Entry, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Run(p.ctx) }()
	link, err := web.Link(p.state().Root, s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	allocator, end := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium),
		chromedp.NoSandbox, chromedp.Env("HOME="+t.TempDir()), chromedp.WSURLReadTimeout(time.Minute))...)
	defer end()
	tab, end := chromedp.NewContext(allocator)
	watched := make(chan struct{})
	defer func() {
		end()
		<-watched
	}()
	go func() {
		defer close(watched)
		for m, err := range chromedp.Console(tab) {
			if err == nil && (m.IsException() || m.Type == "error") {
				t.Errorf("the page: %s", m)
			}
		}
	}()
	do := func(what string, actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(tab, actions...); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	narrow := func(page string) {
		t.Helper()
		if wide, err := chromedp.Run(tab, chromedp.Evaluate[bool]("document.documentElement.scrollWidth > innerWidth")); err != nil || wide {
			t.Errorf("%s is wider than the screen: %t, %v", page, wide, err)
		}
		picture(t, tab, page+"-360.png")
	}
	do("sign in", chromedp.EmulateViewport(360, 800), chromedp.Navigate(link), chromedp.Click("button.first"), chromedp.WaitVisible("p.empty"))
	first := p.start("", "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"."}`)
	p.waiting(1, 1)
	do("see the call come", chromedp.WaitVisible("article.card"))
	narrow("inbox")
	do("answer by keys", chromedp.KeyEvent("j"), chromedp.KeyEvent("y"), chromedp.WaitVisible("p.done"))
	said, err := chromedp.Run(tab, chromedp.Text("p.done"))
	if err != nil || !strings.Contains(said, "allowed by") || !strings.Contains(said, "(browser, d-") {
		t.Errorf("after the answer: %s", said)
	}
	if err := <-first.ended; err != nil {
		t.Errorf("the caller: %v %s", err, first.err.String())
	}
	second := p.start("", "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"skills"}`)
	r := p.waiting(1, 1)[0]
	do("see another call", chromedp.WaitVisible("article.card"))
	p.must("approvals", "deny", r.ID)
	do("see it go", chromedp.WaitNotPresent("article.card"))
	<-second.ended
	for name, path := range map[string]string{"home": "/", "log": "/log"} {
		do(name, chromedp.Navigate("http://"+s.Addr()+path), chromedp.WaitVisible("h1"))
		narrow(name)
	}
}

// picture writes what the tab shows into the folder PICTURES, for people.
func picture(t *testing.T, tab context.Context, name string) {
	dir := os.Getenv("PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(tab, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), png, 0o600); err != nil {
		t.Fatal(err)
	}
}
