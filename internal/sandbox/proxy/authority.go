package proxy

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"software.sslmate.com/src/go-pkcs12"

	"mycelium/internal/registry"
)

// authority certifies hosts whose TLS the proxy opens towards the command of one run. Its key is in memory only, and ends with the run.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate

	mu     sync.Mutex
	issued map[target]*tls.Certificate
}

// lifetime is how long its certificates count. No run is meant to last longer.
const lifetime = 90 * 24 * time.Hour

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of the sandbox's authority: %w", err)
	}
	a := &authority{key: key, issued: map[target]*tls.Certificate{}}
	form := blank("Mycelium: authority of one run of a sandbox")
	form.IsCA, form.BasicConstraintsValid, form.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the sandbox's authority: %w", err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("read the sandbox's authority: %w", err)
	}
	return a, nil
}

func blank(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime),
		SerialNumber: new(big.Int).SetBytes([]byte(rand.Text())[:16])}
}

// certify returns the certificate of a host.
func (a *authority) certify(t target) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, ok := a.issued[t]; ok {
		return c, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	form := blank("")
	form.KeyUsage, form.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if t.addr.IsValid() {
		form.IPAddresses = []net.IP{t.addr.AsSlice()}
	} else {
		form.DNSNames = []string{t.name}
	}
	der, err := x509.CreateCertificate(rand.Reader, form, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	c := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	a.issued[t] = c
	return c, nil
}

// pem is the certificate of the authority as programs read it.
func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// bundles are the files in which systems keep the certificates of the authorities that they trust: Debian, Fedora, SUSE and Alpine.
var bundles = [...]string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem"}

// Authorities returns what the command is to trust: the authorities of the system and that of the run. It returns nil if the run needs no
// authority of its own.
func (p *Proxy) Authorities() []byte {
	if p.authority == nil {
		return nil
	}
	var out bytes.Buffer
	for _, path := range bundles {
		if data, err := os.ReadFile(path); err == nil {
			out.Write(data)
			out.WriteByte('\n')
			break
		}
	}
	out.Write(p.authority.pem())
	return out.Bytes()
}

// TrustStore returns the authorities of Authorities in a file as Java reads them (PKCS #12, without a password), if a registry of Maven is
// open; else nil. Java trusts no file of the system.
func (p *Proxy) TrustStore() ([]byte, error) {
	if !p.java() {
		return nil, nil
	}
	var certs []*x509.Certificate
	for rest := p.Authorities(); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil { // systems have some that Go refuses
			certs = append(certs, cert)
		}
	}
	data, err := pkcs12.Passwordless.EncodeTrustStore(certs, "")
	if err != nil {
		return nil, fmt.Errorf("write the authorities for Java: %w", err)
	}
	return data, nil
}

// java reports whether programs in Java may come: of those that the proxy knows only Maven's and Gradle's registries are theirs.
func (p *Proxy) java() bool {
	return slices.ContainsFunc(p.registries.places, func(at place) bool { return at.registry.Like == registry.Maven })
}

// Java returns the options of Java's virtual machine that lead Maven and Gradle to the proxy, whose address and trust store are as the command
// sees them; nil if no registry of theirs is open. The option of aether is for Maven from 3.9.1 on, which does not look at those of Java.
func (p *Proxy) Java(addr, store string) []string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || !p.java() {
		return nil
	}
	return []string{"-Djavax.net.ssl.trustStore=" + store, "-Djavax.net.ssl.trustStoreType=PKCS12",
		"-Dhttp.proxyHost=" + host, "-Dhttp.proxyPort=" + port, "-Dhttps.proxyHost=" + host, "-Dhttps.proxyPort=" + port,
		"-Daether.connector.http.useSystemProperties=true"}
}

// trusting are the variables that name the file of the authorities which programs trust: OpenSSL and Go, Node, Python's requests, pip, git,
// curl, npm, Cargo, Bundler, Deno, and yarn from its second version on. npm has one of its own because a file of its configuration may name another.
var trusting = [...]string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE",
	"npm_config_cafile", "CARGO_HTTP_CAINFO", "BUNDLE_SSL_CA_CERT", "DENO_CERT", "YARN_HTTPS_CA_FILE_PATH"}

// fetching are variables that keep package managers from requests for themselves, which the proxy would refuse: whether there is a newer npm
// or pip, reports of known faults, and pleas for money.
var fetching = [...]string{"npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false",
	"PIP_DISABLE_PIP_VERSION_CHECK=1"}

// Environ are the variables that lead programs to the proxy, whose address and file of authorities are as the command sees them.
func (p *Proxy) Environ(addr, authorities string) []string {
	var out []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		out = append(out, name+"=http://"+addr)
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		out = append(out, name+"=127.0.0.1,localhost,::1,[::1]")
	}
	out = append(out, "NODE_USE_ENV_PROXY=1")
	if p.authority != nil {
		for _, name := range trusting {
			out = append(out, name+"="+authorities)
		}
	}
	if len(p.registries.places) > 0 {
		out = append(out, fetching[:]...)
	}
	for _, m := range p.masks {
		out = append(out, m.name+"="+m.placeholder)
	}
	return out
}
