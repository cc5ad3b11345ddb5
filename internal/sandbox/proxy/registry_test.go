package proxy

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"testing"

	"mycelium/internal/registry"
)

// fetcher is a proxy with the shipped registries and two of a company, and what arrives at them.
type fetcher struct {
	proxy *Proxy
	addr  string

	mu      sync.Mutex
	arrived bytes.Buffer
}

// files are what the registries have, by HOST/PATH.
var files = map[string]string{
	"registry.npmjs.org/free":                                `{"versions":{"1.0.0":{"dependencies":{"helper":"^1"}},"1.1.0":{}}}`,
	"registry.npmjs.org/helper":                              gzipped(`{"versions":{"1.0.0":{"dependencies":{"deep":"^1"}}}}`),
	"registry.npmjs.org/deep":                                `{"versions":{"1.0.0":{}}}`,
	"registry.npmjs.org/deep/-/deep-1.0.0.tgz":               `{"dependencies":{"secret":"1"}}`,
	"registry.npmjs.org/locked":                              `{"versions":{"1.0.0":{},"1.1.0":{}}}`,
	"pypi.org/simple/locked/":                                `{"files":[{"url":"https://files.pythonhosted.org/packages/aa/locked-1.0.0.tar.gz"}]}`,
	"proxy.golang.org/m.example/locked/@v/list":              "v1.0.0\nv1.1.0\n",
	"npm.corp.example/api/npm/locked":                        `{"versions":{"1.0.0":{}}}`,
	"files.pythonhosted.org/packages/aa/locked-1.0.0.tar.gz": "file",
}

func gzipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, s)
	_ = z.Close()
	return b.String()
}

func newFetcher(t *testing.T) *fetcher {
	t.Helper()
	n, f := newInternet(t), &fetcher{}
	n.secure.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := httputil.DumpRequest(r, true)
		f.mu.Lock()
		f.arrived.Write(raw)
		f.mu.Unlock()
		if strings.HasSuffix(r.URL.Path, "moved") {
			http.Redirect(w, r, "https://registry.npmjs.org/secret", http.StatusFound)
			return
		}
		text := files[r.Host+r.URL.EscapedPath()]
		if strings.HasPrefix(text, "\x1f\x8b") {
			w.Header().Set("Content-Encoding", "gzip")
		}
		_, _ = io.WriteString(w, text)
	})
	n.plain.Config.Handler = n.secure.Config.Handler
	open := append(registry.Shipped(), registry.Registry{Name: "corp", Like: registry.NPM, Hosts: []string{"npm.corp.example/api/npm"}},
		registry.Registry{Name: "corp-py", Like: registry.PyPI, Hosts: []string{"npm.corp.example/api/py"}})
	for _, r := range open {
		for _, h := range r.Hosts {
			host, _ := registry.Place(h)
			n.names[host] = []string{far}
		}
	}
	var err error
	f.proxy, err = New([]string{"good.example"}, []Mask{{Name: "TOKEN", Value: secretValue, Hosts: []string{"npm.corp.example"}}},
		Registries{Open: open, Packages: []string{"npm:free", "npm:one@9.9.9-odd"}, Locked: func() *registry.Locked {
			var l registry.Locked
			l.Read("package-lock.json", []byte(`{"packages":{"node_modules/locked":{"version":"1.0.0"},"node_modules/moved":{"version":"1.0.0"}}}`))
			l.Read("requirements.txt", []byte("locked==1.0.0\n"))
			l.Read("go.sum", []byte("m.example/locked v1.0.0 h1:x=\nm.example/pseudo v0.0.0-20200101000000-abcdefabcdef h1:x=\n"))
			l.Read("poetry.lock", []byte("["))
			return &l
		}}, n.outside(), "ask so")
	if err != nil {
		t.Fatal(err)
	}
	f.addr = serveOn(t, f.proxy)
	return f
}

// send opens a tunnel to a host, and sends a request in TLS. It returns the answer and what arrived at the registries.
func (f *fetcher) send(t *testing.T, host, text string) (answer, arrived string) {
	t.Helper()
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "CONNECT "+host+":443 HTTP/1.1\r\nHost: "+host+":443\r\n\r\n")
	established := make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))
	if _, err := io.ReadFull(conn, established); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(f.proxy.authority.cert)
	secure := tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: host})
	_, _ = io.WriteString(secure, text)
	data, _ := io.ReadAll(secure)
	f.mu.Lock()
	defer f.mu.Unlock()
	arrived = f.arrived.String()
	f.arrived.Reset()
	return string(data), arrived
}

// TestRegistryFetches: what is locked or given is fetched, and nothing of the command's own words arrives.
func TestRegistryFetches(t *testing.T) {
	t.Parallel()
	f := newFetcher(t)
	for _, row := range []struct{ host, method, path, arrives string }{
		{"registry.npmjs.org", "GET", "/locked", "GET /locked HTTP/1.1"},
		{"registry.npmjs.org", "HEAD", "/locked", "HEAD /locked HTTP/1.1"},
		{"registry.yarnpkg.com", "GET", "/locked/-/locked-1.0.0.tgz", "GET /locked/-/locked-1.0.0.tgz HTTP/1.1"},
		{"registry.npmjs.org", "GET", "/locked/-/locked-1.1.0.tgz", "GET /locked/-/locked-1.1.0.tgz HTTP/1.1"}, // not locked, and listed
		{"registry.npmjs.org", "GET", "/free/-/free-1.1.0.tgz", "GET /free/-/free-1.1.0.tgz HTTP/1.1"},
		{"registry.npmjs.org", "GET", "/one/9.9.9-odd", "GET /one/9.9.9-odd HTTP/1.1"},
		{"pypi.org", "GET", "/simple/Locked", "GET /simple/locked/ HTTP/1.1"},
		{"files.pythonhosted.org", "GET", "/packages/aa/locked-1.0.0.tar.gz", "GET /packages/aa/locked-1.0.0.tar.gz HTTP/1.1"},
		{"proxy.golang.org", "GET", "/m.example/locked/@v/v1.1.0.zip", "GET /m.example/locked/@v/v1.1.0.zip HTTP/1.1"},
		{"proxy.golang.org", "GET", "/m.example/pseudo/@v/v0.0.0-20200101000000-abcdefabcdef.mod", "abcdefabcdef.mod"},
		{"npm.corp.example", "GET", "/api/npm/locked", "GET /api/npm/locked HTTP/1.1"},
		{"npm.corp.example", "GET", "/api/py/simple/locked/", "GET /api/py/simple/locked/ HTTP/1.1"},
	} {
		answer, arrived := f.send(t, row.host, row.method+" "+row.path+" HTTP/1.1\r\nHost: "+row.host+"\r\nConnection: close\r\nUser-Agent: secret\r\n"+
			"Cookie: secret\r\nIf-None-Match: \"secret\"\r\nAuthorization: Bearer secret\r\nX-Secret: secret\r\nRange: bytes=7-9\r\nReferer: secret\r\n"+
			"Accept: application/secret, application/json\r\nAccept-Encoding: gzip, secret\r\nTe: trailers\r\n"+
			"Npm-Command: secret\r\nForwarded: secret\r\nVia: secret\r\nUpgrade: secret\r\n\r\n")
		if !strings.HasPrefix(answer, "HTTP/1.1 200") || !strings.Contains(arrived, row.arrives) {
			t.Errorf("%s %s: %s\narrived: %s", row.host, row.path, answer, arrived)
		}
		if low := strings.ToLower(arrived); strings.Contains(low, "secret") || strings.Contains(low, "bytes=7-9") {
			t.Errorf("%s %s: arrived: %s", row.host, row.path, arrived)
		}
	}
	if refused := f.proxy.Close(); len(refused) > 0 {
		t.Errorf("refused: %v", refused)
	}
}

// TestRegistryNeeds: the dependencies of a package that a person gave can be fetched once its index was, and so can theirs. No other answer
// opens a name. Each row is a request and the beginning of its answer.
func TestRegistryNeeds(t *testing.T) {
	t.Parallel()
	f := newFetcher(t)
	for _, row := range [][2]string{{"/helper", "403"}, {"/free", "200"}, {"/deep", "403"}, {"/helper", "200"}, {"/deep", "200"},
		{"/deep/-/deep-1.0.0.tgz", "200"}, {"/deep/-/deep-1.0.1.tgz", "403"}, {"/secret", "403"}} {
		answer, arrived := f.send(t, "registry.npmjs.org", "GET "+row[0]+" HTTP/1.1\r\nHost: registry.npmjs.org\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(answer, "HTTP/1.1 "+row[1]) || row[1] == "200" && !strings.HasSuffix(answer, files["registry.npmjs.org"+row[0]]) ||
			row[1] == "403" && strings.Contains(arrived, "GET "+row[0]+" ") {
			t.Errorf("%s: %q\narrived: %s", row[0], answer, arrived)
		}
	}
}

// TestRegistryRefuses: a secret leaves in no part of a request. The word secret stands for it; in a few rows a number does.
func TestRegistryRefuses(t *testing.T) {
	t.Parallel()
	const npm = "registry.npmjs.org"
	for _, row := range []struct{ host, text, refused, pkg string }{
		{npm, "GET /secret HTTP/1.1\r\nHost: " + npm, "package secret of registry.npmjs.org is in no lock file at HEAD; poetry.lock cannot be read", "npm:secret"},
		{npm, "HEAD /secret HTTP/1.1\r\nHost: " + npm, "in no lock file", "npm:secret"},
		{npm, "GET /@secret%2fx HTTP/1.1\r\nHost: " + npm, "in no lock file", "npm:@secret/x"},
		{npm, "GET /locked?secret HTTP/1.1\r\nHost: " + npm, "by such a path", ""},
		{npm, "GET /locked?secret=1&x HTTP/1.1\r\nHost: " + npm, "by such a path", ""},
		{npm, "GET /locked#secret HTTP/1.1\r\nHost: " + npm, "", ""},
		{npm, "GET /locked;secret HTTP/1.1\r\nHost: " + npm, "by such a path", ""},
		{npm, "GET /locked/../secret HTTP/1.1\r\nHost: " + npm, "by such a path", ""},
		{npm, "GET /%6cocked HTTP/1.1\r\nHost: " + npm, "by such a path", ""},
		{npm, "GET //secret/locked HTTP/1.1\r\nHost: " + npm, "by such a path", ""},
		{npm, "GET http://registry.npmjs.org/secret HTTP/1.1\r\nHost: " + npm, "by such a path", ""},
		{npm, "GET https://secret@registry.npmjs.org/locked HTTP/1.1\r\nHost: " + npm, "", ""},
		{npm, "GET /locked HTTP/1.1\r\nHost: secret.example", "the tunnel is to", ""},
		{npm, "GET /locked/-/locked-1.0.0-secret.tgz HTTP/1.1\r\nHost: " + npm, "does not list it", "npm:locked@1.0.0-secret"},
		{npm, "GET /locked/-/locked-1.0.73829.tgz HTTP/1.1\r\nHost: " + npm, "does not list it", "npm:locked@1.0.73829"},
		{npm, "GET /free/secret HTTP/1.1\r\nHost: " + npm, "does not list it", "npm:free@secret"},
		{npm, "GET /one HTTP/1.1\r\nHost: " + npm, "in no lock file", "npm:one"},
		{npm, "PUT /locked HTTP/1.1\r\nHost: " + npm + "\r\nContent-Length: 6\r\n\r\nsecret", "PUT sends something to it", ""},
		{npm, "POST /-/npm/v1/security/advisories/bulk HTTP/1.1\r\nHost: " + npm + "\r\nContent-Length: 6\r\n\r\nsecret", "POST sends", ""},
		{npm, "DELETE /secret HTTP/1.1\r\nHost: " + npm, "DELETE sends", ""},
		{npm, "OPTIONS /locked HTTP/1.1\r\nHost: " + npm, "OPTIONS sends", ""},
		{npm, "SECRET /locked HTTP/1.1\r\nHost: " + npm, "sends", ""},
		{npm, "GET /locked HTTP/1.1\r\nHost: " + npm + "\r\nContent-Length: 6\r\n\r\nsecret", "has a body", ""},
		{npm, "GET /locked HTTP/1.1\r\nHost: " + npm + "\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nsecret\r\n0\r\n", "has a body", ""},
		{"registry.yarnpkg.com", "GET /secret HTTP/1.1\r\nHost: registry.yarnpkg.com", "in no lock file", "npm:secret"},
		{"proxy.golang.org", "GET /secret.example/x/@v/list HTTP/1.1\r\nHost: proxy.golang.org", "in no lock file", "go:secret.example/x"},
		{"proxy.golang.org", "GET /m.example/locked/secret/@latest HTTP/1.1\r\nHost: proxy.golang.org", "in no lock file", "go:m.example/locked/secret"},
		{"proxy.golang.org", "GET /m.example/locked/@v/secret.info HTTP/1.1\r\nHost: proxy.golang.org", "does not list it", "go:m.example/locked@secret"},
		{"proxy.golang.org", "GET /m.example/locked/@v/v1.0.73829.info HTTP/1.1\r\nHost: proxy.golang.org", "does not list it", "go:m.example/locked@v1.0.73829"},
		{"proxy.golang.org", "GET /sumdb/secret.example/supported HTTP/1.1\r\nHost: proxy.golang.org", "by such a path", ""},
		{"sum.golang.org", "GET /lookup/secret.example@v1.0.0 HTTP/1.1\r\nHost: sum.golang.org", "in no lock file", "go:secret.example"},
		{"sum.golang.org", "GET /lookup/m.example/locked@v0.0.0-secret HTTP/1.1\r\nHost: sum.golang.org", "does not list it", "go:m.example/locked@v0.0.0-secret"},
		{"pypi.org", "GET /simple/secret/ HTTP/1.1\r\nHost: pypi.org", "in no lock file", "pypi:secret"},
		{"pypi.org", "POST /legacy/ HTTP/1.1\r\nHost: pypi.org\r\nContent-Length: 6\r\n\r\nsecret", "POST sends", ""},
		{"files.pythonhosted.org", "GET /packages/secret/locked-1.0.0.tar.gz HTTP/1.1\r\nHost: files.pythonhosted.org", "has no such file", ""},
		{"files.pythonhosted.org", "GET /packages/aa/locked-1.0.0-secret.tar.gz HTTP/1.1\r\nHost: files.pythonhosted.org", "has no such file", ""},
		{"crates.io", "PUT /api/v1/crates/new HTTP/1.1\r\nHost: crates.io\r\nContent-Length: 6\r\n\r\nsecret", "PUT sends", ""},
		{"npm.corp.example", "GET /secret HTTP/1.1\r\nHost: npm.corp.example", "by such a path", ""},
		{"npm.corp.example", "GET /api/npm/secret HTTP/1.1\r\nHost: npm.corp.example", "in no lock file", "corp:secret"},
		{"npm.corp.example", "GET /api/py/simple/secret/ HTTP/1.1\r\nHost: npm.corp.example", "in no lock file", "corp-py:secret"},
	} {
		f := newFetcher(t)
		answer, arrived := f.send(t, row.host, strings.Replace(row.text, " HTTP/1.1\r\n", " HTTP/1.1\r\nConnection: close\r\n", 1)+"\r\n\r\n")
		refused := f.proxy.Close()
		ok := strings.HasPrefix(answer, "HTTP/1.1 403") && len(refused) == 1 && strings.Contains(refused[0].Why, row.refused) && refused[0].Package == row.pkg
		if row.refused == "" { // the form is none of HTTP, or it is one whose secret is left out
			ok = strings.HasPrefix(answer, "HTTP/1.1 4") || strings.HasPrefix(answer, "HTTP/1.1 200")
		}
		if low := strings.ToLower(arrived); !ok || strings.Contains(low, "secret") || strings.Contains(low, "73829") {
			t.Errorf("%s: %s\nrefused %v\narrived %s", row.text, answer, refused, arrived)
		}
	}
}

// TestRegistryOtherWays: without TLS, by SOCKS, or on another port there is no other way to a registry.
func TestRegistryOtherWays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"GET http://registry.npmjs.org/secret HTTP/1.1\r\nHost: registry.npmjs.org\r\nConnection: close\r\n\r\n",
		"GET http://registry.npmjs.org:443/secret HTTP/1.1\r\nHost: registry.npmjs.org:443\r\nConnection: close\r\n\r\n",
		"GET http://npm.corp.example:443/secret HTTP/1.1\r\nHost: npm.corp.example:443\r\nConnection: close\r\n\r\n",
		"CONNECT registry.npmjs.org:80 HTTP/1.1\r\nHost: x\r\n\r\nGET /secret HTTP/1.1\r\nHost: registry.npmjs.org\r\nConnection: close\r\n\r\n",
		"CONNECT registry.npmjs.org:8443 HTTP/1.1\r\nHost: x\r\n\r\nsecret",
		"CONNECT registry.npmjs.org:443 HTTP/1.1\r\nHost: x\r\n\r\nGET /secret HTTP/1.1\r\nHost: registry.npmjs.org\r\n\r\n",
		"\x05\x01\x00\x05\x01\x00\x03\x12registry.npmjs.org\x01\xbbGET /secret HTTP/1.1\r\n\r\n",
	} {
		f := newFetcher(t)
		conn, err := net.Dial("tcp", f.addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, text)
		if half, ok := conn.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
		answer, _ := io.ReadAll(conn)
		_ = conn.Close()
		refused := f.proxy.Close()
		f.mu.Lock()
		arrived := f.arrived.String()
		f.mu.Unlock()
		if arrived != "" || len(refused) != 1 {
			t.Errorf("%q: %q, refused %v, arrived %s", text, answer, refused, arrived)
		}
	}
}

// TestRegistryAndHosts: a host that a person named is open as a whole, and the secret of a mask reaches a registry.
func TestRegistryAndHosts(t *testing.T) {
	t.Parallel()
	p, err := New([]string{"registry.npmjs.org"}, nil, Registries{Open: registry.Shipped()}, Outside{}, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"registry.npmjs.org": false, "registry.yarnpkg.com": true, "good.example": false} {
		if got := p.isRegistry(target{name: name, port: httpsPort}); got != want {
			t.Errorf("%s is a registry: %t", name, got)
		}
	}
	f := newFetcher(t)
	place := placeholderOf(t, f.proxy, "TOKEN")
	for sent, want := range map[string]string{"Bearer " + place: "Authorization: Bearer " + secretValue, "Bearer other" + place: "", "Basic " + place: ""} {
		_, arrived := f.send(t, "npm.corp.example", "GET /api/npm/locked HTTP/1.1\r\nHost: npm.corp.example\r\nConnection: close\r\nAuthorization: "+sent+"\r\n\r\n")
		if !strings.Contains(arrived, want) || want == "" && strings.Contains(arrived, "Authorization") {
			t.Errorf("%s: arrived %s", sent, arrived)
		}
	}
	for _, r := range []Registries{{Open: []registry.Registry{{Name: "a", Like: registry.NPM, Hosts: []string{"a b"}}}}, {Packages: []string{"a b"}}} {
		if _, err := New(nil, nil, r, Outside{}, ""); err == nil {
			t.Errorf("%+v is taken", r)
		}
	}
}
