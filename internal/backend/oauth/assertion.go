package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"mycelium/internal/text"
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
func parseKey(encoded string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(encoded))
	if block == nil {
		return nil, text.Hinted(errors.New("oauth.privateKey is not PEM"), "its value begins with -----BEGIN PRIVATE KEY-----")
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
		return nil, text.Hinted(errors.New("oauth.privateKey is not a private key that we can read"),
			"RSA, EC P-256 or Ed25519 in PKCS #8, without a passphrase")
	}
	return signer, nil
}

// signJWT signs claims with the algorithm that belongs to the key.
func signJWT(key crypto.Signer, kid string, claims map[string]any) (string, error) {
	var alg jose.SignatureAlgorithm
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		if k.Curve != elliptic.P256() {
			return "", errors.New("oauth.privateKey is on a curve other than P-256")
		}
		alg = jose.ES256
	case *rsa.PrivateKey:
		alg = jose.RS256
	case ed25519.PrivateKey:
		alg = jose.EdDSA
	default:
		return "", errors.New("oauth.privateKey is of a kind that we do not know")
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: kid}},
		new(jose.SignerOptions).WithType("JWT"))
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(claims, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}
