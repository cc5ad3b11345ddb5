package device

import (
	"net/netip"
	"sync"
	"time"
)

// bound says how many sign-ins may fail within a time before no other is tried until that time has passed.
type bound struct {
	failures int
	within   time.Duration
}

// The first bound of each slows a program that guesses, the second locks it out. A link has 130 random bits, so they are not what keeps it
// from being guessed. The bounds of all callers together are wider, so that one of them cannot lock out the others so easily.
var (
	ofOne = [...]bound{{5, time.Minute}, {20, 15 * time.Minute}}
	ofAll = [...]bound{{25, time.Minute}, {100, 15 * time.Minute}}
)

// maxPeers bounds how many callers are told apart. The one that has failed the longest ago is forgotten first.
const maxPeers = 1024

// Attempts counts the sign-ins that failed, by caller and together.
type Attempts struct {
	mu    sync.Mutex
	peers map[netip.Prefix][]time.Time // the oldest first
	all   []time.Time
}

// peerOf is the network of one caller: a machine has all addresses of a /64 of IPv6.
func peerOf(ip netip.Addr) netip.Prefix {
	ip = ip.Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits)
	return p
}

// Wait returns how long no sign-in of this caller is tried; 0: one may be.
func (a *Attempts) Wait(peer netip.Addr, now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(wait(a.peers[peerOf(peer)], ofOne[:], now), wait(a.all, ofAll[:], now))
}

func wait(failed []time.Time, bounds []bound, now time.Time) (left time.Duration) {
	for _, b := range bounds {
		if n := len(failed); n >= b.failures {
			left = max(left, failed[n-b.failures].Add(b.within).Sub(now))
		}
	}
	return left
}

// Fail counts a sign-in that failed.
func (a *Attempts) Fail(peer netip.Addr, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.peers == nil {
		a.peers = map[netip.Prefix][]time.Time{}
	}
	p := peerOf(peer)
	if _, known := a.peers[p]; !known && len(a.peers) >= maxPeers {
		a.forget()
	}
	a.peers[p] = last(append(a.peers[p], now), ofOne[len(ofOne)-1].failures)
	a.all = last(append(a.all, now), ofAll[len(ofAll)-1].failures)
}

// forget drops the caller that has failed the longest ago. The lock is held.
func (a *Attempts) forget() {
	var oldest netip.Prefix
	var at time.Time
	for p, failed := range a.peers {
		if t := failed[len(failed)-1]; at.IsZero() || t.Before(at) {
			oldest, at = p, t
		}
	}
	delete(a.peers, oldest)
}

// last returns the last n of a list.
func last(list []time.Time, n int) []time.Time { return list[max(0, len(list)-n):] }
