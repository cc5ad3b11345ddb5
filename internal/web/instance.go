package web

import (
	"strings"

	"mycelium/internal/state"
	"mycelium/internal/web/device"
	"mycelium/internal/web/served"
)

// ErrRuns means that another page server of this user runs.
var ErrRuns = served.ErrRuns

// Link returns an address that signs one browser of this machine in to the page server at addr. It is good once, and for one minute.
func Link(root state.Root, addr string) (string, error) {
	secret, err := device.Open(root, nil).NewLink(addr)
	if err != nil {
		return "", err
	}
	base := "http://" + addr
	if n, runs, err := served.Look(root); err == nil && runs && n.Addr == addr {
		base = n.Base
	}
	return base + "/sign-in#link=" + secret, nil
}

// PairLink returns an address that signs one browser of another machine in. It is good once, and for one minute. It has only characters for
// which the picture of a QR code is small, and ends with the fingerprint of our certificate.
func PairLink(root state.Root, n served.Note) (string, error) {
	secret, err := device.Open(root, nil).NewLink(n.Addr)
	if err != nil {
		return "", err
	}
	link := strings.ToUpper(n.Phone) + "/P/" + secret
	if n.Fingerprint != "" {
		link += "/" + n.Fingerprint
	}
	return link, nil
}
