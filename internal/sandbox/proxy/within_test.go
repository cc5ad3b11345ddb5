package proxy

import (
	"net/netip"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestWithin: a host lies within another one exactly if each request that it allows is allowed by the other.
func TestWithin(t *testing.T) {
	names := []string{"example.com", "a.example.com", "b.a.example.com", "example.org", "192.0.2.1", "2001:db8::1"}
	host := rapid.Custom(func(t *rapid.T) string {
		name := rapid.SampledFrom([]string{"example.com", "a.example.com", "*.example.com", "*.a.example.com", "*.example.org", "192.0.2.1",
			"[2001:db8::1]"}).Draw(t, "name")
		return name + rapid.SampledFrom([]string{"", ":80", ":443", ":8443"}).Draw(t, "port")
	})
	rapid.Check(t, func(t *rapid.T) {
		one, other := host.Draw(t, "one"), host.Draw(t, "other")
		a, errA := ParseHost(one)
		b, errB := ParseHost(other)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		want := true
		for _, name := range append(names, "x.example.org") {
			for _, port := range []uint16{80, 443, 8443} {
				to := target{name: name, port: port}
				if addr, err := netip.ParseAddr(name); err == nil {
					to.addr = addr
				}
				want = want && (!a.matches(to) || b.matches(to))
			}
		}
		if got := len(Within([]string{one}, []string{other})) == 1; got != want {
			t.Fatalf("%s within %s: %t, want %t", one, other, got, want)
		}
	})
	for i, bad := range []string{"http://a.example", "", "*.com", "a:b"} {
		if got := Within([]string{bad}, []string{bad}); got != nil {
			t.Errorf("%s: %q lies within itself: %v", strconv.Itoa(i), bad, got)
		}
	}
}

// TestConceal: no value of a mask is in the environment, under whatever name.
func TestConceal(t *testing.T) {
	p, err := New(nil, []Mask{{Name: "TOKEN", Value: "the-secret-value", Hosts: []string{"a.example"}}}, Registries{}, Outside{}, "")
	if err != nil {
		t.Fatal(err)
	}
	got := p.Conceal([]string{"TOKEN=the-secret-value", "AUTH=Bearer the-secret-value", "PLAIN=x=y"})
	if len(got) != 2 || got[0] != "AUTH=Bearer "+p.masks[0].placeholder || got[1] != "PLAIN=x=y" {
		t.Errorf("the environment is %q", got)
	}
}
