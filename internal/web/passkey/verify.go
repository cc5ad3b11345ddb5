package passkey

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"mycelium/internal/rawjson"
	"mycelium/internal/web/device"
)

// The flags of authenticator data (Web Authentication Level 3, section 6.1).
const (
	present  = 1 << 0 // a person touched it
	verified = 1 << 2 // and showed who they are: a PIN, a finger
	attested = 1 << 6 // a new key follows
)

// What a browser says that it did (section 5.8.1).
const (
	created  = "webauthn.create"
	asserted = "webauthn.get"
)

// party is who asks for a proof: the name of the pages, and the address of the page.
type party struct {
	host   string // the id of the relying party
	origin string
}

// response is what a browser sends of a key that it made, or with which it signed. All is base64url.
type response struct {
	ID         string `json:"id"`
	ClientData string `json:"clientData"`
	AuthData   string `json:"authData"`
	Signature  string `json:"signature,omitempty"` // of an assertion
	Key        string `json:"key,omitempty"`       // of a new key: PKIX, as getPublicKey() gives it
}

// statement are the bytes of a response that have been checked so far as they need no key.
type statement struct {
	clientData, authData []byte
	counter              uint32
	rest                 []byte // of authData, after the counter
}

// read checks what the browser and the authenticator say (sections 7.1 and 7.2): that it is about this challenge, of this page, and that a
// person was there.
func (p party) read(r response, kind, challenge string) (s statement, err error) {
	if s.clientData, err = decode(r.ClientData); err != nil {
		return s, err
	}
	if s.authData, err = decode(r.AuthData); err != nil {
		return s, err
	}
	var client struct {
		Type        string `json:"type"`
		Challenge   string `json:"challenge"`
		Origin      string `json:"origin"`
		CrossOrigin bool   `json:"crossOrigin"`
	}
	if err := rawjson.Decode(s.clientData, &client); err != nil {
		return s, errors.New("what the browser says cannot be read")
	}
	switch {
	case client.Type != kind:
		return s, fmt.Errorf("the browser did %.40q", client.Type)
	case subtle.ConstantTimeCompare([]byte(client.Challenge), []byte(challenge)) != 1:
		return s, errors.New("it is the answer to another question")
	case client.Origin != p.origin || client.CrossOrigin:
		return s, errors.New("it was made for another page")
	case len(s.authData) < 37:
		return s, errors.New("what the authenticator says is too short")
	}
	host := sha256.Sum256([]byte(p.host))
	flags := s.authData[32]
	switch {
	case subtle.ConstantTimeCompare(s.authData[:32], host[:]) != 1:
		return s, errors.New("it was made for another site")
	case flags&present == 0 || flags&verified == 0:
		return s, errors.New("the authenticator did not ask who is there")
	}
	s.counter, s.rest = binary.BigEndian.Uint32(s.authData[33:37]), s.authData[37:]
	return s, nil
}

// newKey returns the key of a response to a registration. It asks for no attestation: which authenticator a person has is their own choice.
func (p party) newKey(r response, challenge string) (k device.Passkey, err error) {
	s, err := p.read(r, created, challenge)
	if err != nil {
		return k, err
	}
	id, err := decode(r.ID)
	if err != nil {
		return k, err
	}
	if s.authData[32]&attested == 0 || len(s.rest) < 18 {
		return k, errors.New("the authenticator made no key")
	}
	if n := int(binary.BigEndian.Uint16(s.rest[16:18])); n == 0 || len(s.rest) < 18+n || !bytes.Equal(s.rest[18:18+n], id) {
		return k, errors.New("the id of the key is not that of the authenticator")
	}
	k = device.Passkey{ID: r.ID, Host: p.host, Origin: p.origin, Counter: s.counter}
	if k.Key, err = decode(r.Key); err != nil {
		return k, err
	}
	_, err = publicKey(k.Key)
	return k, err
}

// proof checks an assertion by a key, and returns its new counter.
func (p party) proof(r response, challenge string, k device.Passkey) (counter uint32, err error) {
	s, err := p.read(r, asserted, challenge)
	if err != nil {
		return 0, err
	}
	signature, err := decode(r.Signature)
	if err != nil {
		return 0, err
	}
	key, err := publicKey(k.Key)
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(s.clientData)
	signed := append(bytes.Clone(s.authData), sum[:]...)
	digest := sha256.Sum256(signed)
	ok := false
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		ok = ecdsa.VerifyASN1(key, digest[:], signature)
	case *rsa.PublicKey:
		ok = rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature) == nil
	case ed25519.PublicKey:
		ok = ed25519.Verify(key, signed, signature)
	}
	switch {
	case !ok || k.Host != p.host || k.Origin != p.origin:
		return 0, errors.New("it is not signed with this passkey")
	case (s.counter > 0 || k.Counter > 0) && s.counter <= k.Counter:
		return 0, errors.New("the passkey counts backwards, as a copy of it would: remove it, and add it anew")
	}
	return s.counter, nil
}

// publicKey reads a key of one of the three kinds that are asked for: ES256, RS256 and EdDSA.
func publicKey(der []byte) (any, error) {
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, errors.New("the key cannot be read")
	}
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return k, nil
		}
	case *rsa.PublicKey:
		if k.N.BitLen() >= 2048 {
			return k, nil
		}
	case ed25519.PublicKey:
		return k, nil
	}
	return nil, errors.New("a key of this kind is not taken")
}

func decode(s string) ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) == 0 || len(b) > 8<<10 {
		return nil, errors.New("a part of the answer is not base64url")
	}
	return b, nil
}
