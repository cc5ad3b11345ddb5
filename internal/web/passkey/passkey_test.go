package passkey

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/state"
	"mycelium/internal/web/device"
	"mycelium/internal/web/signature"
	"mycelium/internal/web/site"
	"mycelium/internal/web/webtest"
)

// authenticator is a key of a person, and what it says of itself when it signs. A test changes that.
type authenticator struct {
	t       *testing.T
	key     crypto.Signer
	id      []byte
	host    string
	origin  string
	flags   byte
	counter uint32
	cross   bool
	kind    string
}

func newAuthenticator(t *testing.T, key crypto.Signer) *authenticator {
	t.Helper()
	if key == nil {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		key = k
	}
	return &authenticator{t: t, key: key, id: []byte("key-" + rand.Text()), host: "localhost",
		origin: "http://localhost:3456", flags: present | verified, counter: 1}
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// say returns what the browser and the authenticator say.
func (a *authenticator) say(kind, challenge string, flags byte) (client, data []byte) {
	if a.kind != "" {
		kind = a.kind
	}
	client = fmt.Appendf(nil, `{"type":%q,"challenge":%q,"origin":%q,"crossOrigin":%v,"more":1}`, kind, challenge, a.origin, a.cross)
	host := sha256.Sum256([]byte(a.host))
	data = binary.BigEndian.AppendUint32(append(host[:], flags), a.counter)
	return client, data
}

func (a *authenticator) create(challenge string) response {
	a.t.Helper()
	client, data := a.say(created, challenge, a.flags|attested)
	data = append(append(data, make([]byte, 16)...), byte(len(a.id)>>8), byte(len(a.id)))
	data = append(append(data, a.id...), 0xa5) // and the key, in the form that the server gets apart
	key, err := x509.MarshalPKIXPublicKey(a.key.Public())
	if err != nil {
		a.t.Fatal(err)
	}
	return response{ID: encode(a.id), ClientData: encode(client), AuthData: encode(data), Key: encode(key)}
}

func (a *authenticator) assert(challenge string) response {
	a.t.Helper()
	client, data := a.say(asserted, challenge, a.flags)
	sum := sha256.Sum256(client)
	text, how := append(append([]byte{}, data...), sum[:]...), crypto.SHA256
	if _, is := a.key.(ed25519.PrivateKey); is {
		how = crypto.Hash(0)
	} else {
		digest := sha256.Sum256(text)
		text = digest[:]
	}
	signature, err := a.key.Sign(rand.Reader, text, how)
	if err != nil {
		a.t.Fatal(err)
	}
	return response{ID: encode(a.id), ClientData: encode(client), AuthData: encode(data), Signature: encode(signature)}
}

var here = party{host: "localhost", origin: "http://localhost:3456"}

// TestPasskeyProof: a proof is about this question, this page and this key, by somebody who showed who they are.
func TestPasskeyProof(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []crypto.Signer{nil, rsaKey, edKey} {
		a := newAuthenticator(t, key)
		k, err := here.newKey(a.create("q"), "q")
		if err != nil || k.Host != "localhost" || k.Origin != "http://localhost:3456" || k.Counter != 1 {
			t.Fatalf("%T: %+v %v", key, k, err)
		}
		a.counter = 2
		if n, err := here.proof(a.assert("q"), "q", k); err != nil || n != 2 {
			t.Fatalf("%T: %d %v", key, n, err)
		}
		for what, change := range map[string]func(a *authenticator, r *response){
			"another page":      func(a *authenticator, _ *response) { a.origin = "http://localhost:9" },
			"another site":      func(a *authenticator, _ *response) { a.host = "evil.example" },
			"a frame":           func(a *authenticator, _ *response) { a.cross = true },
			"nobody there":      func(a *authenticator, _ *response) { a.flags = verified },
			"nobody known":      func(a *authenticator, _ *response) { a.flags = present },
			"a counter of old":  func(a *authenticator, _ *response) { a.counter = 1 },
			"a counter of none": func(a *authenticator, _ *response) { a.counter = 0 },
			"a registration":    func(a *authenticator, _ *response) { a.kind = created },
			"another key": func(a *authenticator, _ *response) {
				k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
				if err != nil {
					t.Fatal(err)
				}
				a.key = k
			},
		} {
			b := *a
			var r response
			change(&b, &r)
			if _, err := here.proof(b.assert("q"), "q", k); err == nil {
				t.Errorf("%T, %s: it is taken", key, what)
			}
		}
		r := a.assert("q")
		if _, err := here.proof(r, "p", k); err == nil {
			t.Error("the answer to another question is taken")
		}
		for what, r := range map[string]response{
			"no signature": {ID: r.ID, ClientData: r.ClientData, AuthData: r.AuthData}, "nothing": {},
			"half of it": {ID: r.ID, ClientData: r.ClientData, AuthData: r.AuthData[:8], Signature: r.Signature},
			"other data": {ID: r.ID, ClientData: r.ClientData, AuthData: r.AuthData[:len(r.AuthData)-1] + "A", Signature: r.Signature},
		} {
			if _, err := here.proof(r, "q", k); err == nil {
				t.Errorf("%s: it is taken", what)
			}
		}
	}
}

// TestPasskeyNewKey: a new key is one that the authenticator made for this question, of a kind that is asked for.
func TestPasskeyNewKey(t *testing.T) {
	t.Parallel()
	a := newAuthenticator(t, nil)
	good := a.create("q")
	small, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(r *response){
		"another id": func(r *response) { r.ID = encode([]byte("other")) },
		"no key":     func(r *response) { r.Key = "" },
		"a key that is none": func(r *response) {
			r.Key = encode([]byte("key"))
		},
		"a small key": func(r *response) {
			der, err := x509.MarshalPKIXPublicKey(small.Public())
			if err != nil {
				t.Fatal(err)
			}
			r.Key = encode(der)
		},
		"an assertion": func(r *response) { *r = a.assert("q") },
		"no id":        func(r *response) { r.AuthData = r.AuthData[:60] },
	} {
		r := good
		change(&r)
		if _, err := here.newKey(r, "q"); err == nil {
			t.Errorf("%s: it is taken", what)
		}
	}
	if _, err := here.newKey(good, "p"); err == nil {
		t.Error("the answer to another question is taken")
	}
}

// pagesOf is the room with a clock of the test.
type pagesOf struct {
	*room
	t      *testing.T
	now    time.Time
	routes map[string]site.Handler
}

func newPages(t *testing.T) *pagesOf {
	t.Helper()
	p := &pagesOf{room: newRoom(), t: t, now: time.Now(), routes: map[string]site.Handler{}}
	s, err := site.New(site.Options{Root: state.Root(t.TempDir()), Now: func() time.Time { return p.now }}, []site.Room{{Pages: pages}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.room.routes(s) {
		p.routes[r.Pattern] = r.Serve
	}
	return p
}

func (p *pagesOf) signIn() string {
	p.t.Helper()
	link, err := p.devices.NewLink("127.0.0.1:1")
	if err != nil {
		p.t.Fatal(err)
	}
	_, public, err := signature.NewPrivate()
	if err != nil {
		p.t.Fatal(err)
	}
	d, err := p.devices.SignIn("127.0.0.1:1", link, "Chrome on Linux", public)
	if err != nil {
		p.t.Fatal(err)
	}
	return d.ID
}

// post sends JSON as a device, from a page at a host.
func (p *pagesOf) post(id, path string, body any) (int, string) {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(string(text)))
	r.Host = "localhost:3456"
	r.Header.Set("Origin", "http://localhost:3456")
	list, err := p.devices.List()
	if err != nil {
		p.t.Fatal(err)
	}
	for _, d := range list {
		if d.ID == id {
			w := httptest.NewRecorder()
			p.routes["POST "+path](w, r, d)
			return w.Code, w.Body.String()
		}
	}
	p.t.Fatalf("no device %s", id)
	return 0, ""
}

func (p *pagesOf) challenge(id string, act map[string]string) string {
	p.t.Helper()
	code, said := p.post(id, "/passkey/ask", act)
	var out struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal([]byte(said), &out); err != nil || code != http.StatusOK {
		p.t.Fatal(code, said)
	}
	return out.Challenge
}

func (p *pagesOf) addKey(id string, a *authenticator) (int, string) {
	p.t.Helper()
	c := p.challenge(id, map[string]string{"act": "new"})
	return p.post(id, "/passkey/add", signed{c, a.create(c)})
}

func (p *pagesOf) prove(id string, a *authenticator, act map[string]string) (int, string) {
	p.t.Helper()
	c := p.challenge(id, act)
	a.counter++
	return p.post(id, "/passkey/prove", signed{c, a.assert(c)})
}

// TestPasskeyDemand: what ends the demand, and what gets past it, needs a passkey; a proof is good once, for its act, its device and its
// minute.
func TestPasskeyDemand(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	one, other := p.signIn(), p.signIn()
	a := newAuthenticator(t, nil)
	ok := func(what string, want int, code int, said string) {
		t.Helper()
		if code != want {
			t.Errorf("%s: %d %s", what, code, said)
		}
	}
	do := func(what, id, path string, body any, want int) {
		t.Helper()
		code, said := p.post(id, path, body)
		ok(what, want, code, said)
	}
	do("a demand without a passkey", one, "/passkey/demand", map[string]bool{"on": true}, http.StatusConflict)
	code, said := p.addKey(one, a)
	ok("a first passkey", http.StatusNoContent, code, said)
	do("a demand", one, "/passkey/demand", map[string]bool{"on": true}, http.StatusNoContent)
	do("an end without a proof", one, "/passkey/demand", map[string]bool{"on": false}, http.StatusForbidden)
	do("a removal without a proof", one, "/passkey/remove", map[string]string{"id": encode(a.id)}, http.StatusForbidden)
	p.now = p.now.Add(freshSignIn + time.Second)
	b := newAuthenticator(t, nil)
	code, said = p.addKey(other, b)
	ok("another passkey with the key of the browser alone", http.StatusForbidden, code, said)
	code, said = p.prove(other, a, map[string]string{"act": "add"})
	ok("a proof for it", http.StatusNoContent, code, said)
	code, said = p.addKey(other, b)
	ok("another passkey with a proof", http.StatusNoContent, code, said)
	code, said = p.addKey(other, newAuthenticator(t, nil))
	ok("a third one with the same proof", http.StatusForbidden, code, said)

	answer := map[string]string{"act": "answer", "project": "p", "id": "r", "digest": "d"}
	act := answerOf("p", "r", "d")
	if p.take(one, act) {
		t.Error("there is a proof before one was given")
	}
	proved := func() {
		t.Helper()
		code, said := p.prove(one, a, answer)
		ok("a proof", http.StatusNoContent, code, said)
	}
	proved()
	if p.take(one, answerOf("p", "r", "e")) || p.take(other, act) || !p.take(one, act) || p.take(one, act) {
		t.Error("a proof is for one act of one device, once")
	}
	proved()
	p.now = p.now.Add(proofLife)
	if p.take(one, act) {
		t.Error("a proof is good after its minute")
	}
	c := p.challenge(one, answer)
	do("a question of another device", other, "/passkey/prove", signed{c, a.assert(c)}, http.StatusForbidden)
	c = p.challenge(one, answer)
	p.now = p.now.Add(askWithin)
	do("a question of long ago", one, "/passkey/prove", signed{c, a.assert(c)}, http.StatusForbidden)
	c = p.challenge(one, answer)
	a.counter++
	do("a proof", one, "/passkey/prove", signed{c, a.assert(c)}, http.StatusNoContent)
	a.counter++
	do("a question that was answered", one, "/passkey/prove", signed{c, a.assert(c)}, http.StatusForbidden)
	a.counter = 1
	c = p.challenge(one, answer)
	do("a copy of a key", one, "/passkey/prove", signed{c, a.assert(c)}, http.StatusForbidden)
	a.counter = 100
	code, said = p.prove(one, a, map[string]string{"act": "free"})
	ok("a proof", http.StatusNoContent, code, said)
	do("an end with a proof", one, "/passkey/demand", map[string]bool{"on": false}, http.StatusNoContent)
	do("a removal", one, "/passkey/remove", map[string]string{"id": encode(a.id)}, http.StatusNoContent)
}

// TestPasskeyNeedsAName: at a numeric address there are no passkeys, and the page says where there are.
func TestPasskeyNeedsAName(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	for host, want := range map[string]int{"127.0.0.1:3456": http.StatusConflict, "[::1]:3456": http.StatusConflict,
		"localhost:3456": http.StatusOK} {
		r := httptest.NewRequest(http.MethodPost, "/passkey/ask", strings.NewReader(`{"act":"new"}`))
		r.Host = host
		w := httptest.NewRecorder()
		p.routes["POST /passkey/ask"](w, r, device.Device{ID: "d-1"})
		if w.Code != want || want == http.StatusConflict && !strings.Contains(w.Body.String(), "myc web --print-url") {
			t.Errorf("%s: %d %s", host, w.Code, w.Body)
		}
		r, w = httptest.NewRequest(http.MethodGet, "/device", nil), httptest.NewRecorder()
		r.Host = host
		p.routes["GET /device"](w, r, device.Device{ID: "d-1"})
		offers := strings.Contains(w.Body.String(), "this page has a numeric address")
		adds := strings.Contains(w.Body.String(), "Add a passkey")
		if offers == adds || adds != (want == http.StatusOK) {
			t.Errorf("%s:\n%s", host, w.Body)
		}
	}
}

// TestInjections has a text in each place of the page that a browser can write to.
func TestInjections(t *testing.T) {
	t.Parallel()
	s := webtest.Site(t, Room())
	webtest.HoldsText(t, func(x string) map[string]string {
		at := time.Unix(1, 0)
		o := own{Device: device.Device{ID: x, Name: x, Created: at, Expires: at}, Demanded: true, Named: true,
			Problem: x, Passkeys: []key{{ID: x, Host: x, Created: at, Used: at}}}
		return map[string]string{"device": webtest.Show(s, "device", x, o)}
	})
}
