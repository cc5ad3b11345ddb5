package webtest

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/web/signature"
)

// SignIn signs in at a page server by the secret of a link, as a browser does, and returns a client that signs its requests with the key of
// the new device and follows no redirect. next is what the requests go through; nil: the usual.
func SignIn(t *testing.T, base, secret string, next http.RoundTripper) (*http.Client, signature.Key) {
	t.Helper()
	status, said, key := TrySignIn(t, base, secret, next)
	if status != http.StatusOK {
		t.Fatalf("sign-in: %d %s", status, said)
	}
	return &http.Client{Transport: &signature.Transport{Key: key, Next: next},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, key
}

// TrySignIn is a sign-in that may be refused: it returns the status and what the server says.
func TrySignIn(t *testing.T, base, secret string, next http.RoundTripper) (status int, said string, key signature.Key) {
	t.Helper()
	private, public, err := signature.NewPrivate()
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"link": secret, "key": public})
	if err != nil {
		t.Fatal(err)
	}
	r, err := (&http.Client{Transport: next}).Post(base+"/sign-in", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Device string `json:"device"`
	}
	if r.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
	}
	return r.StatusCode, string(text), signature.Key{Device: got.Device, Private: private}
}
