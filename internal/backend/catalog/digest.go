package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

// canonical is the form of a definition over which its digest is made: the whole object, the members of every object sorted, no
// white space, strings with the least escapes. Nothing is left out, also not _meta, icons and members that nobody knows: all of it
// reaches clients. Numbers stay as they are written, because no float holds them all.
func canonical(raw []byte) []byte {
	b, err := jsontext.AppendFormat(nil, raw, jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false),
		jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return raw // no JSON: only the same bytes are the same definition
	}
	return b
}

// Digest identifies a definition: SHA-256 over its canonical form, in hex.
func Digest(raw []byte) string {
	sum := sha256.Sum256(canonical(raw))
	return hex.EncodeToString(sum[:])
}

// SameDefinition reports whether two definitions have one canonical form.
func SameDefinition(a, b []byte) bool {
	return bytes.Equal(a, b) || bytes.Equal(canonical(a), canonical(b))
}

// SumWithoutName is the digest of a definition without its name.
func SumWithoutName(k Kind, raw []byte) [sha256.Size]byte {
	return sha256.Sum256(canonical(rawjson.Set(raw, k.Key(), nil)))
}
