// Package certificate has the certificate of the page server: one that a person gave, or one that the server made for itself.
package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/op/failure"
)

// The life of a certificate of ours. Browsers refuse one of more than 398 days.
const (
	life    = 397 * 24 * time.Hour
	renewal = 30 * 24 * time.Hour // before its end
)

// Given reads a certificate and its key from files.
func Given(cert, key string) (tls.Certificate, error) {
	c, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return c, failure.Hint(fmt.Errorf("web: read the certificate of the pages: %s, %s: %w", cert, key, err),
			"both files are PEM; --tls-cert own makes a certificate")
	}
	return c, nil
}

// Own returns the certificate that is kept in a folder. It is made if there is none, if it does not have one of the names, or if it is
// about to end; its fingerprint is another one then. names are those of hosts and addresses.
func Own(dir string, names []string, now time.Time) (tls.Certificate, error) {
	file := filepath.Join(dir, "tls.pem")
	c, err := tls.LoadX509KeyPair(file, file)
	if err == nil && good(c.Leaf, names, now) {
		return c, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, failure.Hint(fmt.Errorf("web: read our certificate of the pages: %s: %w", file, err),
			"remove the file: then another one is made")
	}
	text, err := fresh(names, now)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = atomicfile.Write(file, text, 0o600)
	}
	if err != nil {
		return c, fmt.Errorf("web: make a certificate for the pages: %w", err)
	}
	return tls.X509KeyPair(text, text)
}

// good reports whether a certificate is for these names, and for some time yet.
func good(c *x509.Certificate, names []string, now time.Time) bool {
	return now.After(c.NotBefore) && now.Add(renewal).Before(c.NotAfter) &&
		!slices.ContainsFunc(names, func(name string) bool { return c.VerifyHostname(name) != nil })
}

// fresh makes a key and a certificate that the key signs itself, as PEM.
func fresh(names []string, now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	c := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "Mycelium pages"}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(life - time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true}
	for _, name := range names {
		if ip, err := netip.ParseAddr(name); err == nil {
			c.IPAddresses = append(c.IPAddresses, ip.Unmap().AsSlice())
		} else {
			c.DNSNames = append(c.DNSNames, strings.ToLower(name))
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...), nil
}

// Names are the names and addresses for which a certificate is.
func Names(c tls.Certificate) []string {
	if c.Leaf == nil {
		return nil
	}
	out := slices.Clone(c.Leaf.DNSNames)
	for _, ip := range c.Leaf.IPAddresses {
		out = append(out, ip.String())
	}
	return out
}

// Fingerprint is the SHA-256 of a certificate, as hexadecimal capitals: browsers show it with a colon after each pair.
func Fingerprint(c tls.Certificate) string {
	if len(c.Certificate) == 0 {
		return ""
	}
	sum := sha256.Sum256(c.Certificate[0])
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}

// again is how long a certificate is used before it is looked for anew: whoever renews one replaces its files.
const again = time.Minute

// Source hands out a certificate, and takes up one that took its place. One that cannot be read does not end what is served.
type Source struct {
	load func() (tls.Certificate, error)
	now  func() time.Time

	mu   sync.Mutex // guards what follows
	last *tls.Certificate
	at   time.Time
}

// NewSource returns a source of what load returns. The error is that of the first time.
func NewSource(load func() (tls.Certificate, error), now func() time.Time) (*Source, error) {
	c, err := load()
	return &Source{load: load, now: now, last: &c, at: now()}, err
}

// Get returns the certificate, for a [tls.Config].
func (s *Source) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); now.Sub(s.at) >= again {
		s.at = now
		if c, err := s.load(); err == nil {
			s.last = &c
		}
	}
	return s.last, nil
}

// Now returns the certificate that is handed out.
func (s *Source) Now() tls.Certificate {
	c, _ := s.Get(nil) // it never fails
	return *c
}
