package proxy

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

const secretValue = "the-real-value-of-the-token"

// placeholderOf is what a command has in its environment.
func placeholderOf(t *testing.T, p *Proxy, name string) string {
	t.Helper()
	for _, v := range p.Environ("x", "y") {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	t.Fatalf("%s is not in the environment", name)
	return ""
}

// TestMasks: the value goes to the hosts of the mask, in headers and over TLS, and nowhere else; what comes back has the placeholder.
func TestMasks(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	p, addr := start(t, n, []string{"other.example"}, Mask{Name: "TOKEN", Value: secretValue + "\n", Hosts: []string{"good.example"}})
	place := placeholderOf(t, p, "TOKEN")
	if strings.Contains(strings.Join(p.Environ("x", "y"), "\n"), secretValue) || len(place) != len(secretValue) {
		t.Errorf("the environment has %q", place)
	}
	seen := make(chan http.Header, 1)
	n.seen.Store(&seen)
	basic := base64.StdEncoding.EncodeToString
	for _, row := range []struct{ to, header, sent, arrives string }{
		{"https://good.example/", "Authorization", "Bearer " + place, "Bearer " + secretValue},
		{"https://good.example/", "X-Api-Key", place, secretValue},
		{"https://good.example/", "Authorization", "Basic " + basic([]byte("me:"+place)), "Basic " + basic([]byte("me:"+secretValue))},
		{"https://good.example/", "Authorization", "Basic not base64 " + place, "Basic not base64 " + secretValue},
		{"https://other.example/", "Authorization", "Bearer " + place, "Bearer " + place},
		{"http://good.example/", "Authorization", "Bearer " + place, "Bearer " + place},
		{"http://other.example/", "X-Api-Key", place, place},
	} {
		r := request(t, row.to)
		r.Header.Set(row.header, row.sent)
		got, resp := body(t, client(t, n, p, addr), r)
		if arrived := (<-seen).Get(row.header); arrived != row.arrives {
			t.Errorf("%s %s: %q arrives at the host", row.to, row.header, arrived)
		}
		if strings.Contains(got+resp.Header.Get("X-Repeated"), secretValue) {
			t.Errorf("%s: the command sees %s", row.to, got)
		}
		if row.header == "X-Api-Key" && !strings.Contains(got, "key "+place+" end") {
			t.Errorf("%s: the placeholder is not in %s", row.to, got)
		}
		if resp.ContentLength != int64(len(got)) {
			t.Errorf("%s: length %d of %d", row.to, resp.ContentLength, len(got))
		}
	}
	if refused := p.Close(); len(refused) > 0 {
		t.Errorf("told: %v", refused)
	}
}

// TestUntouched: a host without a mask is spoken to by the command itself, with its own certificate.
func TestUntouched(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	p, addr := start(t, n, []string{"other.example"}, Mask{Name: "TOKEN", Value: secretValue, Hosts: []string{"good.example"}})
	for _, host := range []string{"other.example", "good.example"} {
		_, resp := body(t, client(t, n, p, addr), request(t, "https://"+host+"/"))
		last := resp.TLS.PeerCertificates[0]
		if signer := p.authority.cert; (last.CheckSignatureFrom(signer) == nil) != (host == "good.example") {
			t.Errorf("%s has a certificate of %s", host, last.Issuer)
		}
	}
}

// TestMaskedHostIsChecked: the proxy trusts nobody whom the system does not trust.
func TestMaskedHostIsChecked(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	outside := n.outside()
	outside.Roots = nil
	p, err := New(nil, []Mask{{Name: "TOKEN", Value: secretValue, Hosts: []string{"good.example"}}}, Registries{}, outside, "")
	if err != nil {
		t.Fatal(err)
	}
	addr := serveOn(t, p)
	r := request(t, "https://good.example/")
	r.Header.Set("Authorization", "Bearer "+placeholderOf(t, p, "TOKEN"))
	if got, resp := body(t, client(t, n, p, addr), r); resp.StatusCode != http.StatusBadGateway || !strings.Contains(got, "certificate") {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
}

func TestBadMasks(t *testing.T) {
	t.Parallel()
	for _, m := range []Mask{
		{Name: "", Value: secretValue, Hosts: []string{"good.example"}}, {Name: "A=B", Value: secretValue, Hosts: []string{"good.example"}},
		{Name: "A", Value: "tiny", Hosts: []string{"good.example"}}, {Name: "A", Value: secretValue},
		{Name: "A", Value: "two lines\r\nX: y", Hosts: []string{"good.example"}}, {Name: "A", Value: secretValue, Hosts: []string{"*"}},
	} {
		if _, err := New(nil, []Mask{m}, Registries{}, Outside{}, ""); err == nil || strings.Contains(err.Error(), m.Value) && m.Value != "" {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

// TestHiding: the value is found wherever the pieces of a body end.
func TestHiding(t *testing.T) {
	t.Parallel()
	in := "a" + secretValue + secretValue + "the-real-value-of-the-" + secretValue + "the-real"
	want := strings.ReplaceAll(in, secretValue, strings.Repeat("#", len(secretValue)))
	for name, pieces := range map[string]func(io.Reader) io.Reader{"one": iotest.OneByteReader, "half": iotest.HalfReader,
		"whole": iotest.DataErrReader} {
		h := &hiding{in: io.NopCloser(pieces(strings.NewReader(in))), value: []byte(secretValue),
			placeholder: bytes.Repeat([]byte("#"), len(secretValue))}
		if got, err := io.ReadAll(iotest.OneByteReader(h)); err != nil || string(got) != want {
			t.Errorf("%s: %v %s", name, err, got)
		}
	}
}

// TestHeldBack: what cannot be the beginning of the value is passed on at once.
func TestHeldBack(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	h := &hiding{in: r, value: []byte(secretValue), placeholder: []byte(secretValue)}
	go func() { _, _ = io.WriteString(w, "data: x\n\nthe") }()
	buf := make([]byte, 100)
	if n, err := h.Read(buf); err != nil || string(buf[:n]) != "data: x\n\n" {
		t.Errorf("%v %q", err, buf[:n])
	}
	_ = w.Close()
	if rest, err := io.ReadAll(h); err != nil || string(rest) != "the" {
		t.Errorf("%v %q", err, rest)
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	p, err := New([]string{"good.example"}, nil, Registries{}, Outside{}, "")
	if err != nil {
		t.Fatal(err)
	}
	env := p.Environ("127.0.0.1:3128", "/ca.pem")
	if !slices.Contains(env, "https_proxy=http://127.0.0.1:3128") || strings.Contains(strings.Join(env, " "), "/ca.pem") ||
		p.Authorities() != nil {
		t.Errorf("%q", env)
	}
}
