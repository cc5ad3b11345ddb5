package web

import (
	"errors"
	"fmt"
	"strings"

	"rsc.io/qr"

	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/web"
	"mycelium/internal/web/served"
)

// pair shows a link for a phone as a QR code.
func (a *app) pair(root state.Root, n served.Note) error {
	if n.Phone == "" {
		return failure.New(failure.Unavailable, fmt.Errorf("web: a phone cannot reach the pages at %s: they are for this machine only", n.Base),
			"let them listen beyond it, over TLS: web: {addr: \"0.0.0.0:3456\", cert: own} in ~/.config/mycelium/mycelium.yaml, and myc trust; "+
				"or, for now: myc web --addr 0.0.0.0:3456 --tls-cert own --pair")
	}
	link, err := web.PairLink(root, n)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]string{"url": link, "fingerprint": n.Fingerprint})
	}
	picture, err := qr.Encode(link, qr.L)
	if err != nil {
		return errors.New("web: the link is too long for a QR code")
	}
	fmt.Fprintf(a.Out, "Point the camera of your phone at this, once, within a minute: %s\n", n.Phone)
	if n.Fingerprint != "" {
		fmt.Fprintf(a.Out, "The certificate is ours, so the phone warns. Go on only if it shows this fingerprint (SHA-256):\n%s\n",
			colons(n.Fingerprint))
	}
	fmt.Fprint(a.Out, halfBlocks(picture.Black, picture.Size))
	return nil
}

// quiet is the white border that a reader of QR codes needs, in modules.
const quiet = 4

// halfBlocks draws a picture with two rows a line, black on white whatever the colours of the terminal are.
func halfBlocks(black func(x, y int) bool, size int) string {
	var b strings.Builder
	for y := -quiet; y < size+quiet; y += 2 {
		b.WriteString("\x1b[38;2;0;0;0;48;2;255;255;255m")
		for x := -quiet; x < size+quiet; x++ {
			b.WriteString([]string{" ", "▀", "▄", "█"}[bit(black(x, y))+2*bit(black(x, y+1))])
		}
		b.WriteString("\x1b[0m\n")
	}
	return b.String()
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// colons writes a fingerprint as browsers do.
func colons(hex string) string {
	var parts []string
	for i := 0; i+2 <= len(hex); i += 2 {
		parts = append(parts, hex[i:i+2])
	}
	half := len(parts) / 2
	return strings.Join(parts[:half], ":") + ":\n" + strings.Join(parts[half:], ":")
}
