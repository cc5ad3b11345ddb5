// Package device keeps the browsers in which a person is signed in to the pages, and the links with which they sign in.
//
// Of a link the digest is kept, and of a browser the public key with which its requests are checked, in a file of the user's state: an
// agent that reads the file learns nothing that opens a page.
package device

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/atomicfile"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/signature"
)

// The times of links and devices.
const (
	LinkLife   = time.Minute
	Life       = 90 * 24 * time.Hour // after it a device signs in again
	seenEvery  = time.Hour           // how exactly it is kept when a device was seen
	lockWait   = 5 * time.Second     // for another process that changes the file, which takes milliseconds
	maxDevices = 64
	maxName    = 60 // characters
)

// Device is a browser, or a program, with which a person is signed in.
type Device struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`             // what the browser says of itself, for people
	Key     []byte    `json:"key,omitempty"`    // its public key: PKIX, DER
	Digest  string    `json:"digest,omitempty"` // of a cookie, in files of before there were keys: it signs nobody in
	Created time.Time `json:"created"`
	Seen    time.Time `json:"seen"` // last use, exact to an hour
	Expires time.Time `json:"expires"`

	Push     *Push     `json:"push,omitempty"` // nil: it gets no notifications
	Passkeys []Passkey `json:"passkeys,omitempty"`
}

// link is a link that was printed and has not been used. It is good for the server at Addr only.
type link struct {
	Digest string    `json:"digest"`
	Addr   string    `json:"addr"`
	Until  time.Time `json:"until"`
}

// kept is the content of the file.
type kept struct {
	Host    string   `json:"host,omitempty"` // the name of the pages on this machine, see [Book.Host]
	Links   []link   `json:"links,omitempty"`
	Devices []Device `json:"devices"`
	Demand  bool     `json:"demand,omitzero"` // a critical answer needs a passkey
}

// Book is the file of a user's devices. Its methods may be used by several processes at once.
type Book struct {
	dir string
	now func() time.Time

	mu   sync.Mutex // guards what follows
	last kept       // what the file said when it was as at says; nobody changes it
	at   fs.FileInfo
}

// Open returns the book of a user. It creates nothing. now is the clock; nil: time.Now.
func Open(root state.Root, now func() time.Time) *Book {
	if now == nil {
		now = time.Now
	}
	return &Book{dir: root.Pages(), now: now}
}

// The errors of [Book.SignIn], [Book.Find] and [Book.Revoke].
var (
	ErrLink    = errors.New("this link is not good any more: a link is good once, and for one minute")
	ErrOut     = errors.New("this browser is not signed in")
	ErrUnknown = errors.New("no device has this id")
)

func (b *Book) file() string { return filepath.Join(b.dir, "devices.json") }

func (b *Book) read() (k kept, err error) {
	data, err := os.ReadFile(b.file())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return k, nil
	case err == nil:
		err = json.Unmarshal(data, &k, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return kept{}, text.Hinted(fmt.Errorf("read the devices of the pages: %s: %w", b.file(), err),
			"remove the file: then every browser signs in again")
	}
	k.Devices = slices.DeleteFunc(k.Devices, func(d Device) bool { return len(d.Key) == 0 })
	return k, nil
}

// look is read for who changes nothing: it reads the file only if it is another one than last time. Each change replaces the file.
func (b *Book) look() (kept, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, err := os.Stat(b.file())
	if err == nil && b.at != nil && os.SameFile(at, b.at) && at.ModTime().Equal(b.at.ModTime()) && at.Size() == b.at.Size() {
		return b.last, nil
	}
	k, readErr := b.read()
	b.last, b.at = k, nil
	if err == nil && readErr == nil {
		b.at = at // it was looked at before it was read: a file that came between is read the next time
	}
	return k, readErr
}

// change lets f change the file, and drops what has expired.
func (b *Book) change(f func(k *kept) error) error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the pages: %w", err)
	}
	lock, err := atomicfile.LockWait(filepath.Join(b.dir, "devices.lock"), lockWait)
	if err != nil {
		return fmt.Errorf("change the devices of the pages: %w", err)
	}
	k, err := b.read()
	if err == nil {
		now := b.now()
		k.Links = slices.DeleteFunc(k.Links, func(l link) bool { return !now.Before(l.Until) })
		k.Devices = slices.DeleteFunc(k.Devices, func(d Device) bool { return !now.Before(d.Expires) })
		err = f(&k)
	}
	var data []byte
	if err == nil {
		data, err = json.Marshal(k, jsontext.WithIndent("  "))
	}
	if err == nil {
		err = atomicfile.Write(b.file(), append(data, '\n'), 0o600)
	}
	return errors.Join(err, lock.Unlock())
}

// NewLink returns the secret of a link for the server at addr: 26 capitals and digits.
func (b *Book) NewLink(addr string) (secret string, err error) {
	secret = rand.Text()
	return secret, b.change(func(k *kept) error {
		k.Links = append(k.Links, link{Digest: digestOf(secret), Addr: addr, Until: b.now().Add(LinkLife).UTC()})
		return nil
	})
}

// SignIn uses up a link of the server at addr, and returns the new device, whose requests are signed with the private half of key (PKIX,
// DER). name is what the browser says of itself. The error is ErrLink if the link is not good.
func (b *Book) SignIn(addr, secret, name string, key []byte) (d Device, err error) {
	err = b.change(func(k *kept) error {
		at := slices.IndexFunc(k.Links, func(l link) bool { return l.Addr == addr && same(l.Digest, secret) })
		if at < 0 {
			return ErrLink
		}
		d, err = b.add(k, name, key)
		if err == nil {
			k.Links = slices.Delete(k.Links, at, at+1)
		}
		return err
	})
	return d, err
}

// Add adds a device without a link, for a program of the person.
func (b *Book) Add(name string, key []byte) (d Device, err error) {
	err = b.change(func(k *kept) error {
		d, err = b.add(k, name, key)
		return err
	})
	return d, err
}

func (b *Book) add(k *kept, name string, key []byte) (Device, error) {
	if _, err := signature.Public(key); err != nil {
		return Device{}, err
	}
	if slices.ContainsFunc(k.Devices, func(d Device) bool { return bytes.Equal(d.Key, key) }) {
		return Device{}, errors.New("this key is that of another device")
	}
	if len(k.Devices) >= maxDevices {
		return Device{}, text.Hinted(fmt.Errorf("%d devices are signed in, and no more may be", maxDevices), "myc web devices revoke ID makes room")
	}
	now := b.now().UTC()
	d := Device{ID: newID(), Name: text.TruncateRunes(text.OneLine(name), maxName), Key: key, Created: now, Seen: now, Expires: now.Add(Life)}
	k.Devices = append(k.Devices, d)
	return d, nil
}

// Find returns the device with an id. The file is looked at each time, so that a device is out as soon as it is revoked. The error is
// ErrOut if there is none.
func (b *Book) Find(id string) (Device, error) {
	k, err := b.look()
	if err != nil {
		return Device{}, err
	}
	at := slices.IndexFunc(k.Devices, func(d Device) bool { return d.ID == id })
	if at < 0 || !b.now().Before(k.Devices[at].Expires) {
		return Device{}, ErrOut
	}
	return k.Devices[at], nil
}

// Saw keeps that a device was used now.
func (b *Book) Saw(d Device) error {
	now := b.now()
	if now.Sub(d.Seen) < seenEvery {
		return nil
	}
	return b.change(func(k *kept) error {
		for i := range k.Devices {
			if k.Devices[i].ID == d.ID {
				k.Devices[i].Seen = now.UTC()
			}
		}
		return nil
	})
}

// Host returns the name under which browsers of this machine reach the pages, "myc-k3m9x2abcd.localhost". It is the same as long as the
// file is there. It cannot be guessed, so a page of another program cannot lead a browser to it.
func (b *Book) Host() (string, error) {
	k, err := b.read()
	if err != nil || k.Host != "" {
		return k.Host, err
	}
	name := ""
	err = b.change(func(k *kept) error {
		if k.Host == "" {
			k.Host = "myc-" + strings.ToLower(rand.Text()[:10]) + ".localhost"
		}
		name = k.Host
		return nil
	})
	return name, err
}

// List returns the devices that are signed in, the oldest first.
func (b *Book) List() ([]Device, error) {
	k, err := b.read()
	now := b.now()
	return slices.DeleteFunc(k.Devices, func(d Device) bool { return !now.Before(d.Expires) }), err
}

// Revoke signs a device out. The error is ErrUnknown if there is none with this id.
func (b *Book) Revoke(id string) error {
	return b.change(func(k *kept) error {
		before := len(k.Devices)
		k.Devices = slices.DeleteFunc(k.Devices, func(d Device) bool { return d.ID == id })
		if len(k.Devices) == before {
			return ErrUnknown
		}
		return nil
	})
}

// newID returns a short id, for people: it names a device in records, and opens nothing.
func newID() string { return "d-" + strings.ToLower(rand.Text()[:8]) }

func digestOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func same(digest, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(digest), []byte(digestOf(secret))) == 1
}
