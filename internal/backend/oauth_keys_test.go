package backend

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
	"math/big"
	"testing"
)

// testKey is a private key in PEM, and the check of what was signed with it.
type testKey struct {
	pem    string
	verify func(text, signature string) bool
}

// testKeys makes one of each kind.
func testKeys(t *testing.T) map[string]testKey {
	t.Helper()
	write := func(key any, kind string, der []byte) string {
		if der == nil {
			var err error
			if der, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
				t.Fatal(err)
			}
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	decode := func(s string) []byte {
		b, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil {
			t.Error(err)
		}
		return b
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	old, err := x509.MarshalECPrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}
	byEC := func(text, signature string) bool {
		sum, sig := sha256.Sum256([]byte(text)), decode(signature)
		return len(sig) == 64 && ecdsa.Verify(&ec.PublicKey, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:]))
	}
	byRSA := func(text, signature string) bool {
		sum := sha256.Sum256([]byte(text))
		return rsa.VerifyPKCS1v15(&rs.PublicKey, crypto.SHA256, sum[:], decode(signature)) == nil
	}
	return map[string]testKey{
		"ES256":           {write(ec, "PRIVATE KEY", nil), byEC},
		"ES256, old form": {write(nil, "EC PRIVATE KEY", old), byEC},
		"RS256":           {write(rs, "PRIVATE KEY", nil), byRSA},
		"RS256, old form": {write(nil, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rs)), byRSA},
		"EdDSA": {write(ed, "PRIVATE KEY", nil), func(text, signature string) bool {
			return ed25519.Verify(public, []byte(text), decode(signature))
		}},
	}
}
