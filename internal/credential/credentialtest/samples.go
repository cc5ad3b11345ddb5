// Package credentialtest has a sample of every form of a secret, for tests that put each one through a surface.
package credentialtest

import (
	"cmp"

	"mycelium/internal/credential"
)

// Sample is a text with a secret of one form.
type Sample struct {
	Form, What string
	Text       string // the secret, with text around it if the form needs that
	Secret     string // the part of Text that must not be shown
	Other      string // a text that is nearly of the form
}

// Samples returns one sample of each form.
func Samples() []Sample {
	var out []Sample
	for _, f := range credential.Forms {
		out = append(out, Sample{f.Name, f.What, f.Example, cmp.Or(f.Hidden, f.Example), f.Other})
	}
	return out
}
