package resource

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/time/rate"

	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// How an issuer's keys are kept.
const (
	keysFresh = 5 * time.Minute  // after this time a request that needs them starts a fetch, but does not wait for it
	keysKept  = time.Hour        // how long they are used while the issuer does not answer
	keysWait  = 5 * time.Second  // timeout of one fetch
	keysPause = 10 * time.Second // between fetches, after keysBurst of them
	keysBurst = 3
	maxKeys   = 64      // of one issuer
	maxJWKS   = 1 << 20 // bytes of one answer
	minRSA    = 2048    // bits
)

// errNoKeys means that no token can be verified: the issuer does not answer, and its last answer is too old.
var errNoKeys = errors.New("no keys")

// issuer is one authorization server and its keys.
type issuer struct {
	name   string
	host   string
	fixed  string // URL of the keys in the configuration; empty: the issuer's metadata names it
	server *Server
	log    *slog.Logger
	limit  *rate.Limiter

	mu    sync.Mutex
	set   *KeySet       // nil before the first fetch
	at    time.Time     // of the last fetch that succeeded
	fetch chan struct{} // closed at the end of the fetch under way; nil: there is none
	found string        // URL of the keys in the metadata; used by the fetch under way only
}

// KeySet are public keys that verify signatures. It is immutable.
type KeySet struct{ keys []jose.JSONWebKey }

func (s *Server) newIssuer(name, keys string) *issuer {
	i := &issuer{name: name, fixed: keys, server: s, log: s.log.With("issuer", name), limit: rate.NewLimiter(rate.Every(keysPause), keysBurst)}
	if u, err := url.Parse(name); err == nil {
		i.host = strings.ToLower(u.Hostname())
	}
	return i
}

// NewKeyClient returns the client that fetches keys. It follows no redirect: only the issuer and the operator say where keys are.
func NewKeyClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost, t.IdleConnTimeout, t.MaxResponseHeaderBytes = 1, 10*time.Second, 64<<10
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// current returns the keys, and whether they are fresh. The set is nil if there are no keys that may be used.
func (i *issuer) current() (set *KeySet, fresh bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	age := i.server.Now().Sub(i.at)
	if i.set == nil || age > keysKept {
		return nil, false
	}
	return i.set, age < keysFresh
}

// find returns the keys with which a token may be signed. An unknown key starts a fetch, at a limited rate.
func (i *issuer) find(ctx context.Context, kid, alg string) (*KeySet, []crypto.PublicKey, error) {
	set, fresh := i.current()
	keys := set.Match(kid, alg)
	if len(keys) > 0 {
		if !fresh {
			i.renew() // without waiting
		}
		return set, keys, nil
	}
	if done := i.renew(); done != nil {
		select {
		case <-done:
		case <-ctx.Done():
			return nil, nil, errNoKeys
		}
	}
	if set, _ = i.current(); set == nil {
		return nil, nil, errNoKeys
	}
	if keys = set.Match(kid, alg); len(keys) == 0 {
		return nil, nil, fmt.Errorf("no key %q of its issuer is for %s", text.Truncate(kid, maxQuoted), alg)
	}
	return set, keys, nil
}

// renew starts a fetch, or joins the one under way. The channel closes at its end; it is nil if it is too early for another.
func (i *issuer) renew() <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.fetch != nil {
		return i.fetch
	}
	if !i.limit.AllowN(i.server.Now(), 1) {
		return nil
	}
	done := make(chan struct{})
	started := i.server.work.Go(func() {
		ctx, cancel := context.WithTimeout(i.server.work.Context(), keysWait)
		defer cancel()
		set, err := i.load(ctx)
		i.mu.Lock()
		i.fetch = nil
		if err == nil {
			i.at = i.server.Now()
			if !i.set.equal(set) { // the same keys stay the same set, so that tokens verified with it stay verified
				i.set = set
			}
		}
		i.mu.Unlock()
		close(done)
		if err != nil {
			i.log.Warn("cannot fetch the keys of an issuer of access tokens", "error", err)
		}
	})
	if !started {
		return nil
	}
	i.fetch = done
	return done
}

// load fetches the keys.
func (i *issuer) load(ctx context.Context) (*KeySet, error) {
	at := i.fixed
	if at == "" {
		if i.found == "" {
			found, err := i.discover(ctx)
			if err != nil {
				return nil, err
			}
			i.found = found
		}
		at = i.found
	}
	body, err := i.get(ctx, at)
	if err != nil {
		i.found = "" // the keys may have moved
		return nil, err
	}
	set, err := ParseKeys(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return set, nil
}

// discover reads the URL of the keys from the issuer's metadata, which has three possible places (OpenID Connect Discovery, RFC 8414).
// Keys on another host are accepted only if the configuration names their URL.
func (i *issuer) discover(ctx context.Context) (string, error) {
	u, err := url.Parse(i.name)
	if err != nil {
		return "", err
	}
	path, base := strings.TrimSuffix(u.EscapedPath(), "/"), u.Scheme+"://"+u.Host
	places := []string{base + path + "/.well-known/openid-configuration", base + "/.well-known/oauth-authorization-server" + path}
	if path != "" {
		places = append(places, base+"/.well-known/openid-configuration"+path)
	}
	var faults []error
	for _, at := range places {
		body, err := i.get(ctx, at)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		var doc struct {
			Issuer string `json:"issuer"`
			Keys   string `json:"jwks_uri"`
		}
		if err := rawjson.Decode(body, &doc); err != nil {
			return "", fmt.Errorf("%s: %w", at, err)
		}
		keys, err := url.Parse(doc.Keys)
		switch {
		case doc.Issuer != i.name:
			return "", fmt.Errorf("%s is the metadata of %q, not of %q", at, text.Truncate(doc.Issuer, maxQuoted), i.name)
		case err != nil || doc.Keys == "":
			return "", fmt.Errorf("%s: jwks_uri is %q", at, text.Truncate(doc.Keys, maxQuoted))
		case strings.ToLower(keys.Hostname()) != i.host:
			return "", fmt.Errorf("%s: the keys are at %s, on another host: if that is right, write it under server.oauth.jwks",
				at, text.Truncate(doc.Keys, maxQuoted))
		}
		return doc.Keys, nil
	}
	return "", errors.Join(faults...)
}

// get fetches a document of the issuer.
func (i *issuer) get(ctx context.Context, at string) ([]byte, error) {
	return Fetch(ctx, i.server.client, at)
}

// Fetch fetches a document with a client of [NewKeyClient], over TLS unless it is on this machine.
func Fetch(ctx context.Context, client *http.Client, at string) ([]byte, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !IsLoopback(u.Hostname())) {
		return nil, fmt.Errorf("%s: only https is good enough", at)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", at, res.Status)
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxJWKS+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", at, err)
	case len(b) > maxJWKS:
		return nil, fmt.Errorf("%s: longer than %d bytes", at, maxJWKS)
	}
	return b, nil
}

// ParseKeys reads a key set (RFC 7517). It ignores entries that are no public key for signatures, or too weak.
func ParseKeys(body []byte) (*KeySet, error) {
	var doc struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := rawjson.Decode(body, &doc); err != nil {
		return nil, err
	}
	var keys []jose.JSONWebKey
	for _, text := range doc.Keys {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(text) == nil && signing(k) && len(keys) < maxKeys {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("no key in it can verify signatures")
	}
	return &KeySet{keys}, nil
}

// signing reports whether a key is a public one for signatures.
func signing(k jose.JSONWebKey) bool {
	if k.Use != "" && k.Use != "sig" {
		return false
	}
	switch pub := k.Key.(type) {
	case *rsa.PublicKey:
		return pub.N.BitLen() >= minRSA
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}

// Match returns the keys with which a token of this kid and algorithm may be signed: without a kid, every key for the algorithm.
func (s *KeySet) Match(kid, alg string) (keys []crypto.PublicKey) {
	if s == nil {
		return nil
	}
	for _, k := range s.keys {
		if (kid == "" || k.KeyID == kid) && (k.Algorithm == "" || k.Algorithm == alg) && fits(k.Key, alg) {
			keys = append(keys, k.Key)
		}
	}
	return keys
}

// fits reports whether a key is of the kind that an algorithm needs.
func fits(key any, alg string) bool {
	switch key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(alg, "RS") || strings.HasPrefix(alg, "PS")
	case *ecdsa.PublicKey:
		return strings.HasPrefix(alg, "ES")
	case ed25519.PublicKey:
		return alg == "EdDSA"
	}
	return false
}

// equal reports whether two sets have the same keys in the same order.
func (s *KeySet) equal(o *KeySet) bool {
	return s != nil && slices.EqualFunc(s.keys, o.keys, func(a, b jose.JSONWebKey) bool {
		x, err := a.MarshalJSON()
		y, err2 := b.MarshalJSON()
		return err == nil && err2 == nil && string(x) == string(y)
	})
}
