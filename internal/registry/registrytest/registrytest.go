// Package registrytest is an internet for tests: the shipped registries, with a few packages.
package registrytest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // as Maven has it
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/registry"
)

// Address is the address that every host of the internet has.
const Address = "93.184.215.14"

// Internet has left-pad, right-pad, @scope/pad and frame of npm, left-pad, right-pad and frame of PyPI, and example.com/Pad, other and frame
// of Go, and org.example:base and top of Maven, each in version 1.0.0. The dependencies of a frame are in no lock file of the tests. It keeps every request.
type Internet struct {
	Integrity map[string]string // of the packages of npm, as a package-lock.json has it
	Sum       string            // the lines of go.sum for example.com/Pad

	files   map[string][]byte // HOST/PATH: content
	mu      sync.Mutex
	arrived bytes.Buffer // every request as it came, with its headers and body
}

// ServeHTTP serves the files of every host.
func (n *Internet) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	raw, _ := httputil.DumpRequest(q, true)
	n.mu.Lock()
	n.arrived.Write(raw)
	n.mu.Unlock()
	data, ok := n.files[q.Host+q.URL.EscapedPath()]
	if !ok {
		http.NotFound(w, q)
		return
	}
	if strings.Contains(q.Header.Get("Accept"), "vnd.pypi.simple.v1+json") {
		w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
	}
	_, _ = w.Write(data)
}

// Seen returns every request that has arrived.
func (n *Internet) Seen() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.arrived.String()
}

// Hosts returns the hosts of the shipped registries.
func Hosts() (hosts []string) {
	for _, one := range registry.Shipped() {
		for _, h := range one.Hosts {
			host, _ := registry.Place(h)
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// Serve serves the internet with TLS on a listener until the test ends, and returns its certificate, which signs itself. Without a
// listener, it makes one on the loopback and returns its address.
func (n *Internet) Serve(t *testing.T, l net.Listener) (cert *x509.Certificate, at net.Addr) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		DNSNames: Hosts()}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(n)
	if l != nil {
		_ = server.Listener.Close()
		server.Listener = l
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return cert, server.Listener.Addr()
}

// PEM returns a certificate as a file has it.
func PEM(cert *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}

// New returns the internet with its packages.
func New(t *testing.T) *Internet {
	t.Helper()
	r, integrity := &Internet{files: map[string][]byte{}}, map[string]string{}
	for _, name := range []string{"left-pad", "right-pad", "@scope/pad", "frame"} {
		needs := ""
		if name == "frame" {
			needs = `,"dependencies":{"right-pad":"^1.0.0","@scope/pad":"1.0.0"}`
		}
		tgz := tarball(t, "package/package.json", fmt.Sprintf(`{"name":%q,"version":"1.0.0"%s}`, name, needs))
		hash := sha512.Sum512(tgz)
		integrity[name] = "sha512-" + base64.StdEncoding.EncodeToString(hash[:])
		path := name + "/-/" + filepath.Base(name) + "-1.0.0.tgz"
		r.files["registry.npmjs.org/"+path] = tgz
		r.files["registry.npmjs.org/"+strings.Replace(name, "/", "%2f", 1)] = fmt.Appendf(nil,
			`{"name":%q,"dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":%[1]q,"version":"1.0.0"%[4]s,"dist":{"tarball":"https://registry.npmjs.org/%[2]s","integrity":%[3]q}}}}`,
			name, path, integrity[name], needs)
	}
	r.wheel(t, "left-pad", "pad", "")
	r.wheel(t, "right-pad", "rightpad", "")
	r.wheel(t, "frame", "frame", "Requires-Dist: right-pad>=1.0\n")
	r.Integrity, r.Sum = integrity, r.module(t, "example.com/Pad", "")
	r.module(t, "example.com/other", "")
	r.module(t, "example.com/frame", "\nrequire example.com/other v1.0.0\n")
	r.pom(t, "base", "<parent><groupId>org.example</groupId><artifactId>top</artifactId><version>1.0.0</version></parent>")
	r.pom(t, "top", "")
	return r
}

// Pom is a project of Maven with a parent, as a file of the project has it, or a file of Maven's repository.
func Pom(artifact, parent string) string {
	return "<project><modelVersion>4.0.0</modelVersion>" + parent + "<groupId>org.example</groupId><artifactId>" + artifact +
		"</artifactId><version>1.0.0</version><packaging>pom</packaging></project>"
}

// pom adds an artifact of Maven's repository that is only a description.
func (n *Internet) pom(t *testing.T, artifact, parent string) {
	t.Helper()
	at := "repo.maven.apache.org/maven2/org/example/" + artifact + "/1.0.0/" + artifact + "-1.0.0.pom"
	n.files[at] = []byte(Pom(artifact, parent))
	n.files[at+".sha1"] = fmt.Appendf(nil, "%x", sha1.Sum(n.files[at])) //nolint:gosec // as Maven has it
	n.files["repo.maven.apache.org/maven2/org/example/"+artifact+"/maven-metadata.xml"] = []byte(
		"<metadata><versioning><versions><version>1.0.0</version></versions></versioning></metadata>")
}

// wheel adds a package of PyPI, with the file of metadata beside it that PyPI has for each wheel.
func (n *Internet) wheel(t *testing.T, name, module, needs string) {
	t.Helper()
	base := strings.ReplaceAll(name, "-", "_") + "-1.0.0"
	about := "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0.0\n" + needs
	info := base + ".dist-info/"
	wheel := zipped(t, map[string]string{module + ".py": module + " = 1\n", info + "METADATA": about,
		info + "WHEEL":  "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		info + "RECORD": module + ".py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"})
	file := base + "-py3-none-any.whl"
	at := "files.pythonhosted.org/packages/aa/bb/0123456789/" + file
	n.files[at], n.files[at+".metadata"] = wheel, []byte(about)
	n.files["pypi.org/simple/"+name+"/"] = fmt.Appendf(nil, `{"meta":{"api-version":"1.0"},"name":%q,"files":[{"filename":%q,`+
		`"url":"https://%s","hashes":{"sha256":"%x"}}]}`, name, file, at, sha256.Sum256(wheel))
}

// module adds a module of Go, and returns its lines of go.sum.
func (n *Internet) module(t *testing.T, path, needs string) (sum string) {
	t.Helper()
	mod := "module " + path + "\n" + needs
	base := filepath.Base(path)
	code := map[string]string{path + "@v1.0.0/go.mod": mod, path + "@v1.0.0/" + strings.ToLower(base) + ".go": "package " + strings.ToLower(base) + "\n"}
	at := "proxy.golang.org/" + filepath.Dir(path) + "/" + strings.Replace(base, "P", "!p", 1) + "/@v/"
	n.files[at+"v1.0.0.zip"] = zipped(t, code)
	n.files[at+"v1.0.0.mod"] = []byte(mod)
	n.files[at+"v1.0.0.info"] = []byte(`{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}`)
	n.files[at+"list"] = []byte("v1.0.0\n")
	return path + " v1.0.0 " + dirHash(code) + "\n" + path + " v1.0.0/go.mod " + dirHash(map[string]string{"go.mod": mod}) + "\n"
}

// dirHash is the hash of go.sum: of the hashes of the files, sorted by their names.
func dirHash(files map[string]string) string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	h := sha256.New()
	for _, name := range names {
		fmt.Fprintf(h, "%x  %s\n", sha256.Sum256([]byte(files[name])), name)
	}
	return "h1:" + base64.StdEncoding.EncodeToString(h.Sum(nil))
}

func tarball(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))})
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err != nil || w.Close() != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
