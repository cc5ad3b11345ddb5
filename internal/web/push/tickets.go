package push

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"sync"
	"time"
)

// ticket is the right to answer one request, as it was shown, from one device. A notification carries its secret; only the digest of the
// secret is kept, in memory. A server that begins anew sends its notifications anew, in place of those before.
type ticket struct {
	project, id, digest string
	device              string
	until               time.Time
}

// key names the request.
func (t ticket) key() string { return t.project + "/" + t.id }

// tickets are those that can still be used, by the digests of their secrets. The zero value with a clock is ready.
type tickets struct {
	now func() time.Time

	mu   sync.Mutex
	open map[string]ticket
}

// issue returns the secret of a new ticket. The one that the device had for this request is void.
func (l *tickets) issue(t ticket) (secret string) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails: crypto/rand ends the program instead
	secret = base64.RawURLEncoding.EncodeToString(b[:])
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[string]ticket{}
	}
	l.drop(func(old ticket) bool {
		return old.device == t.device && old.key() == t.key() || !l.now().Before(old.until)
	})
	l.open[digestOf(secret)] = t
	return secret
}

// use uses a ticket up. ok is false if there is none with this secret, if it is another device's, or if its time is over.
func (l *tickets) use(secret, device string) (t ticket, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	digest := digestOf(secret)
	t, ok = l.open[digest]
	if !ok || t.device != device {
		return ticket{}, false
	}
	delete(l.open, digest)
	return t, l.now().Before(t.until)
}

// settle voids the tickets of a request.
func (l *tickets) settle(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(func(t ticket) bool { return t.key() == key })
}

// dropDevice voids the tickets of a device.
func (l *tickets) dropDevice(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(func(t ticket) bool { return t.device == id })
}

// drop voids tickets. The lock is held.
func (l *tickets) drop(which func(ticket) bool) {
	maps.DeleteFunc(l.open, func(_ string, t ticket) bool { return which(t) })
}

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
