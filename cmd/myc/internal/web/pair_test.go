package web

import (
	"strings"
	"testing"

	"rsc.io/qr"
)

// TestHalfBlocks: what is drawn has each module of the picture at its place, and a quiet border of four around it. The longest usual link
// fits 80 columns and 23 lines.
func TestHalfBlocks(t *testing.T) {
	t.Parallel()
	link := "HTTPS://192.168.178.123:34567/P/" + strings.Repeat("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1) + "/" + strings.Repeat("0123456789ABCDEF", 4)
	picture, err := qr.Encode(link, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(halfBlocks(picture.Black, picture.Size), "\n"), "\n")
	if wide := picture.Size + 2*quiet; wide > 80 || len(lines) > 23 || len(lines) != (wide+1)/2 {
		t.Errorf("%d lines for %d modules", len(lines), picture.Size)
	}
	for i, line := range lines {
		line = strings.TrimSuffix(strings.TrimPrefix(line, "\x1b[38;2;0;0;0;48;2;255;255;255m"), "\x1b[0m")
		for j, r := range []rune(line) {
			x, y := j-quiet, 2*i-quiet
			if top, low := r == '▀' || r == '█', r == '▄' || r == '█'; top != picture.Black(x, y) || low != picture.Black(x, y+1) {
				t.Fatalf("%d,%d is drawn as %q", x, y, r)
			}
		}
	}
}

// TestColons: a fingerprint stands as browsers show it, in two lines.
func TestColons(t *testing.T) {
	t.Parallel()
	if got := colons("0123ABCD"); got != "01:23:\nAB:CD" {
		t.Errorf("%q", got)
	}
}
