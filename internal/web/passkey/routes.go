package passkey

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/op/rest"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// own is what the page of a browser shows.
type own struct {
	Device   device.Device
	Passkeys []key
	Named    bool // the page came under a name, at which passkeys work
	Demanded bool
	Problem  string
}

// key is a passkey as the page shows it.
type key struct {
	ID            string
	Host          string
	Created, Used time.Time
}

func (p *room) page(w http.ResponseWriter, r *http.Request, d device.Device) {
	o := own{Device: d.Shown()}
	var err error
	if o.Demanded, err = p.devices.Demanded(); err != nil {
		o.Problem = text.Visible(text.Describe(err))
	}
	_, o.Named = partyOf(r)
	for _, k := range d.Passkeys {
		o.Passkeys = append(o.Passkeys, key{k.ID, text.OneLine(k.Origin), k.Created, k.Used})
	}
	p.Show(w, r, http.StatusOK, "device", d, site.Page{Title: "This browser", Here: "/device",
		Files: []string{"push.js", "passkey.js"}, Body: o})
}

// status tells a page whether critical answers need a passkey.
func (p *room) status(w http.ResponseWriter, _ *http.Request, _ device.Device) {
	on, err := p.devices.Demanded()
	if err != nil {
		fail(w, err)
		return
	}
	rest.JSON(w, map[string]bool{"demanded": on})
}

// The acts that need a proof, besides answers.
const (
	actAdd    = "add"
	actRemove = "remove "
	actFree   = "demand no passkey"
)

// ask gives a browser a challenge, and what it needs to ask its authenticator.
func (p *room) ask(w http.ResponseWriter, r *http.Request, d device.Device) {
	var wants struct {
		Act     string `json:"act"` // new, add, remove, free or answer
		Project string `json:"project"`
		ID      string `json:"id"`
		Digest  string `json:"digest"`
	}
	if !read(w, r, &wants) {
		return
	}
	at, ok := partyOf(r)
	if !ok {
		http.Error(w, "a passkey is bound to a name, and this page has a numeric address: sign in by the address that myc web --print-url prints",
			http.StatusConflict)
		return
	}
	act, ok := map[string]string{"new": "new", "add": actAdd, "remove": actRemove + wants.ID, "free": actFree,
		"answer": answerOf(wants.Project, wants.ID, wants.Digest)}[wants.Act]
	if !ok {
		http.Error(w, "there is no such act", http.StatusBadRequest)
		return
	}
	keys, err := p.usable(at.origin)
	var proof bool
	if err == nil {
		proof, err = p.needsProof(d)
	}
	if err != nil {
		fail(w, err)
		return
	}
	out := struct {
		Challenge string   `json:"challenge"`
		Host      string   `json:"host"`
		User      string   `json:"user"`
		Name      string   `json:"name"`
		Keys      []string `json:"keys"`
		Proof     bool     `json:"proof"` // a new one needs a proof by another one
	}{p.question(question{device: d.ID, act: act, party: at}), at.host, d.ID, "Mycelium, " + d.ID, []string{}, proof}
	for _, k := range keys {
		out.Keys = append(out.Keys, k.ID)
	}
	rest.JSON(w, out)
}

// signed is the answer of an authenticator to a challenge.
type signed struct {
	Challenge string   `json:"challenge"`
	Response  response `json:"response"`
}

// errPasskeys means that a device has as many passkeys as it may.
var errPasskeys = errors.New("this browser has eight passkeys, and no more may be: remove one")

func (p *room) add(w http.ResponseWriter, r *http.Request, d device.Device) {
	var said signed
	if !read(w, r, &said) {
		return
	}
	proof, err := p.needsProof(d)
	if err != nil {
		fail(w, err)
		return
	}
	if proof && !p.take(d.ID, actAdd) {
		http.Error(w, "you demand a passkey: show one that you have before you add another, or sign in anew", http.StatusForbidden)
		return
	}
	q, err := p.answered(said.Challenge, d.ID)
	if err == nil && q.act != "new" {
		err = errors.New("this question was for something else")
	}
	var k device.Passkey
	if err == nil {
		k, err = q.party.newKey(said.Response, said.Challenge)
	}
	if err != nil {
		http.Error(w, text.OneLine(err.Error()), http.StatusForbidden)
		return
	}
	k.Created = p.Now().UTC()
	err = p.devices.Keep(d.ID, func(d *device.Device) error {
		if len(d.Passkeys) >= device.MaxPasskeys {
			return errPasskeys
		}
		d.Passkeys = append(slices.DeleteFunc(d.Passkeys, func(old device.Passkey) bool { return old.ID == k.ID }), k)
		return nil
	})
	p.done(w, err, "a passkey was added to "+d.ID)
}

// prove takes the proof that a person is there, for the act that the challenge was for.
func (p *room) prove(w http.ResponseWriter, r *http.Request, d device.Device) {
	var said signed
	if !read(w, r, &said) {
		return
	}
	q, err := p.answered(said.Challenge, d.ID)
	if err == nil {
		err = p.check(q, said.Response, said.Challenge)
	}
	if err != nil {
		p.Tell("a passkey was refused at " + d.ID + ": " + text.OneLine(err.Error()))
		http.Error(w, text.OneLine(err.Error()), http.StatusForbidden)
		return
	}
	p.noted(d.ID, q.act)
	w.WriteHeader(http.StatusNoContent)
}

// remove removes a passkey of this device. While a passkey is demanded it needs one: else the key of the browser alone would get past it.
func (p *room) remove(w http.ResponseWriter, r *http.Request, d device.Device) {
	var said struct {
		ID string `json:"id"`
	}
	if !read(w, r, &said) || !p.free(w, d, actRemove+said.ID) {
		return
	}
	err := p.devices.Keep(d.ID, func(d *device.Device) error {
		d.Passkeys = slices.DeleteFunc(d.Passkeys, func(k device.Passkey) bool { return k.ID == said.ID })
		return nil
	})
	p.done(w, err, "a passkey of "+d.ID+" was removed")
}

// demand says whether a critical answer needs a passkey.
func (p *room) demand(w http.ResponseWriter, r *http.Request, d device.Device) {
	var said struct {
		On bool `json:"on"`
	}
	if !read(w, r, &said) || !said.On && !p.free(w, d, actFree) {
		return
	}
	if said.On && len(d.Passkeys) == 0 {
		http.Error(w, "add a passkey to this browser first", http.StatusConflict)
		return
	}
	p.done(w, p.devices.Demand(said.On), map[bool]string{true: "critical answers in a browser need a passkey now, said ",
		false: "critical answers in a browser need no passkey any more, said "}[said.On]+d.ID)
}

// free reports whether an act may be done: no passkey is demanded, or one was shown for it.
func (p *room) free(w http.ResponseWriter, d device.Device, act string) bool {
	on, err := p.devices.Demanded()
	switch {
	case err != nil:
		fail(w, err)
	case on && !p.take(d.ID, act):
		http.Error(w, "you demand a passkey: show it for this", http.StatusForbidden)
	default:
		return true
	}
	return false
}

func (p *room) done(w http.ResponseWriter, err error, what string) {
	if err != nil {
		fail(w, err)
		return
	}
	p.Tell(what)
	w.WriteHeader(http.StatusNoContent)
}

func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if errors.Is(err, errPasskeys) {
		status = http.StatusConflict
	}
	http.Error(w, text.OneLine(text.Describe(err)), status)
}

// read reads the JSON of a request; false: it was refused.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, site.MaxForm))
	if err == nil {
		err = rawjson.Decode(b, into, json.RejectUnknownMembers(true))
	}
	if err != nil {
		http.Error(w, "the request cannot be read as JSON of these pages", http.StatusBadRequest)
	}
	return err == nil
}
