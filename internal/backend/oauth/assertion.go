package oauth

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
	"encoding/pem"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
)

// assertionLife is how long an assertion is valid: long enough for clocks that differ.
const assertionLife = 2 * time.Minute

// assertion is the signed proof of our identity (RFC 7523) for one request to one authorization server.
func (a *Authority) assertion(g *grant) (string, error) {
	key, err := parseKey(a.conf.PrivateKey)
	if err != nil {
		return "", err
	}
	now := a.Now()
	claims := map[string]any{
		"iss": g.ClientID, "sub": g.ClientID, "aud": g.Issuer, "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(assertionLife).Unix(),
	}
	return signJWT(key, a.conf.KeyID, claims)
}

// parseKey reads a private key in PEM: PKCS #8, or the older forms of RSA and EC.
func parseKey(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("oauth.privateKey is not PEM (hint: its value begins with -----BEGIN PRIVATE KEY-----)")
	}
	var key any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	signer, ok := key.(crypto.Signer)
	if err != nil || !ok {
		return nil, errors.New("oauth.privateKey is not a private key that we can read (hint: RSA, EC P-256 or Ed25519 in PKCS #8, without a passphrase)")
	}
	return signer, nil
}

// signJWT signs claims with the algorithm that belongs to the key.
func signJWT(key crypto.Signer, kid string, claims map[string]any) (string, error) {
	var alg string
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		if k.Curve != elliptic.P256() {
			return "", errors.New("oauth.privateKey is on a curve other than P-256")
		}
		alg = "ES256"
	case *rsa.PrivateKey:
		alg = "RS256"
	case ed25519.PrivateKey:
		alg = "EdDSA"
	default:
		return "", errors.New("oauth.privateKey is of a kind that we do not know")
	}
	head := map[string]any{"alg": alg, "typ": "JWT"}
	if kid != "" {
		head["kid"] = kid
	}
	h, err := json.Marshal(head, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	c, err := json.Marshal(claims, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	b64 := base64.RawURLEncoding
	text := b64.EncodeToString(h) + "." + b64.EncodeToString(c)
	sum := sha256.Sum256([]byte(text))
	var sig []byte
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		r, s, serr := ecdsa.Sign(rand.Reader, k, sum[:])
		if serr != nil {
			return "", serr
		}
		sig = make([]byte, 64)
		r.FillBytes(sig[:32])
		s.FillBytes(sig[32:])
	case ed25519.PrivateKey:
		sig = ed25519.Sign(k, []byte(text))
	default:
		if sig, err = key.Sign(rand.Reader, sum[:], crypto.SHA256); err != nil {
			return "", err
		}
	}
	return text + "." + b64.EncodeToString(sig), nil
}
