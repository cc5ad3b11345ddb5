package sandbox

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/sandbox/proxy"
)

// theToken is a secret that the commands below use and never see.
const theToken = "tok-0123456789abcdef-real"

// reachable starts an internet with example.com, with and without TLS, and returns a command that may reach it. The secret TOKEN counts for
// api.example.com, which repeats what it gets and has a repository of git for those who have the secret.
func reachable(t *testing.T, argv ...string) (*Command, *bytes.Buffer) {
	t.Helper()
	repo := http.StripPrefix("/repo.git", http.FileServer(http.Dir(repository(t))))
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		switch {
		case !strings.HasPrefix(r.URL.Path, "/repo.git"):
			_, _ = fmt.Fprintf(w, "%s says: authorization %s\n", r.Host, r.Header.Get("Authorization"))
		case password == theToken:
			repo.ServeHTTP(w, r)
		default:
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer) // whose certificate is for example.com and all below it
	t.Cleanup(func() { plain.Close(); secure.Close() })
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	c := projectCommand(t, argv...)
	c.Hosts = []string{"example.com"}
	c.Masks = []proxy.Mask{{Name: "TOKEN", Value: theToken, Hosts: []string{"api.example.com"}}}
	c.Environ = append(c.Environ, "NODE_NO_WARNINGS=1")
	c.outside = proxy.Outside{Roots: roots,
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
		Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			server := plain
			if to.Port() == 443 {
				server = secure
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		}}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(c.Project, "example.pem"), cert, 0o600); err != nil {
		t.Fatal(err)
	}
	out := &bytes.Buffer{}
	c.Out, c.Err = out, out
	return c, out
}

// repository makes a repository that a plain server of files can serve.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "-b", "main", "."},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m", "one"}, {"update-server-info"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, said)
		}
	}
	return filepath.Join(dir, ".git")
}

// nodeTunnel speaks TLS through the proxy, as agents of HTTP for Node do.
const nodeTunnel = `const http = require('http'), tls = require('tls');
const via = new URL(process.env.https_proxy);
http.request({host: via.hostname, port: via.port, method: 'CONNECT', path: 'api.example.com:443'}).on('connect', (res, socket) => {
  const s = tls.connect({socket, servername: 'api.example.com'}, () =>
    s.write('GET / HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\nAuthorization: Bearer ' + process.env.TOKEN + '\r\n\r\n'));
  s.pipe(process.stdout);
}).end();`

// TestReach runs real programs that reach an allowed host, use a secret that they do not have, and are refused elsewhere.
func TestReach(t *testing.T) {
	const says = "example.com says: authorization"
	for name, row := range map[string]struct {
		argv    []string
		profile string
		says    string // %s: the placeholder
		refused string
	}{
		"curl":          {argv: []string{"curl", "-sS", "http://example.com/"}, says: says},
		"curl, strict":  {argv: []string{"curl", "-sS", "http://example.com/"}, profile: "strict", says: says},
		"curl, own TLS": {argv: []string{"curl", "-sS", "--cacert", "example.pem", "https://example.com/"}, says: says},
		"curl, SOCKS":   {argv: []string{"curl", "-sS", "-x", "socks5h://127.0.0.1:3128", "http://example.com/"}, says: says},
		"curl, mask": {argv: []string{"sh", "-c", `curl -sS -H "Authorization: Bearer $TOKEN" https://api.example.com/`},
			says: "authorization Bearer %s"},
		"curl, user": {argv: []string{"sh", "-c", `curl -sS -u "me:$TOKEN" https://api.example.com/repo.git/HEAD`},
			says: "ref: refs/heads/main"},
		"curl, refused":  {argv: []string{"curl", "-sS", "http://evil.test/x"}, says: "myc sandbox exec --host", refused: "evil.test:80"},
		"curl, TLS":      {argv: []string{"curl", "-sS", "https://evil.test/x"}, says: "403", refused: "evil.test:443"},
		"curl, no proxy": {argv: []string{"curl", "-sS", "--noproxy", "*", "http://93.184.215.14/"}, says: "curl: (7)"},
		"git": {argv: []string{"sh", "-c", `git clone -q "https://me:$TOKEN@api.example.com/repo.git" there && git -C there log --oneline`},
			says: "one"},
		"git, refused": {argv: []string{"git", "ls-remote", "https://evil.test/repo.git"}, says: "403", refused: "evil.test:443"},
		"node":         {argv: []string{"node", "-e", nodeTunnel}, says: "authorization Bearer %s"},
		"python": {argv: []string{"/usr/bin/python3", "-c", `import os, urllib.request as u
print(u.urlopen(u.Request("https://api.example.com/", headers={"Authorization": "Bearer " + os.environ["TOKEN"]})).read().decode())`},
			says: "authorization Bearer %s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, out := reachable(t, append([]string{"sh", "-c", `printf '%s\n' "$TOKEN"; exec "$@"`, "sh"}, row.argv...)...)
			if row.profile != "" {
				c.Profile, _ = Find(row.profile)
				c.Profile.Memory = 0 // a child that looks for data races needs more
			}
			result, err := Run(t.Context(), self(t), c)
			if err != nil {
				t.Fatal(err)
			}
			placeholder, said, _ := strings.Cut(out.String(), "\n")
			if want := strings.ReplaceAll(row.says, "%s", placeholder); !strings.Contains(said, want) || strings.Contains(out.String(), theToken) {
				t.Errorf("exit code %d: %s", result.ExitCode, out)
			}
			refused := ""
			for _, r := range result.Left.Refused {
				refused += r.Host
			}
			if refused != row.refused {
				t.Errorf("refused: %v", result.Left.Refused)
			}
		})
	}
}

// TestNoHostsNoWay: without hosts there is no proxy and no variable that names one; with the network of the machine hosts are refused.
func TestNoHostsNoWay(t *testing.T) {
	t.Parallel()
	c, out := reachable(t, "sh", "-c", "env; curl -sS -x http://127.0.0.1:3128 http://example.com/")
	c.Hosts, c.Masks = nil, nil
	if _, err := Run(t.Context(), self(t), c); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); !strings.Contains(s, "curl: (7)") || strings.Contains(strings.ToLower(s), "http_proxy") {
		t.Error(s)
	}
	c.Hosts, c.Profile.Network = []string{"example.com"}, true
	if _, err := Run(t.Context(), self(t), c); err == nil || !strings.Contains(err.Error(), "network of the machine") {
		t.Error(err)
	}
}

// TestServerUsesItsSecret: a server that lives as long as its input reaches the host of its profile's mask over TLS, each time, with a
// secret that it has under no name; the host gets the real one.
func TestServerUsesItsSecret(t *testing.T) {
	t.Parallel()
	c, out := reachable(t, "sh", "-c", `env | grep -c "$0"; while read path; do curl -sS -u "$LOGIN" "https://api.example.com/$path"; done`,
		theToken[len(theToken)-8:])
	c.Profile.Masks = map[string][]string{"TOKEN": {"api.example.com"}}
	c.Profile.Seconds, c.Hosts = 0, nil
	c.Env = []string{"TOKEN=" + theToken, "LOGIN=me:" + theToken} // as serverCommand hands over what an entry sets
	c.In = strings.NewReader("repo.git/HEAD\nrepo.git/HEAD\n")
	result, err := Run(t.Context(), self(t), c)
	if err != nil || result.ExitCode != 0 {
		t.Fatal(err, result, out)
	}
	if got, want := out.String(), "0\nref: refs/heads/main\nref: refs/heads/main\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
