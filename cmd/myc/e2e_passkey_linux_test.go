package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"

	"mycelium/internal/web"
	"mycelium/internal/web/webtest"
	"mycelium/internal/web/webtest/browser"
)

// TestPasskeyInBrowser: a passkey is added in a browser and demanded; then a critical call is not allowed with the key of a browser alone, and
// is with the passkey.
func TestPasskeyInBrowser(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"mycelium.yaml":           "session: {defaultRole: developer, roles: [developer]}\napproval: {mode: remote}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash]\n",
		"rules.yaml":              "version: 1\nrules:\n  - {name: ask-shell, action: ask, tool: agent__Bash, reason: People decide.}\n",
	})
	p.serve()
	s := p.pushPages(webtest.NewPushService(t))
	b := browser.Open(t, s.Note().Base)
	browser.Command(b, webauthn.Enable, webauthn.EnableParams{})
	browser.Command(b, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
		Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal, HasUserVerification: true,
			IsUserVerified: true, AutomaticPresenceSimulation: true}})
	link, err := web.Link(p.state().Root, s.Note().Addr)
	if err != nil {
		t.Fatal(err)
	}
	b.SignIn(link)
	b.Visit("/device")
	b.Click(`[data-passkey="new"]`)
	b.Click(`[data-passkey="demand"]`)
	b.Wait(`[data-passkey="free"]`)

	call := p.hookAsks("t1", "git push --force origin work")
	r := p.waiting(1, 1)[0]
	if r.Risk != "critical" {
		t.Fatalf("the risk is %s: is the test wrong?", r.Risk)
	}
	b.Visit("/inbox")
	b.Click(".card .sure input")
	form := browser.Eval[string](b, `document.querySelector(".card form").getAttribute("action")`)
	other := signedIn(t, s, p.state().Root)
	said := other.post(form, url.Values{"digest": {r.Digest}, "answer": {"once"}, "sure": {"yes"}}, http.StatusForbidden)
	if !strings.Contains(said, "you demand a passkey for it") {
		t.Errorf("with the key of a browser alone:\n%s", said)
	}
	b.Click(`.card button[value="once"]`)
	b.Wait(".done")
	if err := <-call.ended; err != nil || !strings.Contains(call.out.String(), `"allow"`) {
		t.Errorf("the caller: %v %s %s", err, call.out.String(), call.err.String())
	}
	if settled := p.must("approvals", "show", r.ID); !strings.Contains(settled, "(browser, d-") {
		t.Errorf("the record:\n%s", settled)
	}

	second := p.hookAsks("t2", "git push --force origin work") // a critical call is denied without one
	r = p.waiting(1, 1)[0]
	form = form[:strings.LastIndex(form, "/")+1] + r.ID
	other.post(form, url.Values{"digest": {r.Digest}, "answer": {"deny"}}, http.StatusSeeOther)
	<-second.ended

	b.Visit("/device")
	b.Click(`[data-passkey="free"]`)
	b.Wait(`[data-passkey="demand"]`)
	b.Click(`[data-passkey="remove"]`)
	b.WaitGone(`[data-passkey="remove"]`)
	browser.Command(b, webauthn.Disable, cdp.Empty{})
}
