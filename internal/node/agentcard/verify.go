package agentcard

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/gateway/resource"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// How keys are read.
const (
	keysWait = 5 * time.Second // timeout of one URL
	maxKeys  = 1 << 20         // bytes of one file
	maxTried = 16              // signatures of one card that are looked at
)

// algorithms are those with a public key. With a shared secret, whoever verifies a card could also sign one.
func algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.ES256, jose.ES384, jose.ES512, jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384,
		jose.PS512, jose.EdDSA}
}

// Verify returns nil if one of the card's signatures is by a key of the named key sets: files and URLs. dir is the project folder. A key
// set in it does not count, because what works there could write it. A signature whose jku is not among the URLs does not count.
func (c *Card) Verify(ctx context.Context, keys []string, dir string) error {
	if len(c.Signatures) == 0 {
		return errors.New("it has no signature, and identity.keys in mycelium.yaml demands one")
	}
	payloads, err := c.payloads()
	if err != nil {
		return err
	}
	sets := keySets{dir: dir, read: map[string]*resource.KeySet{}}
	var faults []error
	for i, s := range c.Signatures[:min(len(c.Signatures), maxTried)] {
		err := sets.verify(ctx, s, payloads, keys)
		if err == nil {
			return nil
		}
		faults = append(faults, fmt.Errorf("signature %d: %w", i, err))
	}
	return errors.Join(faults...)
}

// payloads returns what signers sign: the card without its signatures, in canonical form (RFC 8785). A2A 1.0 leaves out what is empty
// before that, and 0.3 does not say; so there are two forms. What is empty says nothing to us, so nobody gains by adding or removing it.
func (c *Card) payloads() ([][]byte, error) {
	var members map[string]any
	if err := rawjson.Decode(c.raw, &members); err != nil {
		return nil, err
	}
	delete(members, "signatures")
	whole, err := without(c.raw, "signatures")
	if err != nil {
		return nil, err
	}
	full, _ := withoutEmpty(members)
	short, err := json.Marshal(full)
	if err != nil {
		return nil, err
	}
	out := [][]byte{whole, short}
	for i := range out {
		v := jsontext.Value(out[i])
		if err := v.Canonicalize(); err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// without returns a JSON object without one member; the others keep their bytes.
func without(raw []byte, name string) ([]byte, error) {
	var members map[string]jsontext.Value
	if err := rawjson.Decode(raw, &members); err != nil {
		return nil, err
	}
	delete(members, name)
	return json.Marshal(members)
}

// withoutEmpty drops null, "", [] and {} at every depth, and reports whether anything is left.
func withoutEmpty(v any) (any, bool) {
	switch v := v.(type) {
	case nil:
		return nil, false
	case string:
		return v, v != ""
	case []any:
		out := []any{}
		for _, e := range v {
			if e, ok := withoutEmpty(e); ok {
				out = append(out, e)
			}
		}
		return out, len(out) > 0
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if e, ok := withoutEmpty(e); ok {
				out[k] = e
			}
		}
		return out, len(out) > 0
	}
	return v, true
}

// keySets are the key sets that were read for one card.
type keySets struct {
	dir  string
	read map[string]*resource.KeySet
}

// header is what is read of a protected header.
type header struct {
	Alg string `json:"alg"`
	Kid string `json:"kid"`
	JKU string `json:"jku"`
}

func (k *keySets) verify(ctx context.Context, s Signature, payloads [][]byte, places []string) error {
	raw, err := base64.RawURLEncoding.DecodeString(s.Protected)
	if err != nil {
		return errors.New("its protected header is not base64url")
	}
	var h header
	if err := rawjson.Decode(raw, &h); err != nil {
		return fmt.Errorf("its protected header: %w", err)
	}
	if !slices.Contains(algorithms(), jose.SignatureAlgorithm(h.Alg)) {
		return fmt.Errorf("its algorithm %q is none with a public key", text.Truncate(h.Alg, 40))
	}
	if h.JKU != "" {
		if !slices.Contains(places, h.JKU) {
			return fmt.Errorf("its keys are at %q, which identity.keys does not name", text.Truncate(h.JKU, 200))
		}
		places = []string{h.JKU}
	}
	var faults []error
	tried := 0
	for _, at := range places {
		set, err := k.load(ctx, at)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		for _, key := range set.Match(h.Kid, h.Alg) {
			tried++
			for _, payload := range payloads {
				jws, err := jose.ParseDetached(s.Protected+".."+s.Signature, payload, algorithms())
				if err != nil {
					return fmt.Errorf("it is no JWS: %w", err)
				}
				if jws.DetachedVerify(payload, key) == nil {
					return nil
				}
			}
		}
	}
	if tried == 0 {
		return errors.Join(append(faults, fmt.Errorf("no key %q for %s is among identity.keys", text.Truncate(h.Kid, 100), h.Alg))...)
	}
	return errors.New("it is not of this card, or not by the key that it names")
}

// load reads a key set, once for a card.
func (k *keySets) load(ctx context.Context, at string) (*resource.KeySet, error) {
	if set := k.read[at]; set != nil {
		return set, nil
	}
	var body []byte
	var err error
	if strings.Contains(at, "://") {
		ctx, cancel := context.WithTimeout(ctx, keysWait)
		defer cancel()
		client := resource.NewKeyClient()
		defer client.CloseIdleConnections()
		body, err = resource.Fetch(ctx, client, at)
	} else {
		body, err = k.file(at)
	}
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	set, err := resource.ParseKeys(body)
	if err != nil {
		return nil, fmt.Errorf("read keys: %s: %w", at, err)
	}
	k.read[at] = set
	return set, nil
}

// file reads a key set outside of the project.
func (k *keySets) file(at string) ([]byte, error) {
	path, err := filepath.EvalSymlinks(at)
	if err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(k.dir, path); err == nil && filepath.IsLocal(rel) {
		return nil, fmt.Errorf("%s lies in the project, where what works there could write it: move it out, for instance to "+
			"~/.config/mycelium", at)
	}
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", at)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, maxKeys))
}
