package proxy

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Mask is a secret that a command uses and never has: in its environment there is a placeholder, and the proxy puts the value in its place,
// in the headers of requests over TLS to the hosts of the mask. To every other host the placeholder leaves as it is.
type Mask struct {
	Name  string   // of the variable in the command's environment
	Value string   // the secret
	Hosts []string // as [ParseHost] reads them
}

type mask struct {
	name, value, placeholder string
	hosts                    []Host
}

// leastValue is the least length of a value in bytes: a shorter one occurs in answers by chance, and would be replaced there.
const leastValue = 8

// addMasks makes the placeholders.
func (p *Proxy) addMasks(masks []Mask) error {
	for _, m := range masks {
		one := mask{name: m.Name, value: strings.TrimSpace(m.Value)}
		switch {
		case m.Name == "" || strings.ContainsAny(m.Name, "=\x00"):
			return fmt.Errorf("%q cannot name a variable", m.Name)
		case len(m.Hosts) == 0:
			return fmt.Errorf("the mask of %s names no host", m.Name)
		case len(one.value) < leastValue:
			return fmt.Errorf("the value of %s is too short to be masked: it needs %d bytes at least", m.Name, leastValue)
		case strings.ContainsFunc(one.value, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return fmt.Errorf("the value of %s has characters that no header can have", m.Name)
		}
		for _, s := range m.Hosts {
			h, err := ParseHost(s)
			if err != nil {
				return fmt.Errorf("the mask of %s: %w", m.Name, err)
			}
			one.hosts = append(one.hosts, h)
			p.hosts = append(p.hosts, h)
		}
		one.placeholder = placeholder(len(one.value))
		p.masks = append(p.masks, one)
	}
	return nil
}

// Conceal returns an environment in which the placeholders stand for the values of masks, under whatever name a value is there. The
// variables that [Proxy.Environ] sets are left out.
func (p *Proxy) Conceal(environ []string) []string {
	var out []string
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if slices.ContainsFunc(p.masks, func(m mask) bool { return m.name == name }) {
			continue
		}
		for _, m := range p.masks {
			value = strings.ReplaceAll(value, m.value, m.placeholder)
		}
		out = append(out, name+"="+value)
	}
	return out
}

// placeholder makes a text that occurs nowhere else. It is as long as the value, so that answers keep their length.
func placeholder(length int) string {
	s := "masked"
	for len(s) < length {
		s += rand.Text()
	}
	if length < 16 { //nolint:mnd // of a short one all is needed to be random
		s = rand.Text()
	}
	return s[:length]
}

// masksFor returns the masks that count for a host. Without TLS there is no mask: the value would cross the network in the open.
func (p *Proxy) masksFor(t target, scheme string) []mask {
	var out []mask
	for _, m := range p.masks {
		if scheme == "https" && slices.ContainsFunc(m.hosts, func(h Host) bool { return h.matches(t) }) {
			out = append(out, m)
		}
	}
	return out
}

// unmask puts the values into the headers of a request, in plain and in the name and password of Basic.
func unmask(h http.Header, masks []mask) {
	if len(masks) == 0 {
		return
	}
	h.Set("Accept-Encoding", "identity") // in what is compressed no value is found
	for _, values := range h {
		for i, v := range values {
			values[i] = exchanged(v, masks)
		}
	}
}

// exchanged returns the value of a header with the secrets in it.
func exchanged(v string, masks []mask) string {
	const basic = "basic "
	if len(v) > len(basic) && strings.EqualFold(v[:len(basic)], basic) {
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(v[len(basic):])); err == nil {
			return v[:len(basic)] + base64.StdEncoding.EncodeToString([]byte(exchanged(string(plain), masks)))
		}
	}
	for _, m := range masks {
		v = strings.ReplaceAll(v, m.placeholder, m.value)
	}
	return v
}

// hide puts the placeholders in the place of values that an answer repeats, in its headers and its body. A value that the host changed
// before it repeated it (compressed, encoded, cut) is not found.
func hide(answer *http.Response, masks []mask) error {
	for _, m := range masks {
		for _, h := range []http.Header{answer.Header, answer.Trailer} {
			for _, values := range h {
				for i, v := range values {
					values[i] = strings.ReplaceAll(v, m.value, m.placeholder)
				}
			}
		}
		if answer.StatusCode != http.StatusSwitchingProtocols {
			answer.Body = &hiding{in: answer.Body, value: []byte(m.value), placeholder: []byte(m.placeholder)}
		}
	}
	return nil
}

// hiding is a body in which a value is replaced. It holds back only what may be the beginning of the value.
type hiding struct {
	in                 io.ReadCloser
	value, placeholder []byte
	held               []byte // read, and not yet given out
	ready              int    // how much of it may be given out
	err                error
}

// Read reads the body.
func (h *hiding) Read(to []byte) (int, error) {
	for h.ready == 0 && h.err == nil {
		buf := make([]byte, 32<<10)
		var n int
		n, h.err = h.in.Read(buf)
		h.held = bytes.ReplaceAll(append(h.held, buf[:n]...), h.value, h.placeholder)
		h.ready = len(h.held)
		if h.err == nil {
			h.ready -= begins(h.held, h.value)
		}
	}
	n := copy(to, h.held[:h.ready])
	h.held, h.ready = h.held[n:], h.ready-n
	if n == 0 && h.ready == 0 {
		return 0, h.err
	}
	return n, nil
}

// Close closes the body.
func (h *hiding) Close() error { return h.in.Close() }

// begins returns the length of the longest end of a text with which the value begins.
func begins(s, value []byte) int {
	for n := min(len(s), len(value)-1); n > 0; n-- {
		if bytes.HasPrefix(value, s[len(s)-n:]) {
			return n
		}
	}
	return 0
}
