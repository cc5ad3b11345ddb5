package device

import (
	"slices"
	"time"
)

// MaxPasskeys bounds the passkeys of one device.
const MaxPasskeys = 8

// Push is where the notifications of a device are sent, and the keys with which they are encrypted for it (RFC 8291).
type Push struct {
	Endpoint string    `json:"endpoint"` // an address of a push service: whoever knows it and our key can send to the device
	P256dh   string    `json:"p256dh"`   // the public key of the browser, base64url
	Auth     string    `json:"auth"`     // the secret that it shares with us, base64url
	Created  time.Time `json:"created"`
}

// Passkey is a key that was made on a device, and with which a person proves that they are there.
type Passkey struct {
	ID      string    `json:"id"`     // the id of the credential, base64url
	Host    string    `json:"host"`   // the name of the pages (its relying party)
	Origin  string    `json:"origin"` // the address of the pages at which it is good, with scheme and port
	Key     []byte    `json:"key"`    // its public key: PKIX, DER
	Counter uint32    `json:"counter,omitzero"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used,omitzero"`
}

// Shown is a device without what opens something: for people.
func (d Device) Shown() Device {
	d.Key, d.Digest = nil, ""
	if d.Push != nil {
		d.Push = &Push{Created: d.Push.Created}
	}
	return d
}

// Demanded reports whether the user demands a passkey for critical answers. It ends when the last device that has one is signed out.
func (b *Book) Demanded() (bool, error) {
	list, err := b.List()
	if err != nil {
		return false, err
	}
	k, err := b.read()
	return k.Demand && slices.ContainsFunc(list, func(d Device) bool { return len(d.Passkeys) > 0 }), err
}

// Demand says whether the user demands a passkey for critical answers.
func (b *Book) Demand(on bool) error {
	return b.change(func(k *kept) error {
		k.Demand = on
		return nil
	})
}

// Keep lets f change what is kept with a device. The error is ErrUnknown if there is none with this id.
func (b *Book) Keep(id string, f func(d *Device) error) error {
	return b.change(func(k *kept) error {
		at := slices.IndexFunc(k.Devices, func(d Device) bool { return d.ID == id })
		if at < 0 {
			return ErrUnknown
		}
		return f(&k.Devices[at])
	})
}
