package address_test

import (
	"testing"

	"mycelium/internal/policy/address"
)

// TestOwn: only the whole address of a server of this machine is one.
func TestOwn(t *testing.T) {
	for _, s := range []string{
		"http://localhost:3000", "https://127.0.0.1/", "ws://localhost:8080/ws?x=1", "postgres://localhost:5432/app", "http://LOCALHOST:3000/a",
	} {
		if _, ok := address.Own(s); !ok {
			t.Errorf("%s is a server of this machine", s)
		}
	}
	for _, s := range []string{
		"localhost:3000", "http://localhost.evil.example", "http://localhost:3000@evil.example/", `http://localhost:3000\@evil.example`,
		"http://localhost:3000,https://evil.example", "http://localhost/?u=https://evil.example", "file://localhost/etc/x", "http://10.0.0.1/",
		"http:/localhost", "http://evil.example", "http://localhost:3000/ http://evil.example", "ssh://localhost/x", "http://a:b@localhost/",
	} {
		if host, ok := address.Own(s); ok {
			t.Errorf("%s is taken for %s", s, host)
		}
	}
	for s, want := range map[string]bool{
		"http://localhost:3000/": true, "http://localhost:3000": false, "http://localhost": false, "localhost:3000/": false, "http://a@b/": false,
		"https://evil.example/x": true, "http:///": false,
	} {
		if got := address.NamesHost(s); got != want {
			t.Errorf("%s names its host: %v", s, got)
		}
	}
}
