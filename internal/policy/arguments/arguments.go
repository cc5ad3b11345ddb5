// Package arguments decodes the arguments of calls.
package arguments

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Number is a JSON number that neither int64, uint64 nor float64 holds exactly. A rule about such a number cannot be evaluated: a deny or
// ask rule denies, an allow rule does not match.
type Number string

// MaxDepth bounds the nesting of arguments. Real calls stay below ten.
const MaxDepth = 256

// Parse decodes the arguments of a call, a JSON object or nothing, strictly: duplicate keys are an error. Integers become int64, or
// uint64 where they are too large for that; other numbers become float64. A number that no such type holds exactly becomes a [Number].
func Parse(raw []byte) (map[string]any, error) {
	if t := bytes.TrimLeft(raw, " \t\r\n"); len(t) == 0 || string(bytes.TrimRight(t, " \t\r\n")) == "null" {
		return nil, nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw)) // a decoder reads the bytes of a Buffer in place
	v, err := readValue(dec)
	if err != nil {
		return nil, fmt.Errorf("read arguments: %w", err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read arguments: more data after the object")
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("read arguments: not an object")
	}
	return m, nil
}

func readValue(dec *jsontext.Decoder) (any, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '"':
		return tok.String(), nil
	case '0':
		return number(tok.String()), nil
	case 't', 'f':
		return tok.Bool(), nil
	case 'n':
		return nil, nil
	default: // a list or an object begins
	}
	if dec.StackDepth() > MaxDepth {
		return nil, fmt.Errorf("nested deeper than %d", MaxDepth)
	}
	if tok.Kind() == '[' {
		return readArray(dec)
	}
	return readObject(dec)
}

func readArray(dec *jsontext.Decoder) (any, error) {
	list := []any{}
	for dec.PeekKind() != ']' {
		v, err := readValue(dec)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.ReadToken()
	return list, err
}

func readObject(dec *jsontext.Decoder) (any, error) {
	m := map[string]any{}
	for dec.PeekKind() != '}' {
		key, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := key.String() // the token is only good until the next read
		v, err := readValue(dec)
		if err != nil {
			return nil, err
		}
		m[name] = v
	}
	_, err := dec.ReadToken()
	return m, err
}

// number picks the Go type of a JSON number.
func number(text string) any {
	if !strings.ContainsAny(text, ".eE") {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i
		}
		if u, err := strconv.ParseUint(text, 10, 64); err == nil {
			return u
		}
		return Number(text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || decimal(strconv.FormatFloat(f, 'e', -1, 64)) != decimal(text) {
		return Number(text)
	}
	return f
}

// decimalForm is a number as its sign, its digits without zeros at either end, and the exponent of its first digit.
type decimalForm struct {
	negative bool
	digits   string
	exponent int
}

// decimal returns the form of a JSON number. Equal numbers have equal forms.
func decimal(s string) decimalForm {
	var d decimalForm
	s, d.negative = strings.CutPrefix(s, "-")
	mantissa, exp, _ := strings.Cut(strings.ToLower(s), "e")
	d.exponent, _ = strconv.Atoi(exp) // out of range: saturates, and the digits of an overflowing float differ anyway
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.exponent += len(whole)
	digits := whole + fraction
	trimmed := strings.TrimLeft(digits, "0")
	d.exponent -= len(digits) - len(trimmed)
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimalForm{}
	}
	return d
}
