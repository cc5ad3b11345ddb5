package approval

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
)

// idLetters are the letters and digits of an id. Those that people confuse when they type are left out.
const idLetters = "abcdefghjkmnpqrstuvwxyz23456789"

// idLength gives an id 59 bits: the few pending ones cannot be guessed, a person can type them, and they fit into the 64 bytes of a
// Telegram button.
const idLength = 12

// newID returns a random id.
func newID() string {
	id := make([]byte, 0, idLength)
	var b [4 * idLength]byte
	for len(id) < idLength {
		_, _ = rand.Read(b[:]) // it never fails
		for _, c := range b {
			if c &= 31; int(c) < len(idLetters) && len(id) < idLength { // 31 of 32 values are used, so all letters are equally likely
				id = append(id, idLetters[c])
			}
		}
	}
	return string(id)
}

// Sum returns the digest that binds an answer to a request: kind, principal, tool, raw arguments (before secrets are masked), working
// folder, the text and questions, and what the call gets in the sandbox. The order of keys and white space do not count; the digits of
// numbers do.
func (r *Request) Sum(args []byte) string {
	v := withoutWords(r.Tool, args)
	if err := v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		v = args
	}
	sum := digestOf(append([]any{string(r.Kind), r.Principal, r.Tool, r.Dir, v, r.Text, r.Questions}, r.Lacked.bound()...)...)
	return hex.EncodeToString(sum[:16])
}

// withoutWords returns the arguments of a tool without those that are only words for people.
func withoutWords(tool string, args []byte) jsontext.Value {
	var members map[string]jsontext.Value
	idle := policy.IdleArgs(tool)
	if len(idle) == 0 || json.Unmarshal(args, &members) != nil || members == nil {
		return jsontext.Value(args).Clone()
	}
	for _, name := range idle {
		delete(members, name)
	}
	b, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return jsontext.Value(args).Clone()
	}
	return b
}

// Bound returns the digest of everything that an approval holds for: [Request.Digest], the session, the rule that asks, the facts, the
// sandbox, and the content of the code that runs. Facts and code count because the same arguments can do something else later: a path
// leads elsewhere, or a script has changed.
func (r *Request) Bound() [32]byte {
	f := r.Facts
	f.Walls = policy.Walls{} // the sandbox of the request says what came of them
	return digestOf(r.Session, r.Digest, r.Rule, f, r.Sandbox, r.Outside, r.Code)
}

// same returns the digest of the call as it is written: what a denial for the session holds for, whatever the files are by then, and what
// two versions of one call have in common.
func (r *Request) same() [32]byte {
	return digestOf(r.Session, r.Digest, r.Rule)
}

// digestOf returns the SHA-256 of values as a JSON array, which keeps them apart.
func digestOf(values ...any) [32]byte {
	for i, v := range values {
		if raw, ok := v.(jsontext.Value); ok {
			values[i] = string(raw) // as text: it need not be JSON
		}
	}
	b, err := json.Marshal(values, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		b = fmt.Appendf(nil, "%#v", values) // these types do not fail; if one did, the digest would still be unique
	}
	return sha256.Sum256(b)
}
