package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/web"
	"mycelium/internal/web/device"
	"mycelium/internal/web/webtest"
)

// pushPages serves the pages of a project's user, with a push service on this machine.
func (p *project) pushPages(push *webtest.PushService) *web.Server {
	p.t.Helper()
	s, stop := p.servePages(push.Host)
	p.t.Cleanup(stop)
	return s
}

// pushed is what a browser is told.
type pushed struct {
	Kind, Tag, Title, Body, URL, Ticket string
	Yes, No                             string
	Until                               int64
}

func told(t *testing.T, b *webtest.PushBrowser) (p pushed) {
	t.Helper()
	select {
	case m := <-b.Got:
		if err := json.Unmarshal(m.Text, &p, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("nothing was pushed")
	}
	return p
}

// pushAs sends JSON as the browser that is signed in.
func (b *signIn) pushAs(path, body string, want int) string {
	b.t.Helper()
	r, err := b.c.Post(b.base+path, "application/json", strings.NewReader(body))
	return b.read(r, err, want)
}

// subscribe has the browser get notifications from the push service.
func (b *signIn) subscribe(service *webtest.PushService) *webtest.PushBrowser {
	b.t.Helper()
	var said struct{ Key string }
	if err := json.Unmarshal([]byte(b.get("/push", http.StatusOK)), &said, json.MatchCaseInsensitiveNames(true)); err != nil {
		b.t.Fatal(err)
	}
	phone, err := service.Subscribe(said.Key)
	if err != nil {
		b.t.Fatal(err)
	}
	b.pushAs("/push/subscribe", phone.JSON(), http.StatusNoContent)
	return phone
}

// TestPush: a browser that asked for notifications makes its person reachable, is told of a call with no page open, and answers it; the
// answer is good once, from that browser, and is in the record with it; the others are told that it is over.
func TestPush(t *testing.T) {
	t.Parallel()
	p := newProject(t, asking(nil))
	p.serve()
	service := webtest.NewPushService(t)
	s := p.pushPages(service)
	list := []string{"call", "files__list_directory", "--args", `{"path":"."}`}
	alone := p.start("", list...)
	if err := <-alone.ended; err == nil || !strings.Contains(alone.err.String(), "nobody can be reached") {
		t.Errorf("with nobody there: %v %s", err, alone.err.String())
	}
	one, other := signedIn(t, s, p.state().Root), signedIn(t, s, p.state().Root)
	phone, tablet := one.subscribe(service), other.subscribe(service)

	var first *background
	p.eventually("the person counts as reachable", func() bool { // the pages see the subscription within a second
		first = p.start("", list...)
		select {
		case <-first.ended:
			return false
		case m := <-phone.Got:
			phone.Got <- m
			return true
		}
	})
	r := p.waiting(1, 1)[0]
	m, n := told(t, phone), told(t, tablet)
	if m.Kind != "waits" || !strings.HasSuffix(m.Tag, "/"+r.ID) || !strings.Contains(m.Title, "risk: files__list_directory") ||
		!strings.Contains(m.Body, p.dir) || m.Ticket == "" || m.Ticket == n.Ticket {
		t.Errorf("%+v", m)
	}
	body := `{"ticket":"` + m.Ticket + `","answer":"allow"}`
	other.pushAs("/push/answer", body, http.StatusGone) // not its ticket
	stranger := &signIn{t, &http.Client{}, one.base}
	stranger.pushAs("/push/answer", body, http.StatusUnauthorized)
	one.pushAs("/push/answer", body, http.StatusNoContent)
	if err := <-first.ended; err != nil {
		t.Errorf("the caller: %v %s", err, first.err.String())
	}
	one.pushAs("/push/answer", body, http.StatusGone)
	other.pushAs("/push/answer", `{"ticket":"`+n.Ticket+`","answer":"deny"}`, http.StatusGone)
	if over := told(t, tablet); over.Kind != "settled" || over.Tag != n.Tag || over.Ticket != "" ||
		!strings.HasPrefix(over.Title, "Allowed: ") {
		t.Errorf("%+v", over)
	}
	var devices []device.Device
	p.decode(&devices, "web", "devices")
	if len(devices) != 2 || devices[0].Push == nil || devices[0].Push.Endpoint != "" || devices[0].Push.Auth != "" {
		t.Fatalf("devices: %+v", devices)
	}
	if settled := p.must("approvals", "show", r.ID); !strings.Contains(settled, "(browser, "+devices[0].ID+")") {
		t.Errorf("the record:\n%s", settled)
	}

	second := p.start("", list...)
	m = told(t, phone) // not of the first again: whoever answered in the notification needs not be told
	if m.Kind != "waits" {
		t.Errorf("%+v", m)
	}
	p.must("web", "devices", "revoke", devices[1].ID)
	p.must("approvals", "deny", p.waiting(1, 1)[0].ID)
	<-second.ended
	if over := told(t, phone); over.Kind != "settled" || !strings.HasPrefix(over.Title, "Denied: ") {
		t.Errorf("%+v", over)
	}
	one.pushAs("/push/answer", `{"ticket":"`+m.Ticket+`","answer":"allow"}`, http.StatusGone)
	if told(t, tablet); len(tablet.Got) > 0 {
		t.Error("a revoked browser is told")
	}
	one.pushAs("/push/unsubscribe", "{}", http.StatusNoContent)
	last := p.start("", list...)
	p.eventually("nobody is reachable", func() bool { // a call that came before the pages saw it waits: it is denied, and another one tried
		select {
		case <-last.ended:
			if strings.Contains(last.err.String(), "nobody can be reached") {
				return true
			}
			last = p.start("", list...)
		default:
		}
		var waiting []approval.Request
		p.decode(&waiting, "approvals", "list")
		for _, r := range waiting {
			p.must("approvals", "deny", r.ID)
		}
		return false
	})
}
