// Icons draws the icons of the pages from the shapes of internal/web/site/assets/icon.svg:
//
//	go run ./scripts/icons internal/web/site/assets
//
// The files that it writes are committed. It is run again when the icon changes.
package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
)

// fine is how many points a side are looked at for each pixel: their mean makes edges smooth.
const fine = 4

var (
	hat    = color.NRGBA{0x2f, 0x6f, 0x4f, 0xff}
	stem   = color.NRGBA{0xc9, 0xb7, 0x9c, 0xff}
	ground = color.NRGBA{0xf7, 0xf7, 0xf4, 0xff}
)

// at is the colour of a point of the icon, whose sides are 32 long.
func at(x, y float64) color.NRGBA {
	switch {
	case x >= 13 && x <= 19 && y >= 16 && (y <= 26 || math.Hypot(x-16, y-26) <= 3):
		return stem
	case x >= 4 && x <= 28 && y <= 16 && math.Hypot(x-16, y-16) <= 12:
		return hat
	}
	return color.NRGBA{}
}

// draw draws the icon on a square of size pixels. A maskable one fills the square and keeps to the part that no mask cuts.
func draw(size int, maskable bool) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	scale, margin := 32/float64(size), 0.0
	if maskable {
		scale, margin = scale*1.5, 8
	}
	for py := range size {
		for px := range size {
			var r, g, b, a float64
			for i := range fine * fine {
				c := at((float64(px)+(float64(i%fine)+.5)/fine)*scale-margin, (float64(py)+(float64(i/fine)+.5)/fine)*scale-margin)
				if maskable && c.A == 0 {
					c = ground
				}
				if c.A > 0 {
					r, g, b, a = r+float64(c.R), g+float64(c.G), b+float64(c.B), a+1
				}
			}
			if a > 0 {
				img.SetNRGBA(px, py, color.NRGBA{uint8(r / a), uint8(g / a), uint8(b / a), uint8(a * 255 / (fine * fine))})
			}
		}
	}
	return img
}

func run(dir string) error {
	for name, img := range map[string]image.Image{"icon-192.png": draw(192, false), "icon-512.png": draw(512, false),
		"icon-maskable-512.png": draw(512, true)} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		enc := png.Encoder{CompressionLevel: png.BestCompression}
		if err := enc.Encode(f, img); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "icons FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
