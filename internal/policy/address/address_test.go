package address_test

import (
	"strings"
	"testing"

	"mycelium/internal/policy/address"
)

func TestRead(t *testing.T) {
	for s, want := range map[string]address.Address{
		"http://localhost:3000/x":       {"http", "localhost", "3000", true},
		"HTTPS://u:p@Evil.Example.:443": {"https", "evil.example", "443", true},
		"localhost:3000":                {"", "localhost", "3000", true},
		"www.x.com":                     {"", "www.x.com", "", true},
		"git@github.com:a/b.git":        {"", "github.com", "a", true},
		"http://2130706433/":            {"http", "127.0.0.1", "", true},
		"http://0x7f.1:08420/":          {"http", "127.0.0.1", "8420", true},
		"http://127.1":                  {"http", "127.0.0.1", "", true},
		"http://0177.0.0.1/":            {"http", "127.0.0.1", "", false},
		"http://[::1]:80/":              {"http", "::1", "80", true},
		"http://[fe80::1%25eth0]/":      {"http", "fe80::1", "", true},
		"http://[::ffff:127.0.0.1]/":    {"http", "127.0.0.1", "", true},
		"::1":                           {"", "::1", "", true},
		"8080":                          {"", "8080", "", true},
	} {
		if got := address.Read(s); got != want {
			t.Errorf("%s: %+v, want %+v", s, got, want)
		}
	}
	for _, s := range []string{`http://localhost\@evil.example/`, "http://localhost#@evil.example", "http://localhost?@evil.example/",
		"http://a@b@evil.example/", "http:/evil.example", "http:///evil.example", "http://", "http://local%68ost/", "http://bücher.example/",
		"http://localhost../", "http://127.0.0.1./", "http://{a,b}/", "http://evil[1-2].example/", "http://256.1.1.1/", "http://[::1",
		"http://a:b/", "http://local host/", "localhost:x@evil.example", "http://[127.0.0.1]/"} {
		if a := address.Read(s); a.Clear {
			t.Errorf("%s is clear: %+v", s, a)
		}
	}
}

// FuzzRead: a clear host has no character with which programs begin or end a host.
func FuzzRead(f *testing.F) {
	for _, s := range generated(500) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := address.Read(s)
		if a.Clear && strings.Trim(a.Host, "abcdefghijklmnopqrstuvwxyz0123456789_.:-") != "" {
			t.Errorf("%q: %+v", s, a)
		}
		again := address.Read("http://" + a.Host + "/")
		if a.Clear && a.Host != "" && !strings.Contains(a.Host, ":") && a.Scheme != "" && again.Host != a.Host {
			t.Errorf("%q: %+v, again %+v", s, a, again)
		}
	})
}
