package device

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"mycelium/internal/state"
	"mycelium/internal/web/signature"
)

// TestWhoSeesEveryChange: what another process changes in the file counts at once, whatever was read before.
func TestWhoSeesEveryChange(t *testing.T) {
	t.Parallel()
	root := state.Root(t.TempDir())
	server, command := Open(root, nil), Open(root, nil)
	for range 20 {
		link, err := command.NewLink("a:1")
		if err != nil {
			t.Fatal(err)
		}
		_, key, err := signature.NewPrivate()
		if err != nil {
			t.Fatal(err)
		}
		d, err := server.SignIn("a:1", link, "x", key)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if who, err := server.Find(d.ID); err != nil || who.ID != d.ID {
				t.Fatalf("signed in: %v %v", who, err)
			}
		}
		if err := command.Revoke(d.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := server.Find(d.ID); !errors.Is(err, ErrOut) {
			t.Fatalf("revoked by another process: %v", err)
		}
	}
}

// TestAttempts: a caller that fails is locked out by itself, a network of IPv6 together, and all callers together later; the memory of
// them is bounded.
func TestAttempts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	peer := netip.MustParseAddr
	var a Attempts
	for range 5 {
		a.Fail(peer("2001:db8::1"), now)
	}
	for ip, want := range map[string]time.Duration{"2001:db8::1": time.Minute, "2001:db8::2:3": time.Minute, "2001:db8:0:1::1": 0,
		"192.0.2.1": 0, "::1": 0} {
		if got := a.Wait(peer(ip), now); got != want {
			t.Errorf("%s waits %v, want %v", ip, got, want)
		}
	}
	if got := a.Wait(peer("2001:db8::1"), now.Add(time.Minute)); got != 0 {
		t.Errorf("after its minute it waits %v", got)
	}
	for range 15 {
		a.Fail(peer("2001:db8::1"), now.Add(time.Minute))
	}
	if got := a.Wait(peer("2001:db8::1"), now.Add(2*time.Minute)); got != 13*time.Minute {
		t.Errorf("after twenty failures in a minute it waits %v", got)
	}
	var many Attempts
	for i := range 25 {
		many.Fail(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), now)
	}
	if got := many.Wait(peer("192.0.2.1"), now); got != time.Minute {
		t.Errorf("after 25 failures of others one waits %v", got)
	}
	for i := range 3 * maxPeers {
		many.Fail(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 1}), now.Add(time.Duration(i)))
	}
	if len(many.peers) > maxPeers || len(many.all) > 100 {
		t.Errorf("it remembers %d callers and %d failures", len(many.peers), len(many.all))
	}
	if _, kept := many.peers[peerOf(netip.AddrFrom4([4]byte{10, byte((3*maxPeers - 1) >> 8), byte(255), 1}))]; !kept {
		t.Error("the last that failed is forgotten")
	}
}
