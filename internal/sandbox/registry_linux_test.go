package sandbox

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/registry"
	"mycelium/internal/sandbox/proxy"
)

// registries is an internet that has the shipped registries with a few packages, and keeps what arrives there.
type registries struct {
	files map[string][]byte // HOST/PATH: content

	mu      sync.Mutex
	arrived bytes.Buffer // every request as it came, with its headers and body
}

func (r *registries) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	raw, _ := httputil.DumpRequest(q, true)
	r.mu.Lock()
	r.arrived.Write(raw)
	r.mu.Unlock()
	data, ok := r.files[q.Host+q.URL.EscapedPath()]
	if !ok {
		http.NotFound(w, q)
		return
	}
	if strings.Contains(q.Header.Get("Accept"), "vnd.pypi.simple.v1+json") {
		w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
	}
	_, _ = w.Write(data)
}

// seen is what arrived so far.
func (r *registries) seen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.arrived.String()
}

// outside starts the internet.
func (r *registries) outside(t *testing.T) proxy.Outside {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	for _, one := range registry.Shipped() {
		for _, h := range one.Hosts {
			host, _ := registry.Place(h)
			form.DNSNames = append(form.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(r)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return proxy.Outside{Roots: roots,
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
		Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		}}
}

// The packages of the registries. Each is in both: right-pad is what no lock file has.
func packages(t *testing.T) (r *registries, integrity map[string]string, sum string) {
	t.Helper()
	r, integrity = &registries{files: map[string][]byte{}}, map[string]string{}
	for _, name := range []string{"left-pad", "right-pad", "@scope/pad"} {
		tgz := tarball(t, "package/package.json", fmt.Sprintf(`{"name":%q,"version":"1.0.0"}`, name))
		hash := sha512.Sum512(tgz)
		integrity[name] = "sha512-" + base64.StdEncoding.EncodeToString(hash[:])
		path := name + "/-/" + filepath.Base(name) + "-1.0.0.tgz"
		r.files["registry.npmjs.org/"+path] = tgz
		r.files["registry.npmjs.org/"+strings.Replace(name, "/", "%2f", 1)] = fmt.Appendf(nil,
			`{"name":%q,"dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":%[1]q,"version":"1.0.0","dist":{"tarball":"https://registry.npmjs.org/%s","integrity":%q}}}}`,
			name, path, integrity[name])
	}
	wheel := zipped(t, map[string]string{"pad.py": "pad = 1\n", "left_pad-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: left-pad\nVersion: 1.0.0\n",
		"left_pad-1.0.0.dist-info/WHEEL":  "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"left_pad-1.0.0.dist-info/RECORD": "pad.py,,\nleft_pad-1.0.0.dist-info/METADATA,,\nleft_pad-1.0.0.dist-info/WHEEL,,\nleft_pad-1.0.0.dist-info/RECORD,,\n"})
	const at = "files.pythonhosted.org/packages/aa/bb/0123456789/left_pad-1.0.0-py3-none-any.whl"
	r.files[at] = wheel
	r.files["pypi.org/simple/left-pad/"] = fmt.Appendf(nil, `{"meta":{"api-version":"1.0"},"name":"left-pad","files":[{"filename":"left_pad-1.0.0-py3-none-any.whl",`+
		`"url":"https://%s","hashes":{"sha256":"%x"}}]}`, at, sha256.Sum256(wheel))

	mod := "module example.com/Pad\n"
	code := map[string]string{"example.com/Pad@v1.0.0/go.mod": mod, "example.com/Pad@v1.0.0/pad.go": "package pad\n"}
	r.files["proxy.golang.org/example.com/!pad/@v/v1.0.0.zip"] = zipped(t, code)
	r.files["proxy.golang.org/example.com/!pad/@v/v1.0.0.mod"] = []byte(mod)
	r.files["proxy.golang.org/example.com/!pad/@v/v1.0.0.info"] = []byte(`{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}`)
	r.files["proxy.golang.org/example.com/!pad/@v/list"] = []byte("v1.0.0\n")
	sum = "example.com/Pad v1.0.0 " + dirHash(code) + "\nexample.com/Pad v1.0.0/go.mod " + dirHash(map[string]string{"go.mod": mod}) + "\n"
	return r, integrity, sum
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

// lockOf is a package-lock.json with some packages.
func lockOf(integrity map[string]string, names ...string) string {
	deps, locked := "", ""
	for i, name := range names {
		if i > 0 {
			deps += ","
		}
		deps += fmt.Sprintf("%q:\"1.0.0\"", name)
		locked += fmt.Sprintf(`,"node_modules/%s":{"version":"1.0.0","resolved":"https://registry.npmjs.org/%[1]s/-/%s-1.0.0.tgz","integrity":%q}`,
			name, filepath.Base(name), integrity[name])
	}
	return fmt.Sprintf(`{"name":"p","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"p","version":"1.0.0","dependencies":{%s}}%s}}`, deps, locked)
}

// fetching makes a project whose last commit has lock files of npm, PyPI and Go, and returns a command in it with all registries.
func fetching(t *testing.T, argv ...string) (*Command, *registries, *bytes.Buffer) {
	t.Helper()
	r, integrity, sum := packages(t)
	c := projectCommand(t, argv...)
	for name, text := range map[string]string{
		"package.json":      `{"name":"p","version":"1.0.0","dependencies":{"left-pad":"1.0.0","@scope/pad":"1.0.0"}}`,
		"package-lock.json": lockOf(integrity, "left-pad", "@scope/pad"),
		"requirements.txt":  "left_pad==1.0.0\n",
		"go.mod":            "module example.org/p\n\ngo 1.21\n\nrequire example.com/Pad v1.0.0\n",
		"go.sum":            sum,
		"main.go":           "package main\n\nimport _ \"example.com/Pad\"\n\nfunc main() {}\n",
		"more/package.json": `{"name":"p","version":"1.0.0","dependencies":{"left-pad":"1.0.0","right-pad":"1.0.0"}}`,
		"more/lock":         lockOf(integrity, "left-pad", "right-pad"),
	} {
		path := filepath.Join(c.Project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", "."}, {"add", "-A"},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "one"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = c.Project
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, said)
		}
	}
	out := &bytes.Buffer{}
	c.Environ = []string{"PATH=/usr/bin:/bin:/usr/local/go/bin"}
	c.Env = []string{"NODE_NO_WARNINGS=1", "GOFLAGS=-modcacherw", "PIP_ROOT_USER_ACTION=ignore", "PIP_NO_INPUT=1"}
	c.Registries, c.outside, c.Out, c.Err, c.Asks = registry.Shipped(), r.outside(t), out, out, true
	return c, r, out
}

// moreLock replaces the lock file by one that has right-pad too, which is what an agent can do.
const moreLock = `cp more/package.json . && cp more/lock package-lock.json && `

// commitIt makes it the last commit.
const commitIt = `git -c user.name=t -c user.email=t@example.com commit -qam two && `

// TestRegistries runs the real package managers: they fetch what the lock files of the last commit have, and nothing else, whatever stands in
// the lock file now.
func TestRegistries(t *testing.T) {
	for name, row := range map[string]struct {
		line     string
		give     []string // packages
		fails    bool
		refused  string
		contains string
	}{
		"npm ci": {line: `npm ci && ls node_modules node_modules/@scope`, contains: "left-pad"},
		"npm ci, just written": {line: moreLock + `npm ci`, fails: true, refused: "npm:right-pad",
			contains: "right-pad of registry.npmjs.org is in no lock file at HEAD"},
		"npm ci, just committed": {line: moreLock + commitIt + `npm ci`, fails: true, refused: "npm:right-pad"},
		"npm ci, given":          {line: moreLock + `npm ci && ls node_modules`, give: []string{"npm:right-pad"}, contains: "right-pad"},
		"npm install, new":       {line: `npm install right-pad`, fails: true, refused: "npm:right-pad", contains: "Run the same command again"},
		"npm install, given":     {line: `npm install right-pad && ls node_modules`, give: []string{"npm:right-pad"}, contains: "right-pad"},
		"npm ci, audit":          {line: `npm ci --audit=true && echo done`, contains: "done"}, // the report is not sent, which is no failure
		"npm audit":              {line: `npm ci && npm audit`, fails: true, contains: "POST sends something"},
		"pip":                    {line: `pip3 install -q --target there -r requirements.txt && ls there`, contains: "pad.py"},
		"pip, new":               {line: `pip3 install -q --target there right-pad`, fails: true, refused: "pypi:right-pad"},
		"go":                     {line: `go mod download && go build -o /dev/null . && echo built`, contains: "built"},
		"go, new":                {line: `go get example.com/other@v1.0.0`, fails: true, refused: "go:example.com/other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, r, out := fetching(t, "sh", "-c", row.line)
			c.Packages = row.give
			result, err := Run(t.Context(), self(t), c)
			if err != nil {
				t.Fatal(err)
			}
			refused := map[string]bool{}
			for _, one := range result.Left.Refused {
				refused[one.Package] = one.Package != ""
			}
			if (result.ExitCode != 0) != row.fails || !strings.Contains(out.String(), row.contains) || row.refused != "" && !refused[row.refused] ||
				row.refused == "" && len(refused) > 1 {
				t.Errorf("exit code %d, refused %v: %s\n%s", result.ExitCode, result.Left.Refused, out, r.seen())
			}
			if seen := r.seen(); row.give == nil && (strings.Contains(seen, "right-pad") || strings.Contains(seen, "other")) {
				t.Errorf("what no lock file has was asked for:\n%s", seen)
			}
		})
	}
}
