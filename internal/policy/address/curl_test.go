package address_test

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"mycelium/internal/policy/address"
)

// pieces are what the addresses of the test are made of. Wherever two of them meet, programs may disagree.
var (
	schemes = []string{"http://", "HTTP://", "http:/", "http:///", "http:////", "", "", "http:", " http://", "http://", "http://", "http:\\\\"}
	users   = []string{"", "", "", "", "u@", "u:p@", "a@b@", "localhost@", "localhost:80@", "localhost\\@", "localhost#@", "localhost?@",
		"localhost/@", "%40@", "u;x@", "localhost%2f@", ":@", "@", "[::1]@", "localhost\\\\@", "a b@", "u:p:q@", "localhost&@"}
	hosts = []string{"localhost", "LocalHost", "localhost.", "localhost..", ".localhost", "evil.example", "EVIL.example.", "127.0.0.1",
		"127.1",
		"127.0.1", "2130706433", "0x7f000001", "0x7F.1", "0x7f.0.0.1", "017700000001", "0177.0.0.1", "0127.0.0.1", "127.0.0.1.",
		"127.0.0.256",
		"256.1", "4294967296", "4294967295", "1.2.3.4.5", "08.8.8.8", "0x.1", "0", "00", "0x0", "1.16777215", "1.16777216", "[::1]", "[::]",
		"[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[v1.x]", "[::1", "::1",
		"[127.0.0.1]",
		"local%68ost", "localhost%2eevil.example", "localhost%00.evil.example", "%6cocalhost", "localhost%23", "bücher.example",
		"ⓛocalhost", "local\thost", "local host", "localhost,evil.example", "{localhost,evil.example}", "evil[1-2].example",
		"evil_x.example", "evil-x.example", "-evil.example", "evil..example", "localhost;evil.example", "localhost&evil.example",
		"localhost=evil", "a.b.c.d.e", "1e100.net", "x.1", "127.0.0.1.evil.example", "0x7f.evil", "evil。example", "local\u00adhost",
		"localhost'", "1_0.1"}
	ports = []string{"", "", "", ":80", ":8420", ":08420", ":", ":0", ":65536", ":99999999999", ":80a", ":-1", ":80:81", ":+80"}
	tails = []string{"", "/", "/x", "/@evil.example", "?x", "?@evil.example", "#x", "#@evil.example", "\\@evil.example", "\\x",
		"/\\@evil.example",
		"/x?y@z", "?x/@evil.example", "#x/@evil.example", "//evil.example", "/..//evil.example", ";@evil.example", "&@evil.example"}
)

// generated are the addresses of the test: the same ones in each run.
func generated(n int) []string {
	r := rand.New(rand.NewPCG(17, 4))
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	list := make([]string, 0, n)
	for _, h := range hosts { // each alone, too
		list = append(list, "http://"+h+"/")
	}
	for _, u := range users {
		list = append(list, "http://"+u+"evil.example/")
	}
	for _, t := range tails {
		list = append(list, "http://localhost"+t)
	}
	for len(list) < n {
		list = append(list, pick(schemes)+pick(users)+pick(hosts)+pick(ports)+pick(tails))
	}
	return list
}

// proxy answers each request with nothing and remembers for which hosts it was asked.
type proxy struct {
	net.Listener
	mu    sync.Mutex
	hosts []string
}

func (p *proxy) serve() {
	for {
		c, err := p.Accept()
		if err != nil {
			return
		}
		p.answer(c)
	}
}

func (p *proxy) answer(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	line, err := r.ReadString('\n')
	if err != nil {
		return
	}
	if target := strings.Fields(line); len(target) == 3 {
		_, host, _ := strings.Cut(target[1], "://")
		host, _, _ = strings.Cut(host, "/")
		host, _, _ = strings.Cut(host, "?")
		p.mu.Lock()
		p.hosts = append(p.hosts, host[strings.LastIndexByte(host, '@')+1:])
		p.mu.Unlock()
	}
	for line != "\r\n" && err == nil {
		line, err = r.ReadString('\n')
	}
	fmt.Fprintf(c, "HTTP/1.1 %d OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", http.StatusOK)
}

// asked returns the hosts for which curl asks a proxy when it is given an address. Nothing leaves the machine.
func (p *proxy) asked(t *testing.T, url string) []string {
	p.mu.Lock()
	p.hosts = nil
	p.mu.Unlock()
	out, err := exec.CommandContext(t.Context(), "curl", "-q", "-s", "-o", "/dev/null", "-m", "10", "--noproxy", "",
		"--proxy", "http://"+p.Addr().String(), "--", url).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %s", err, out)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hosts
}

// usual is the usual form of host:port.
func usual(s string) string {
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		s = s[:i]
	}
	s = strings.ToLower(strings.TrimSuffix(strings.Trim(s, "[]"), "."))
	s, _, _ = strings.Cut(s, "%")
	if ip, err := netip.ParseAddr(s); err == nil {
		return ip.Unmap().String()
	}
	return s
}

// TestCurlAsksTheHostThatIsRead gives curl addresses of every kind: where the reader says that an address is clear, curl asks its host and
// no other.
func TestCurlAsksTheHostThatIsRead(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l}
	defer p.Close()
	go p.serve()
	understood, compared := 0, 0
	for _, url := range generated(500) {
		a := address.Read(url)
		if !a.Clear {
			continue
		}
		understood++
		for _, host := range p.asked(t, url) {
			compared++
			if usual(host) != a.Host {
				t.Errorf("%q is read as %q, but curl asks %q", url, a.Host, host)
			}
		}
	}
	t.Logf("%d addresses are clear; curl asked %d hosts", understood, compared)
	if compared < 80 {
		t.Errorf("only %d hosts were compared", compared)
	}
}
