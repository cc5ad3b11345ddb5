package agentcard

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// whole is a card that lacks nothing of A2A 0.3, its members in no particular order, with numbers and letters whose canonical form differs.
const whole = `{"version":"1.0", "url":"https://partner.example/a2a", "name":"partner","protocolVersion":"0.3.0",
  "description":"Reviews \u20ac and é.", "capabilities":{"streaming":true,"extensions":[]}, "weight": 1.50e1,
  "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
  "skills":[{"id":"review","name":"Review","description":"Reviews.","tags":["code"],"examples":[]}]}`

func TestParse(t *testing.T) {
	for _, c := range []struct{ raw, lacks, err string }{
		{whole, "", ""},
		{strings.Replace(whole, `"url":"https://partner.example/a2a"`, `"supportedInterfaces":[{}]`, 1), "", ""}, // 1.0
		{`{"name":"x"}`, "description, version, url or supportedInterfaces, capabilities, defaultInputModes, defaultOutputModes, skills", ""},
		{strings.Replace(whole, `"id":"review",`, ``, 1), "id, name, description or tags of skills[0]", ""},
		{`{"name":"x","name":"y"}`, "", "duplicate"},
		{`{"name":"x","skills":{"id":"a"}}`, "", "skills"},
		{`{"name":"x"} {}`, "", "after"},
		{`[]`, "", "no JSON object"},
		{``, "", "no JSON object"},
		{`{"name":"` + strings.Repeat("x", MaxSize) + `"}`, "", "larger than"},
		{`{"skills":[` + strings.Repeat(`{"id":"a"},`, maxSkills) + `{"id":"a"}]}`, "", "more than 1000 skills"},
	} {
		got, err := Parse([]byte(c.raw))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%.60s: %v, want %q", c.raw, err, c.err)
			}
			continue
		}
		if err != nil || strings.Join(got.Lacks, ", ") != c.lacks {
			t.Errorf("%.60s: %v, %v", c.raw, got, err)
		}
	}
}

// signer is a key, and the sets in which it is published.
type signer struct {
	private any
	alg     jose.SignatureAlgorithm
	kid     string
}

func newSigner(t *testing.T, kid string) signer {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{k, jose.ES256, kid}
}

// set is the key set with the public keys of signers.
func set(t *testing.T, signers ...signer) []byte {
	var s jose.JSONWebKeySet
	for _, x := range signers {
		k := jose.JSONWebKey{Key: x.private, KeyID: x.kid, Algorithm: string(x.alg), Use: "sig"}
		s.Keys = append(s.Keys, k.Public())
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sign returns a signature over bytes, detached.
func (s signer) sign(t *testing.T, payload []byte, head map[jose.HeaderKey]any) Signature {
	o := &jose.SignerOptions{ExtraHeaders: head}
	x, err := jose.NewSigner(jose.SigningKey{Algorithm: s.alg, Key: jose.JSONWebKey{Key: s.private, KeyID: s.kid}}, o)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := x.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jws.DetachedCompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(text, ".")
	return Signature{Protected: parts[0], Signature: parts[2]}
}

// with returns a card with signatures.
func with(t *testing.T, raw string, s ...Signature) *Card {
	list, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse([]byte(strings.TrimSuffix(raw, "}") + `,"signatures":` + string(list) + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// canonical is RFC 8785 of a JSON text.
func canonical(t *testing.T, raw string) []byte {
	v := jsontext.Value(raw)
	if err := v.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestVerify: a signature counts if it is over this card, by a key of a configured set.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	partner, other := newSigner(t, "k1"), newSigner(t, "k1")
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	edward := signer{ed, jose.EdDSA, "k2"}
	hmac := signer{[]byte(strings.Repeat("s", 32)), jose.HS256, "k1"}
	file, inside := filepath.Join(dir, "partner.jwks"), filepath.Join(dir, "shop", "partner.jwks")
	link := filepath.Join(dir, "link.jwks")
	for _, err := range []error{os.MkdirAll(filepath.Dir(inside), 0o700), os.WriteFile(file, set(t, partner, edward), 0o600),
		os.WriteFile(inside, set(t, partner), 0o600), os.Symlink(inside, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/partner", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(set(t, partner)) })
	mux.HandleFunc("/other", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(set(t, other)) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/partner", http.StatusFound) })
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)

	payload := canonical(t, whole)
	short := canonical(t, strings.NewReplacer(`,"extensions":[]`, ``, `,"examples":[]`, ``).Replace(whole))
	jku := func(at string) map[jose.HeaderKey]any { return map[jose.HeaderKey]any{"jku": at} }
	good := partner.sign(t, payload, nil)
	for _, c := range []struct {
		name string
		card *Card
		keys []string
		want string // in the error; "": verified
	}{
		{"from a file", with(t, whole, good), []string{file}, ""},
		{"from a URL", with(t, whole, good), []string{web.URL + "/partner"}, ""},
		{"of the form without what is empty", with(t, whole, partner.sign(t, short, nil)), []string{file}, ""},
		{"with another algorithm", with(t, whole, edward.sign(t, payload, nil)), []string{file}, ""},
		{"the second of two", with(t, whole, other.sign(t, payload, nil), good), []string{file}, ""},
		{"in the second of two sets", with(t, whole, good), []string{web.URL + "/other", file}, ""},
		{"from the set that its jku names", with(t, whole, partner.sign(t, payload, jku(web.URL+"/partner"))), []string{file,
			web.URL + "/partner"}, ""},
		{"no signature", with(t, whole), []string{file}, "no signature"},
		{"of another card", with(t, strings.Replace(whole, `"review"`, `"admin"`, 1), good), []string{file}, "not of this card"},
		{"by another key of that name", with(t, whole, other.sign(t, payload, nil)), []string{file}, "not of this card"},
		{"by an unknown key", with(t, whole, newSigner(t, "k9").sign(t, payload, nil)), []string{file}, `no key "k9"`},
		{"a jku that nobody named", with(t, whole, partner.sign(t, payload, jku(web.URL+"/partner"))), []string{file}, "does not name"},
		{"a jku with other keys", with(t, whole, partner.sign(t, payload, jku(web.URL+"/other"))), []string{file, web.URL + "/other"},
			"not of this card"},
		{"a shared secret", with(t, whole, hmac.sign(t, payload, nil)), []string{file}, "none with a public key"},
		{"an unknown critical header", with(t, whole, partner.sign(t, payload, map[jose.HeaderKey]any{"crit": []string{"exp"}, "exp": 1})),
			[]string{file}, "not of this card"},
		{"no base64", with(t, whole, Signature{"!", "x"}), []string{file}, "base64url"},
		{"no JWS", with(t, whole, Signature{good.Protected, "!"}), []string{file}, "no JWS"},
		{"keys in the project", with(t, whole, good), []string{inside}, "lies in the project"},
		{"keys in the project, by a link", with(t, whole, good), []string{link}, "lies in the project"},
		{"no such file", with(t, whole, good), []string{filepath.Join(dir, "absent")}, "no such file"},
		{"a folder", with(t, whole, good), []string{dir}, "no regular file"},
		{"keys behind a redirect", with(t, whole, good), []string{web.URL + "/moved"}, "302"},
		{"plain HTTP elsewhere", with(t, whole, good), []string{"http://partner.example/jwks"}, "only https"},
	} {
		err := c.card.Verify(t.Context(), c.keys, filepath.Join(dir, "shop"))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// FuzzParse: no card makes the reader panic, and what it signs is the same for the same card.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`{"name":"x","skills":[{"id":null}],"signatures":[{}]}`))
	f.Add([]byte(`{"name":"\ud800"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := Parse(raw)
		if err != nil {
			return
		}
		a, err := c.payloads()
		if err != nil {
			return
		}
		for _, p := range a {
			if !jsontext.Value(p).IsValid() {
				t.Errorf("%q is signed as %q", raw, p)
			}
		}
	})
}
