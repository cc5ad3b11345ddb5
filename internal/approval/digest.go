package approval

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// idLetters are those of an id: small ones and digits that people do not mistake for each other when they type them.
const idLetters = "abcdefghjkmnpqrstuvwxyz23456789"

// idLength makes an id of 59 bits: nobody guesses one of the few that are pending, a person can type it, and with a word before it
// it fits into the 64 bytes of a Telegram button.
const idLength = 12

// newID makes a random id.
func newID() string {
	id := make([]byte, 0, idLength)
	var b [4 * idLength]byte
	for len(id) < idLength {
		_, _ = rand.Read(b[:]) // it never fails: crypto/rand ends the program instead
		for _, c := range b {
			if c &= 31; int(c) < len(idLetters) && len(id) < idLength { // 31 of 32 values: none is likelier than another
				id = append(id, idLetters[c])
			}
		}
	}
	return string(id)
}

// Sum is the digest that binds an answer to what it was asked about: kind, principal, tool, the raw arguments (before anything in
// them was redacted), the folder from which relative paths are meant, and, of a stop or a question, its words. The order of keys
// and white space do not count, the digits of numbers do.
func (r *Request) Sum(args []byte) string {
	v := jsontext.Value(args).Clone()
	if err := v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		v = args
	}
	sum := digestOf(string(r.Kind), r.Principal, r.Tool, r.Dir, v, r.Text, r.Questions)
	return hex.EncodeToString(sum[:16])
}

// Bound is the digest of all that an answer holds for. Besides what [Request.Sum] has it is the session, why it was asked (the rule),
// and what the call would do: a call of the same words whose paths lead elsewhere by now, or which executes a file that was
// written since, is another question.
func (r *Request) Bound() [32]byte {
	return digestOf(r.Session, r.Digest, r.Rule, r.Facts)
}

// digestOf is the SHA-256 of values in their JSON form, which keeps them apart.
func digestOf(values ...any) [32]byte {
	for i, v := range values {
		if raw, ok := v.(jsontext.Value); ok {
			values[i] = string(raw) // as text: it need not be JSON
		}
	}
	b, err := json.Marshal(values, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		b = fmt.Appendf(nil, "%#v", values) // it does not happen with these types; where it does, nothing else has this digest
	}
	return sha256.Sum256(b)
}
