package signature

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// signer is a device with its key, and a server that knows it.
func signer(t *testing.T, now *time.Time) (Key, *Checker) {
	t.Helper()
	private, public, err := NewPrivate()
	if err != nil {
		t.Fatal(err)
	}
	unknown := errors.New("no such device")
	return Key{"d-a", private}, &Checker{Run: "RUN", Now: func() time.Time { return *now }, Key: func(device string) ([]byte, error) {
		if device != "d-a" {
			return nil, unknown
		}
		return public, nil
	}}
}

// TestCheck: a request that is signed is taken once, and none of which anything is otherwise than it was signed.
func TestCheck(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	key, checker := signer(t, &now)
	const at = "http://a.localhost:1/inbox?x=1"
	request := func(sign time.Time, run string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, at, strings.NewReader("body"))
		r.RequestURI = ""
		if err := key.Sign(r, run, []byte("body"), sign); err != nil {
			t.Fatal(err)
		}
		return r
	}
	good := request(now, "RUN")
	if d, err := checker.Check(good, at); d != "d-a" || err != nil {
		t.Fatalf("a good one: %q, %v", d, err)
	}
	if err := Body(httptest.NewRecorder(), good, 4); err != nil {
		t.Errorf("its body: %v", err)
	}
	if b, err := io.ReadAll(good.Body); string(b) != "body" || err != nil {
		t.Errorf("what is left of its body: %q %v", b, err)
	}
	if _, err := checker.Check(good, at); !errors.Is(err, ErrReplay) {
		t.Errorf("sent again: %v", err)
	}
	swap := func(header, from, to string) func(r *http.Request) {
		return func(r *http.Request) { r.Header.Set(header, strings.Replace(r.Header.Get(header), from, to, 1)) }
	}
	for name, c := range map[string]struct {
		change func(r *http.Request)
		at     string
		want   error
	}{
		"nothing":              {func(*http.Request) {}, at, nil},
		"no signature":         {func(r *http.Request) { r.Header.Del(Header); r.Header.Del(InputHeader) }, at, ErrNone},
		"no input":             {func(r *http.Request) { r.Header.Del(InputHeader) }, at, ErrForm},
		"two inputs":           {func(r *http.Request) { r.Header.Add(InputHeader, r.Header.Get(InputHeader)) }, at, ErrForm},
		"two digests":          {func(r *http.Request) { r.Header.Add(DigestHeader, r.Header.Get(DigestHeader)) }, at, ErrForm},
		"another method":       {func(r *http.Request) { r.Method = http.MethodPut }, at, ErrBad},
		"another path":         {nil, "http://a.localhost:1/other?x=1", ErrBad},
		"another query":        {nil, "http://a.localhost:1/inbox?x=2", ErrBad},
		"another port":         {nil, "http://a.localhost:2/inbox?x=1", ErrBad},
		"another name":         {nil, "http://127.0.0.1:1/inbox?x=1", ErrBad},
		"another scheme":       {nil, "https://a.localhost:1/inbox?x=1", ErrBad},
		"another digest":       {func(r *http.Request) { r.Header.Set(DigestHeader, digestOf([]byte("x"))) }, at, ErrBad},
		"another run":          {func(r *http.Request) { r.Header.Set(RunHeader, "OTHER") }, at, ErrRun},
		"another device":       {swap(InputHeader, "d-a", "d-b"), at, errors.New("no such device")},
		"another nonce":        {swap(InputHeader, `nonce="`, `nonce="A`), at, ErrBad},
		"another time":         {swap(InputHeader, "created=1800000000", "created=1800000001"), at, ErrBad},
		"another tag":          {swap(InputHeader, tag, "other"), at, ErrForm},
		"another algorithm":    {swap(InputHeader, "ecdsa-p256-sha256", "hmac-sha256"), at, ErrForm},
		"less is covered":      {swap(InputHeader, ` "content-digest"`, ""), at, ErrForm},
		"something after it":   {func(r *http.Request) { r.Header.Set(InputHeader, r.Header.Get(InputHeader)+`;x=1`) }, at, ErrForm},
		"a device with a line": {swap(InputHeader, "d-a", "d-a\n"), at, ErrForm},
		"another signature":    {func(r *http.Request) { r.Header.Set(Header, request(now, "RUN").Header.Get(Header)) }, at, ErrBad},
	} {
		r := request(now, "RUN")
		if c.change != nil {
			c.change(r)
		}
		_, err := checker.Check(r, c.at)
		if c.want == nil && err != nil || c.want != nil && (err == nil || err.Error() != c.want.Error()) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, late := range []time.Duration{-Window - time.Second, Window + time.Second} {
		if _, err := checker.Check(request(now.Add(late), "RUN"), at); !errors.Is(err, ErrTime) {
			t.Errorf("signed at %v from now: %v", late, err)
		}
	}
	body := request(now, "RUN")
	body.Body = io.NopCloser(strings.NewReader("more"))
	if _, err := checker.Check(body, at); err != nil {
		t.Fatal(err)
	}
	if err := Body(httptest.NewRecorder(), body, 4); !errors.Is(err, ErrBody) {
		t.Errorf("another body: %v", err)
	}
	if err := Body(httptest.NewRecorder(), request(now, "RUN"), 3); err == nil {
		t.Error("a body that is too long is read")
	}
}

// TestReplayWindow: whenever a request is sent again, it is refused: as long as its time is good, because its nonce is remembered.
func TestReplayWindow(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	now := start
	key, checker := signer(t, &now)
	const at = "http://a.localhost:1/"
	var sent []*http.Request
	for second := range 600 {
		now = start.Add(time.Duration(second) * time.Second)
		for _, ahead := range []time.Duration{-Window, 0, Window} {
			r := httptest.NewRequest(http.MethodGet, at, nil)
			r.RequestURI = ""
			if err := key.Sign(r, "RUN", nil, now.Add(ahead)); err != nil {
				t.Fatal(err)
			}
			if _, err := checker.Check(r, at); err != nil {
				t.Fatalf("second %d: %v", second, err)
			}
			sent = append(sent, r)
		}
		for i := len(sent) - 1; i >= max(0, len(sent)-400); i -= 13 {
			old := sent[i]
			if _, err := checker.Check(old, at); err == nil {
				t.Fatalf("second %d: a request is taken again", second)
			}
		}
	}
	if n := len(checker.seen) + len(checker.before); n > 3*int(4*Window/time.Second) {
		t.Errorf("%d nonces are remembered", n)
	}
}
