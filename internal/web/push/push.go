// Package push is the room of notifications: a browser that asked for them is told of each call that waits for a person, with the answers
// in the notification itself (Web Push: RFC 8030, 8291 and 8292).
//
// What is sent is encrypted for the browser. It names the risk, the program and the target, with secrets masked as in the queue. The
// buttons of a notification answer its request only, once, from that browser, and until the request ends.
package push

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/backend/httpclient"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/rest"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// room is the notifications of a site.
type room struct {
	opened sync.Once
	*site.Site
	devices *device.Book
	egress  *httpclient.Egress
	client  *http.Client // reaches push services and nothing in this network
	tickets tickets

	mu   sync.Mutex // guards what follows
	keys keys       // made when they are needed first
	told map[string]told
	outs map[string]chan message // by device
}

// Room is the notifications.
func Room() site.Room {
	p := newRoom()
	return site.Room{Routes: p.routes, Run: func(ctx context.Context, s *site.Site) {
		p.open(s)
		p.run(ctx)
	}}
}

func newRoom() *room { return &room{told: map[string]told{}, outs: map[string]chan message{}} }

// open gives the room its site.
func (p *room) open(s *site.Site) {
	p.opened.Do(func() {
		p.Site, p.devices = s, device.Open(s.Root, s.Now)
		p.egress = httpclient.NewEgress(s.PushHosts)
		p.client = p.egress.Client()
		p.tickets.now = s.Now
	})
}

func (p *room) routes(s *site.Site) []site.Route {
	p.open(s)
	return []site.Route{
		{Pattern: "GET /sw.js", Serve: worker, Open: true},
		{Pattern: "GET /push", Serve: p.status},
		{Pattern: "POST /push/subscribe", Serve: p.subscribe},
		{Pattern: "POST /push/unsubscribe", Serve: p.unsubscribe},
		{Pattern: "POST /push/answer", Serve: p.answer},
	}
}

// worker is the script that shows notifications. It stands at the root, because a script of a browser works only below its own address.
func worker(w http.ResponseWriter, r *http.Request, _ device.Device) {
	r.SetPathValue("name", "sw.js")
	site.Asset(w, r)
}

// status tells a page with which key its browser subscribes, and whether it has.
func (p *room) status(w http.ResponseWriter, _ *http.Request, d device.Device) {
	out := struct {
		Key string `json:"key,omitempty"` // empty: there are no notifications
		On  bool   `json:"on"`
		At  string `json:"at,omitempty"` // a digest of the address at which they arrive
	}{On: d.Push != nil}
	if d.Push != nil {
		out.At = digestOf(d.Push.Endpoint)
	}
	if !p.NoPush {
		k, err := p.vapid()
		if err != nil {
			p.Fail(w, http.StatusInternalServerError, err)
			return
		}
		out.Key = k.Public
	}
	rest.JSON(w, out)
}

// subscription is what the browser says of where its notifications arrive (PushSubscription.toJSON).
type subscription struct {
	Endpoint       string   `json:"endpoint"`
	ExpirationTime *float64 `json:"expirationTime"`
	Keys           struct {
		P256dh string `json:"p256dh"`
		Auth   string `json:"auth"`
	} `json:"keys"`
}

// maxEndpoint bounds the address of a subscription, in bytes.
const maxEndpoint = 2048

// check refuses a subscription to which nothing can or may be sent.
func (p *room) check(s subscription) error {
	u, err := url.Parse(s.Endpoint)
	if err != nil || len(s.Endpoint) > maxEndpoint {
		return errors.New("the address of the push service cannot be read")
	}
	if err := p.egress.Check(u); err != nil {
		return errors.New("the address of the push service is refused: " + err.Error())
	}
	point, err := base64.RawURLEncoding.DecodeString(s.Keys.P256dh)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(point)
	}
	secret, bad := base64.RawURLEncoding.DecodeString(s.Keys.Auth)
	if err != nil || bad != nil || len(secret) != 16 {
		return errors.New("the keys of the subscription are none of Web Push (RFC 8291)")
	}
	return nil
}

func (p *room) subscribe(w http.ResponseWriter, r *http.Request, d device.Device) {
	var s subscription
	if err := read(w, r, &s); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if p.NoPush {
		refuse(w, http.StatusForbidden, "notifications are off: web.push in your own mycelium.yaml")
		return
	}
	if err := p.check(s); err != nil {
		refuse(w, http.StatusBadRequest, text.OneLine(err.Error()))
		return
	}
	err := p.devices.Keep(d.ID, func(d *device.Device) error {
		d.Push = &device.Push{Endpoint: s.Endpoint, P256dh: s.Keys.P256dh, Auth: s.Keys.Auth, Created: p.Now().UTC()}
		return nil
	})
	if err != nil {
		refuse(w, http.StatusInternalServerError, text.OneLine(text.Describe(err)))
		return
	}
	p.Tell("notifications go to " + d.ID + ", " + d.Name)
	w.WriteHeader(http.StatusNoContent)
}

func (p *room) unsubscribe(w http.ResponseWriter, _ *http.Request, d device.Device) {
	if err := p.forget(d.ID, ""); err != nil {
		refuse(w, http.StatusInternalServerError, text.OneLine(text.Describe(err)))
		return
	}
	p.Tell("notifications go no longer to " + d.ID + ", " + d.Name)
	w.WriteHeader(http.StatusNoContent)
}

// forget removes the subscription of a device. With an endpoint, only if it is still that one.
func (p *room) forget(id, endpoint string) error {
	p.tickets.dropDevice(id)
	return p.devices.Keep(id, func(d *device.Device) error {
		if d.Push != nil && (endpoint == "" || d.Push.Endpoint == endpoint) {
			d.Push = nil
		}
		return nil
	})
}

// answer takes the answer of a button of a notification, by the call of the node by which a command answers.
func (p *room) answer(w http.ResponseWriter, r *http.Request, d device.Device) {
	var said struct {
		Ticket string `json:"ticket"`
		Answer string `json:"answer"`
	}
	if err := read(w, r, &said); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if said.Answer != "allow" && said.Answer != "deny" {
		refuse(w, http.StatusBadRequest, "the answer is allow or deny")
		return
	}
	t, ok := p.tickets.use(said.Ticket, d.ID)
	if !ok {
		refuse(w, http.StatusGone, "this notification is not good any more: look at the inbox")
		return
	}
	project, known := p.Project(t.project)
	if !known {
		refuse(w, http.StatusNotFound, "there is no such project any more")
		return
	}
	allow := said.Answer == "allow"
	p.answering(t.key(), d.ID)
	if _, err := site.Ask(r.Context(), p.Site, project, api.ApprovalsAnswer,
		api.Answer{ID: t.id, Allow: &allow, For: approval.Once, Digest: t.digest, Device: d.ID}); err != nil {
		p.answering(t.key(), "")
		refuse(w, failure.Of(err).Kind.HTTP(), text.OneLine(text.Describe(err)))
		return
	}
	p.tickets.settle(t.key()) // the others are void now, and not only when the node tells of the answer
	p.Tell("answered by " + d.ID + " in a notification: " + text.OneLine(t.id) + " of " + site.Name(project))
	w.WriteHeader(http.StatusNoContent)
}

// answerable reports whether a request can be answered by a button of a notification: not one that demands a second sign, because its
// reasons must be read, and no question, which needs words.
func answerable(r approval.Request) bool {
	return !r.Demand().Any() && r.Kind != approval.Question && r.Digest != ""
}

// read reads the JSON of a request.
func read(w http.ResponseWriter, r *http.Request, into any) error {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, site.MaxForm))
	if err == nil {
		err = rawjson.Decode(b, into, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return errors.New("the request cannot be read as JSON of these pages")
	}
	return nil
}

func refuse(w http.ResponseWriter, status int, why string) { http.Error(w, why, status) }
