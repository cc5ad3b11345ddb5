// Package signature signs requests to the pages, and checks them: each request is signed with the key of a device, by HTTP Message
// Signatures (RFC 9421) with ECDSA on P-256.
//
// A signature covers the method, the whole address with scheme, host and port, a digest of the body, the run of the server, the time and a
// nonce. So it is good for one request at one server, once, within [Window].
package signature

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The headers of a signed request (RFC 9421, RFC 9530), and that in which a server names its run.
const (
	InputHeader  = "Signature-Input"
	Header       = "Signature"
	DigestHeader = "Content-Digest"
	RunHeader    = "Mycelium-Run"
	// RefusedHeader says in a response why a signature was not taken: "run", "time", or "key".
	RefusedHeader = "Mycelium-Refused"
)

// Window is how much the time in a signature may differ from that of the server.
const Window = time.Minute

// covered are the parts of a request that are signed, in this order.
const covered = `("@method" "@target-uri" "content-digest" "mycelium-run")`

// tag says what the signature is for: no signature that is made for something else is taken.
const tag = "mycelium-pages"

// label names the signature in its headers.
const label = "pages="

// NewRun returns the name of a run of a server. A signature for one run is worth nothing in another, so a server that begins anew has to
// remember no nonce.
func NewRun() string { return rand.Text() }

// Key is the private key of a device.
type Key struct {
	Device  string
	Private *ecdsa.PrivateKey
}

// NewPrivate makes a key, and returns its public half as a device registers it: PKIX, DER.
func NewPrivate() (*ecdsa.PrivateKey, []byte, error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&k.PublicKey)
	return k, public, err
}

// Public reads the public key of a device. The error says that it is of another kind.
func Public(der []byte) (*ecdsa.PublicKey, error) {
	public, err := x509.ParsePKIXPublicKey(der)
	if key, ok := public.(*ecdsa.PublicKey); err == nil && ok && key.Curve == elliptic.P256() {
		return key, nil
	}
	return nil, errors.New("the public key is no ECDSA key on the curve P-256, in the form SubjectPublicKeyInfo")
}

// Sign signs a request to a run of a server. body is what the request sends.
func (k Key) Sign(r *http.Request, run string, body []byte, now time.Time) error {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	input := fmt.Sprintf(`%s;created=%d;keyid="%s";nonce="%s";alg="ecdsa-p256-sha256";tag="%s"`, covered, now.Unix(), k.Device, rand.Text(), tag)
	r.Header.Set(DigestHeader, digestOf(body))
	r.Header.Set(RunHeader, run)
	base := baseOf(r.Method, r.URL.Scheme+"://"+host+r.URL.RequestURI(), digestOf(body), run, input)
	sum := sha256.Sum256(base)
	x, y, err := ecdsa.Sign(rand.Reader, k.Private, sum[:])
	if err != nil {
		return fmt.Errorf("sign a request: %w", err)
	}
	var both [64]byte
	x.FillBytes(both[:32])
	y.FillBytes(both[32:])
	r.Header.Set(InputHeader, label+input)
	r.Header.Set(Header, label+":"+base64.StdEncoding.EncodeToString(both[:])+":")
	return nil
}

// digestOf is the value of Content-Digest for a body.
func digestOf(body []byte) string {
	sum := sha256.Sum256(body)
	return "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
}

// baseOf are the bytes that are signed (RFC 9421, section 2.5).
func baseOf(method, target, digest, run, input string) []byte {
	return []byte("\"@method\": " + method + "\n\"@target-uri\": " + target + "\n\"content-digest\": " + digest +
		"\n\"mycelium-run\": " + run + "\n\"@signature-params\": " + input)
}

// input is what a signature says of itself.
type input struct {
	text    string
	created time.Time
	device  string
	nonce   string
}

// Signed reports whether a request has a signature, good or not.
func Signed(r *http.Request) bool {
	return r.Header.Get(InputHeader) != "" || r.Header.Get(Header) != ""
}

// one returns the value of a header that stands once and has no line in it.
func one(r *http.Request, name string) (string, bool) {
	v := r.Header.Values(name)
	if len(v) != 1 {
		return "", false
	}
	return v[0], true
}

// readInput reads the one form of Signature-Input that is taken.
func readInput(value string) (in input, ok bool) {
	if in.text, ok = strings.CutPrefix(value, label); !ok {
		return in, false
	}
	rest, ok := strings.CutPrefix(in.text, covered+";created=")
	var created string
	for _, part := range []struct {
		into  *string
		until string
	}{{&created, `;keyid="`}, {&in.device, `";nonce="`}, {&in.nonce, `";alg="ecdsa-p256-sha256";tag="` + tag + `"`}} {
		var found bool
		*part.into, rest, found = strings.Cut(rest, part.until)
		ok = ok && found
	}
	seconds, err := strconv.ParseInt(created, 10, 64)
	in.created = time.Unix(seconds, 0)
	plain := func(s string) bool { return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, notPlain) }
	return in, ok && err == nil && rest == "" && plain(in.device) && plain(in.nonce)
}

// notPlain reports whether a character is none of base64url.
func notPlain(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// Refused is why a request is not taken for one of a device.
type Refused struct {
	Why  string // for scripts: "", "run", "time", or "key"
	Text string
}

func (r *Refused) Error() string { return r.Text }

// The reasons for which a request is refused.
var (
	ErrNone    = &Refused{"", "this request is not signed, and no other sign of a person is taken"}
	ErrForm    = &Refused{"", "the signature of this request cannot be read"}
	ErrRun     = &Refused{"run", "this request was signed for another run of the server"}
	ErrTime    = &Refused{"time", "this request was signed at another time than now"}
	ErrReplay  = &Refused{"", "this request was sent before"}
	ErrBad     = &Refused{"key", "the signature of this request is wrong"}
	ErrBody    = &Refused{"", "this request sends something else than was signed"}
	ErrTooMany = &Refused{"", "there were too many requests within a minute"}
)

// maxSeen bounds how many nonces are remembered in each half of the memory.
const maxSeen = 1 << 17

// Checker checks the requests to one run of a server.
type Checker struct {
	Run string
	// Key returns the public key of a device (PKIX, DER). Its error is that of Check.
	Key func(device string) ([]byte, error)
	Now func() time.Time

	mu       sync.Mutex          // guards what follows
	seen     map[string]struct{} // nonces that were used, with their devices, since turned
	before   map[string]struct{} // and in the time before
	turnedAt time.Time
}

// Check returns the device that signed a request, whose address is target as the browser has it. The body is not read: see [Body]. The
// error is a *Refused or that of Key.
func (c *Checker) Check(r *http.Request, target string) (device string, err error) {
	if !Signed(r) {
		return "", ErrNone
	}
	value, ok1 := one(r, InputHeader)
	sent, ok2 := one(r, Header)
	digest, ok3 := one(r, DigestHeader)
	run, ok4 := one(r, RunHeader)
	in, ok5 := readInput(value)
	sent, ok6 := strings.CutPrefix(sent, label+":")
	sent, ok7 := strings.CutSuffix(sent, ":")
	signed, err := base64.StdEncoding.Strict().DecodeString(sent)
	switch {
	case !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || !ok7 || err != nil || len(signed) != 64:
		return "", ErrForm
	case run != c.Run:
		return "", ErrRun
	}
	now := c.Now()
	if d := now.Sub(in.created); d > Window || d < -Window {
		return "", ErrTime
	}
	der, err := c.Key(in.device)
	if err != nil {
		return "", err
	}
	key, err := Public(der)
	if err != nil {
		return "", ErrBad
	}
	sum := sha256.Sum256(baseOf(r.Method, target, digest, run, in.text))
	if !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(signed[:32]), new(big.Int).SetBytes(signed[32:])) {
		return "", ErrBad
	}
	return in.device, c.use(in.device+" "+in.nonce, now)
}

// use uses a nonce up. A nonce is remembered for twice the time in which a signature can be good.
func (c *Checker) use(nonce string, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil || now.Sub(c.turnedAt) >= 2*Window || now.Before(c.turnedAt) {
		c.before, c.seen, c.turnedAt = c.seen, map[string]struct{}{}, now
	}
	_, lately := c.seen[nonce]
	if _, earlier := c.before[nonce]; lately || earlier {
		return ErrReplay
	}
	if len(c.seen) >= maxSeen {
		return ErrTooMany
	}
	c.seen[nonce] = struct{}{}
	return nil
}

// Body reads the body of a request that was signed, up to a number of bytes, and compares it with its digest. The request keeps a copy to
// read.
func Body(w http.ResponseWriter, r *http.Request, most int64) error {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		return err
	}
	if digestOf(b) != r.Header.Get(DigestHeader) {
		return ErrBody
	}
	r.Body = io.NopCloser(bytes.NewReader(b))
	return nil
}
