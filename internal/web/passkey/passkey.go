// Package passkey is the room of one browser: its page, and the passkeys (Web Authentication) that are added to it. A person can demand
// that nothing critical is allowed in a browser without one.
//
// A proof is about one act, such as to allow this call as it was shown. It is good once, in the browser that gave it, for a minute.
package passkey

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/state"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

//go:embed pages/*.html
var pages embed.FS

// The times of proofs.
const (
	askWithin   = 5 * time.Minute  // between a question and the answer of the authenticator
	proofLife   = time.Minute      // between a proof and the act that it is for
	freshSignIn = 10 * time.Minute // how long a sign-in counts as a proof for a first passkey
	maxAsked    = 256
)

// room is the passkeys of a site.
type room struct {
	*site.Site
	devices *device.Book
	opened  sync.Once

	mu     sync.Mutex // guards what follows
	asked  map[string]question
	proved map[string]time.Time // by device and act: until when
}

// question is a challenge that was given to a browser. It is good once.
type question struct {
	device string
	act    string
	party  party
	until  time.Time
}

// Room is the page of a browser and its passkeys.
func Room() site.Room {
	p := newRoom()
	return site.Room{Pages: pages, Routes: p.routes}
}

func newRoom() *room { return &room{asked: map[string]question{}, proved: map[string]time.Time{}} }

func (p *room) routes(s *site.Site) []site.Route {
	p.opened.Do(func() {
		p.Site, p.devices = s, device.Open(s.Root, s.Now)
		s.Demands = p.demands
	})
	return []site.Route{
		{Pattern: "GET /device", Serve: p.page},
		{Pattern: "GET /passkey", Serve: p.status},
		{Pattern: "POST /passkey/ask", Serve: p.ask},
		{Pattern: "POST /passkey/add", Serve: p.add},
		{Pattern: "POST /passkey/prove", Serve: p.prove},
		{Pattern: "POST /passkey/remove", Serve: p.remove},
		{Pattern: "POST /passkey/demand", Serve: p.demand},
	}
}

// demands refuses an answer that allows something critical, if the user demands a passkey for it and none was shown for this call.
func (p *room) demands(ctx context.Context, at state.Paths, a api.Answer) error {
	if a.Device == "" || a.Allow == nil || !*a.Allow {
		return nil
	}
	on, err := p.devices.Demanded()
	if err != nil || !on {
		return err
	}
	q, err := site.Ask(ctx, p.Site, at, api.ApprovalsShow, api.ApprovalParams{ID: a.ID})
	if err != nil {
		return err
	}
	if q.Risk != policy.Critical || p.take(a.Device, answerOf(site.Key(at), a.ID, a.Digest)) {
		return nil
	}
	return failure.New(failure.Denied, errors.New("this call is critical, and you demand a passkey for it"),
		"allow it in the inbox of a browser with JavaScript at which a passkey is, or with myc approvals in a terminal")
}

// answerOf is the act of allowing a request as it was shown.
func answerOf(project, id, digest string) string {
	return "answer " + project + " " + id + " " + digest
}

// take uses a proof up. It reports whether there was one.
func (p *room) take(id, act string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	until, ok := p.proved[id+" "+act]
	delete(p.proved, id+" "+act)
	return ok && p.Now().Before(until)
}

// question makes a challenge.
func (p *room) question(q question) (challenge string) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails: crypto/rand ends the program instead
	challenge = base64.RawURLEncoding.EncodeToString(b[:])
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.Now()
	for c, old := range p.asked {
		if !now.Before(old.until) || len(p.asked) >= maxAsked { // a browser that asks without end loses only questions
			delete(p.asked, c)
		}
	}
	q.until = now.Add(askWithin)
	p.asked[challenge] = q
	return challenge
}

// answered uses a challenge up, and returns what it was for.
func (p *room) answered(challenge, id string) (question, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.asked[challenge]
	if !ok || q.device != id {
		return question{}, errors.New("this question is not one of this browser")
	}
	delete(p.asked, challenge)
	if !p.Now().Before(q.until) {
		return question{}, errors.New("it took too long: begin again")
	}
	return q, nil
}

// prove notes that a person is there, for an act.
func (p *room) noted(id, act string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.Now()
	for k, until := range p.proved {
		if !now.Before(until) {
			delete(p.proved, k)
		}
	}
	p.proved[id+" "+act] = now.Add(proofLife)
}

// partyOf is who asks in a request, by the name under which the browser came, which the server has checked. ok is false for a numeric
// address: Web Authentication knows names only.
func partyOf(r *http.Request) (p party, ok bool) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	_, err = netip.ParseAddr(host)
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return party{host: host, origin: cmp.Or(r.Header.Get("Origin"), scheme+"://"+r.Host)}, err != nil
}

// usable are the passkeys of the user that are good at an address of the pages, of all devices.
func (p *room) usable(origin string) (out []device.Passkey, err error) {
	list, err := p.devices.List()
	for _, d := range list {
		for _, k := range d.Passkeys {
			if k.Origin == origin {
				out = append(out, k)
			}
		}
	}
	return out, err
}

// needsProof reports whether a passkey may be added only with another one: the key of a browser alone must not be enough to get past the demand.
func (p *room) needsProof(d device.Device) (bool, error) {
	on, err := p.devices.Demanded()
	return on && p.Now().Sub(d.Created) > freshSignIn, err
}

// check finds the passkey of an assertion, checks it, and keeps its counter.
func (p *room) check(q question, r response, challenge string) error {
	list, err := p.devices.List()
	if err != nil {
		return err
	}
	for _, d := range list {
		at := slices.IndexFunc(d.Passkeys, func(k device.Passkey) bool { return k.ID == r.ID })
		if at < 0 {
			continue
		}
		counter, err := q.party.proof(r, challenge, d.Passkeys[at])
		if err != nil {
			return err
		}
		return p.devices.Keep(d.ID, func(d *device.Device) error {
			for i := range d.Passkeys {
				if d.Passkeys[i].ID == r.ID {
					d.Passkeys[i].Counter, d.Passkeys[i].Used = counter, p.Now().UTC()
				}
			}
			return nil
		})
	}
	return errors.New("no browser of yours has this passkey")
}
