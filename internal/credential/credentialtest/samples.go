// Package credentialtest has a sample of every form of a secret, for tests that put each one through a surface.
package credentialtest

import (
	"cmp"

	"mycelium/internal/credential"
)

// Sample is a text of one form.
type Sample struct {
	Form, What string
	Text       string // the secret, where its form needs it with what stands around it
	Secret     string // the part of Text that must not be shown
	Other      string // a text that is nearly of the form, and of none
}

// Samples are one for each form.
func Samples() []Sample {
	var out []Sample
	for _, f := range credential.Forms {
		out = append(out, Sample{f.Name, f.What, f.Example, cmp.Or(f.Hidden, f.Example), f.Other})
	}
	return out
}
