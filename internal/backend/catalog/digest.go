package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

// canonical is the form of a definition from which its digest is made: the whole object, with the members of every object sorted, no
// white space, and strings with as few escapes as possible. It includes _meta, icons and unknown members, because all of them reach
// clients. Numbers stay as they are written, because floats cannot represent all of them.
func canonical(raw []byte) []byte {
	b, err := jsontext.AppendFormat(nil, raw, jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false),
		jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return raw // not JSON: only the same bytes are the same definition
	}
	return b
}

// Digest identifies a definition: SHA-256 over its canonical form, in hex.
func Digest(raw []byte) string {
	sum := sha256.Sum256(canonical(raw))
	return hex.EncodeToString(sum[:])
}

// SameDefinition reports whether two definitions have the same canonical form.
func SameDefinition(a, b []byte) bool {
	return bytes.Equal(a, b) || bytes.Equal(canonical(a), canonical(b))
}

// SumWithoutName is the digest of a definition without its name.
func SumWithoutName(k Kind, raw []byte) [sha256.Size]byte {
	return sha256.Sum256(canonical(rawjson.Set(raw, k.Key(), nil)))
}
