// Package issuertest is an issuer of access tokens for tests. It publishes its metadata and keys as OpenID Connect and OAuth do, rotates
// its keys, fails, answers slowly, and signs any token, also a forged one.
package issuertest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Issuer is one authorization server on loopback.
type Issuer struct {
	URL string // its name, as in iss
	t   testing.TB

	mu       sync.Mutex
	kid      string
	key      crypto.Signer
	count    int
	fetches  int           // of the keys
	asked    chan struct{} // one value for each, as far as there is room
	down     bool          // answers 500 to everything
	hold     chan struct{} // the keys wait until it closes; nil: they do not
	metadata map[string]any
	extra    []any // further entries of the key set
}

// New starts an issuer with one key, which ends with the test.
func New(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{t: t, asked: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.serveMetadata)
	mux.HandleFunc("GET /keys", i.serveKeys)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	i.URL = s.URL
	i.Rotate()
	return i
}

func (i *Issuer) serveMetadata(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.down {
		http.Error(w, "down", http.StatusInternalServerError)
		return
	}
	doc := map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/authorize"}
	maps.Copy(doc, i.metadata)
	_ = json.NewEncoder(w).Encode(doc)
}

func (i *Issuer) serveKeys(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.fetches++
	select {
	case i.asked <- struct{}{}:
	default:
	}
	hold := i.hold
	i.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.down {
		http.Error(w, "down", http.StatusInternalServerError)
		return
	}
	keys := append([]any{jose.JSONWebKey{Key: i.key.Public(), KeyID: i.kid, Use: "sig"}}, i.extra...)
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
}

// Rotate makes a new key, of another id, and forgets the old one.
func (i *Issuer) Rotate() {
	i.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	i.use(key, err)
}

// UseRSA replaces the key by an RSA key of the given number of bits.
func (i *Issuer) UseRSA(bits int) {
	i.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	i.use(key, err)
}

func (i *Issuer) use(key crypto.Signer, err error) {
	i.t.Helper()
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count++
	i.key, i.kid = key, fmt.Sprintf("key-%d", i.count)
}

// Publish adds entries to the key set, whatever they are.
func (i *Issuer) Publish(extra ...any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.extra = append(i.extra, extra...)
}

// Describe changes members of the metadata.
func (i *Issuer) Describe(members map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.metadata = members
}

// Down makes the issuer answer with errors, or work again.
func (i *Issuer) Down(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

// Hold makes the keys wait until release is called.
func (i *Issuer) Hold() (release func()) {
	hold := make(chan struct{})
	i.mu.Lock()
	defer i.mu.Unlock()
	i.hold = hold
	return sync.OnceFunc(func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.hold = nil
		close(hold)
	})
}

// Fetches is how often the keys were fetched.
func (i *Issuer) Fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

// Asked has a value once the keys were fetched.
func (i *Issuer) Asked() <-chan struct{} { return i.asked }

// Claims are those of a valid token for an audience, with changes. A nil value removes a claim.
func (i *Issuer) Claims(audience string, changes map[string]any) map[string]any {
	now := time.Now()
	c := map[string]any{"iss": i.URL, "sub": "alice", "aud": audience, "iat": now.Unix() - 1, "exp": now.Unix() + 600, "client_id": "app"}
	for k, v := range changes {
		if c[k] = v; v == nil {
			delete(c, k)
		}
	}
	return c
}

// Token signs claims with the current key. header changes the header, as for Claims: its alg decides how the token is signed.
// "none" is not signed, and "HS256" is signed with the public key as the secret.
func (i *Issuer) Token(claims, header map[string]any) string {
	i.t.Helper()
	i.mu.Lock()
	key, kid := i.key, i.kid
	i.mu.Unlock()
	h := map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": kid}
	if _, ok := key.(*rsa.PrivateKey); ok {
		h["alg"] = "RS256"
	}
	for k, v := range header {
		if h[k] = v; v == nil {
			delete(h, k)
		}
	}
	text := i.part(h) + "." + i.part(claims)
	sum := sha256.Sum256([]byte(text))
	var sig []byte
	var err error
	switch h["alg"] {
	case "none":
	case "HS256":
		der, _ := x509.MarshalPKIXPublicKey(key.Public())
		mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
		_, _ = mac.Write([]byte(text))
		sig = mac.Sum(nil)
	default:
		if k, ok := key.(*ecdsa.PrivateKey); ok {
			r, s, signErr := ecdsa.Sign(rand.Reader, k, sum[:])
			err = signErr
			sig = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
		} else {
			sig, err = key.Sign(rand.Reader, sum[:], crypto.SHA256)
		}
	}
	if err != nil {
		i.t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(sig)
}

func (i *Issuer) part(v map[string]any) string {
	b, err := json.Marshal(v)
	if err != nil {
		i.t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}
