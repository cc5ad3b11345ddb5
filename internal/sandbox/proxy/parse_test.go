package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// TestParseHost: what people may write, and what it reaches.
func TestParseHost(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		host, yes, no string // targets, separated by spaces
	}{
		{"example.com", "example.com:80 EXAMPLE.com.:443", "example.com:22 a.example.com:443 example.com.evil:443 aexample.com:443"},
		{"*.example.com", "a.example.com:443 a.b.example.com:80", "example.com:443 aexample.com:443 a.example.com:8443"},
		{"Example.COM.:8443", "example.com:8443", "example.com:443"},
		{"127.0.0.1:3000", "127.0.0.1:3000 [::ffff:127.0.0.1]:3000", "127.0.0.1:80 localhost:3000"},
		{"::1", "[::1]:80 [0:0:0:0:0:0:0:1]:443", "[::2]:80"},
		{"[2001:db8::1]:5432", "[2001:db8::1]:5432", "[2001:db8::1]:443"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example:443", "bcher-kva.example:443"},
	} {
		h, err := ParseHost(row.host)
		if err != nil {
			t.Errorf("%s: %v", row.host, err)
			continue
		}
		for want, list := range map[bool]string{true: row.yes, false: row.no} {
			for s := range strings.FieldsSeq(list) {
				if to, err := parseTarget(s, 0); err != nil || h.matches(to) != want {
					t.Errorf("%s reaches %s: want %v (%v)", row.host, s, want, err)
				}
			}
		}
	}
	for _, s := range []string{"", "*", "*.", "*.com", "*.127.0.0.1", "a.*.com", "*a.example.com", "example.com:",
		"example.com:0", "example.com:08", "example.com:65536", "example.com:x", "http://example.com", "example.com/path",
		"user@example.com", "exa mple.com",
		"example..com", "bücher.example", "example.com\x00", "2130706433", "0x7f.1", "1.2.3", "010.0.0.1", "fe80::1%lo",
		strings.Repeat("a", 64) + ".com", strings.Repeat("a.", 127) + "com"} {
		if h, err := ParseHost(s); err == nil {
			t.Errorf("%q is read as %+v", s, h)
		}
	}
}

// TestAddresses: only the internet's are reached by a name.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "127.9.9.9": false, "0.0.0.0": false, "0.1.2.3": false, "10.1.1.1": false, "172.16.0.1": false, "192.168.0.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "100.127.255.255": false, "192.0.0.1": false, "198.18.0.1": false, "224.0.0.1": false,
		"240.0.0.1": false, "255.255.255.255": false, "::": false, "::1": false, "fe80::1": false, "fc00::1": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false, "64:ff9b::1": false, "64:ff9b:1::1": false, "2001::1": false,
		"2002:7f00:1::": false, "fec0::1": false, "100::1": false, "2001:db8::1": false, "5f00::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(s)); got != want {
			t.Errorf("%s is public: %v", s, got)
		}
	}
	if !isOwn(netip.MustParseAddr("127.0.0.1")) {
		t.Error("the machine does not know its loopback")
	}
}

// TestSOCKS: the same hosts, by SOCKS 5.
func TestSOCKS(t *testing.T) {
	t.Parallel()
	named := func(name string, port byte) string {
		return "\x05\x01\x00\x05\x01\x00\x03" + string(rune(len(name))) + name + "\x00" + string(rune(port))
	}
	for _, row := range []struct {
		send  string
		reply string // the last bytes: version and reply
		told  string
	}{
		{named("good.example", 80), "\x05\x00", ""},
		{named("good.example.", 80), "\x05\x00", ""},
		{named("other.example", 80), "\x05\x02", "other.example:80"},
		{named("good.example", 22), "\x05\x02", "good.example:22"},
		{named("good.example\x00.other.example", 80), "\x05\x02", "not the name of a host"},
		{named("other.example\x00good.example", 80), "\x05\x02", "not the name of a host"},
		{named("good.example\r\n", 80), "\x05\x02", "not the name of a host"},
		{named("", 80), "\x05\x02", "not the name of a host"},
		{named("127.0.0.1", 80), "\x05\x02", "127.0.0.1:80"},
		{named("0x7f.1", 80), "\x05\x02", "unusual form"},
		{"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", "\x05\x02", "127.0.0.1:80"},
		{"\x05\x01\x00\x05\x01\x00\x04" + strings.Repeat("\x00", 10) + "\xff\xff\x7f\x00\x00\x01\x00\x50", "\x05\x02", "127.0.0.1:80"},
		{"\x05\x01\x00\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50", "\x05\x07", ""},
		{"\x05\x01\x00\x05\x01\x00\x09", "\x05\x08", ""},
		{"\x05\x01\x02", "\x05\xff", ""},
	} {
		n := newInternet(t)
		p, addr := start(t, n, []string{"good.example"})
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, row.send)
		if row.reply != "\x05\xff" {
			_, err = io.ReadFull(conn, make([]byte, 2))
		}
		got := make([]byte, 2)
		if _, err2 := io.ReadFull(conn, got); err != nil || err2 != nil || string(got) != row.reply {
			t.Errorf("%q: %v %v %q", row.send, err, err2, got)
		}
		_ = conn.Close()
		if told := fmt.Sprint(p.Close()); row.told == "" && told != "[]" || !strings.Contains(told, row.told) {
			t.Errorf("%q: told %s", row.send, told)
		}
	}
}

// FuzzTarget: a target that is read has one form, which reads as itself and is a name, or an address.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{"example.com:443", "[::1]:80", "::1", "127.1:80", "a..b", "EXAMPLE.com.", "[fe80::1%25lo]:1", "0x7f.0x1",
		"é:1", "a:b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		to, err := parseTarget(s, httpPort)
		if err != nil {
			return
		}
		again, err := parseTarget(to.String(), 1)
		if err != nil || again != to {
			t.Fatalf("%q is %+v, and again %+v (%v)", s, to, again, err)
		}
		if _, err := netip.ParseAddr(to.name); (err == nil) != to.addr.IsValid() ||
			strings.ContainsFunc(to.name, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Fatalf("%q is %+v", s, to)
		}
	})
}

// FuzzHello: the first message of TLS is passed on as it came, and what is read twice says the same.
func FuzzHello(f *testing.F) {
	f.Add(greetingOf(f, "good.example"))
	f.Add(greetingOf(f, ""))
	f.Add(hidden(f, "good.example"))
	f.Add([]byte("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03"))
	f.Fuzz(func(t *testing.T, in []byte) {
		h, raw, err := readHello(bytes.NewReader(in))
		if err != nil {
			return
		}
		if !bytes.HasPrefix(in, raw) {
			t.Fatalf("%d bytes of %d are not the beginning", len(raw), len(in))
		}
		again, same, err := readHello(bytes.NewReader(raw))
		if err != nil || again != h || !bytes.Equal(raw, same) {
			t.Fatalf("%+v, and again %+v (%v)", h, again, err)
		}
	})
}

// FuzzSOCKS: a request is read without a fault, and never beyond its end.
func FuzzSOCKS(f *testing.F) {
	f.Add([]byte("\x05\x01\x00\x03\x0cgood.example\x00\x50rest"))
	f.Add([]byte("\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		host, _, reply, err := socksRequest(bufio.NewReaderSize(r, 16))
		if err == nil && reply == socksDone && len(host) > 255 {
			t.Fatalf("%q", host)
		}
	})
}
