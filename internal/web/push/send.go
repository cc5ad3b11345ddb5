package push

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"
	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/node/client"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// The bounds of what is sent.
const (
	lookEvery = time.Second    // how often it is looked whether a browser wants notifications
	noEnd     = 12 * time.Hour // how long the notification of a request without a deadline is good
	leastTTL  = time.Minute    // how long the end of a request is told of after the time at which it had ended by itself
	maxQueued = 100            // messages that wait for one device: more are not sent
	tries     = 3

	retryAfter    = time.Second // after which a message is sent again, where the push service does not say
	maxRetryAfter = 30 * time.Second
)

// subscriber is who push services may turn to about us (RFC 8292, section 2.1). It is the program, not the person.
const subscriber = "https://mycelium.invalid/pages"

// message is something that is sent to a device.
type message struct {
	content
	key    string // of the request
	until  time.Time
	ticket ticket // with which the buttons answer; the zero value: it has none
}

// told is a request of which devices were told.
type told struct {
	devices  map[string]bool
	until    time.Time
	answerer string // the device that answered in its notification, and needs not be told
}

// run watches the nodes while a browser wants notifications.
func (p *room) run(ctx context.Context) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	var end context.CancelFunc
	for {
		on := len(p.subscribed()) > 0
		switch {
		case on && end == nil:
			var watch context.Context
			watch, end = context.WithCancel(ctx)
			all.Go(func() { p.watch(watch) })
		case !on && end != nil:
			end()
			all.Wait()
			end = nil
		}
		select {
		case <-ctx.Done():
			if end != nil {
				end()
			}
			return
		case <-look.C:
		}
	}
}

// subscribed are the devices that want notifications.
func (p *room) subscribed() (out []device.Device) {
	if p.NoPush {
		return nil
	}
	list, err := p.devices.List()
	if err != nil {
		return nil // the pages say so
	}
	for _, d := range list {
		if d.Push != nil {
			out = append(out, d)
		}
	}
	return out
}

// watch tells devices of what waits, until ctx is done.
func (p *room) watch(ctx context.Context) {
	var sending sync.WaitGroup
	defer sending.Wait()
	p.Follow(ctx, func(ctx context.Context, at state.Paths, c *daemon.Client) {
		err := client.Watch(ctx, c, api.WatchParams{Away: true}, func(r approval.Request) { p.sees(ctx, &sending, at, r) })
		if err != nil && ctx.Err() == nil {
			p.Tell("what waits in " + text.OneLine(at.Project) + " cannot be watched: " + text.Visible(text.Describe(err)))
		}
	})
}

// sees tells the devices of a request that waits or has ended.
func (p *room) sees(ctx context.Context, sending *sync.WaitGroup, at state.Paths, r approval.Request) {
	project, key := site.Key(at), site.Key(at)+"/"+r.ID
	if r.State != approval.Pending {
		p.tickets.settle(key)
		for id, m := range p.ended(project, key, r) {
			p.queue(ctx, sending, id, m)
		}
		return
	}
	until := r.Deadline
	if until.IsZero() {
		until = p.Now().Add(noEnd)
	}
	for _, d := range p.subscribed() {
		if !p.tell(key, d.ID, until) {
			continue
		}
		m := message{content: waits(site.Name(at), project, r), key: key, until: until}
		if answerable(r) {
			m.ticket = ticket{project: project, id: r.ID, digest: r.Digest, device: d.ID, until: until}
		}
		p.queue(ctx, sending, d.ID, m)
	}
}

// tell notes that a device is told of a request; false if it was told before.
func (p *room) tell(key, id string, until time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.Now()
	for k, t := range p.told {
		if now.After(t.until) { // its node ended before the request did
			delete(p.told, k)
		}
	}
	t, ok := p.told[key]
	if !ok {
		t = told{devices: map[string]bool{}, until: until.Add(leastTTL)}
		p.told[key] = t
	}
	if t.devices[id] {
		return false
	}
	t.devices[id] = true
	return true
}

// answering notes which device answers a request in its notification; "": none after all.
func (p *room) answering(key, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t, ok := p.told[key]; ok {
		t.answerer = id
		p.told[key] = t
	}
}

// ended returns what the devices get that were told of a request which has ended.
func (p *room) ended(project, key string, r approval.Request) map[string]message {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]message{}
	t := p.told[key]
	for id := range t.devices {
		if id != t.answerer {
			out[id] = message{content: settled(project, r), key: key, until: t.until}
		}
	}
	delete(p.told, key)
	return out
}

// queue gives a message to the sender of a device. Each has one, so that a slow push service delays nobody else and what ends a request
// comes after what began it.
func (p *room) queue(ctx context.Context, sending *sync.WaitGroup, id string, m message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, ok := p.outs[id]
	if !ok {
		out = make(chan message, maxQueued)
		p.outs[id] = out
		sending.Go(func() { p.serve(ctx, id, out) })
	}
	select {
	case out <- m:
	default:
	}
}

// serve sends the messages of one device until ctx is done.
func (p *room) serve(ctx context.Context, id string, out chan message) {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.outs, id)
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-out:
			if err := p.send(ctx, id, m); err != nil && ctx.Err() == nil {
				p.Tell("a notification did not reach " + id + ": " + text.OneLine(err.Error()))
			}
		}
	}
}

// errGone means that a browser takes no notifications any more.
var errGone = errors.New("the browser takes no notifications any more: they are off now")

// send sends a message to a device, unless the device is gone or the message is not true any more.
func (p *room) send(ctx context.Context, id string, m message) error {
	var to *device.Push
	for _, d := range p.subscribed() {
		if d.ID == id {
			to = d.Push
		}
	}
	if to == nil || m.Kind == "waits" && !p.waiting(m.key) {
		return nil
	}
	if m.ticket.id != "" {
		m.Ticket = p.tickets.issue(m.ticket)
	}
	payload, err := json.Marshal(m.content)
	if err != nil {
		return err
	}
	for try := range tries {
		var wait time.Duration
		if wait, err = p.post(ctx, to, m, payload); err == nil || wait == 0 || try == tries-1 || !pause(ctx, wait) {
			break
		}
	}
	if errors.Is(err, errGone) {
		err = errors.Join(err, p.forget(id, to.Endpoint))
	}
	return err
}

// waiting reports whether a request of which devices were told has not ended.
func (p *room) waiting(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.told[key]
	return ok
}

// post hands a message to the push service of a device. If it failed, wait is after which time it may be tried again; 0: it may not. Its
// errors do not contain the address, which is a secret.
func (p *room) post(ctx context.Context, to *device.Push, m message, payload []byte) (wait time.Duration, err error) {
	k, err := p.vapid()
	if err != nil {
		return 0, err
	}
	u, err := url.Parse(to.Endpoint)
	if err != nil || p.egress.Check(u) != nil {
		return 0, errors.New("the address of its push service is refused")
	}
	ttl := m.until.Sub(p.Now())
	if ttl <= 0 {
		return 0, nil
	}
	urgency := webpush.UrgencyHigh
	if m.Kind != "waits" {
		urgency = webpush.UrgencyNormal
	}
	res, err := webpush.SendNotificationWithContext(ctx, payload, &webpush.Subscription{Endpoint: to.Endpoint,
		Keys: webpush.Keys{Auth: to.Auth, P256dh: to.P256dh}}, &webpush.Options{HTTPClient: p.client, Subscriber: subscriber,
		Topic: topic(m.key), TTL: int(ttl.Seconds()) + 1, Urgency: urgency, VAPIDPublicKey: k.Public, VAPIDPrivateKey: k.Private})
	if err != nil {
		var hidden *url.Error
		if errors.As(err, &hidden) {
			err = hidden.Err
		}
		return retryAfter, err
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10)
	switch status := res.StatusCode; {
	case status/100 == 2:
		return 0, nil
	case status == http.StatusNotFound, status == http.StatusGone:
		return 0, errGone
	case status == http.StatusTooManyRequests, status/100 == 5:
		wait = retryAfter
		if n, bad := strconv.Atoi(res.Header.Get("Retry-After")); bad == nil && n > 0 {
			wait = min(time.Duration(n)*time.Second, maxRetryAfter)
		}
	}
	return wait, fmt.Errorf("its push service answered %s", res.Status)
}

// topic names a request for a push service, to which it says nothing: a message that was not delivered yet is replaced by the next with
// the same topic (RFC 8030, section 5.4).
func topic(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:24])
}

// pause waits for d. It reports false if ctx is done first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
