// Package credentialtest has a sample of every form of a secret, for tests that put each one through a surface.
package credentialtest

import (
	"cmp"
	"reflect"

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

// Fill sets every string in the value of a pointer to a text, and gives every list one element.
func Fill(pointer any, text string) { fill(reflect.ValueOf(pointer).Elem(), text) }

func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), text)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), text)
		}
	default: // numbers, times and pointers stay empty
	}
}
