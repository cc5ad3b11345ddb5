package rawjson

import (
	"slices"
	"strings"
)

// Programs read an object whose names repeat, or differ only in case, each in its own way: encoding/json of Go takes the last member
// whatever its case. What one program checks and what the next one obeys must not differ.

// Unique reports whether an object has at most one member of the name.
func Unique(object []byte, name string) bool {
	s := ScanObject(object)
	first := s.find(name)
	return !first || !s.find(name) // the search goes on behind the first
}

// Variant returns the key that name equals only when case is ignored; "" if there is none. It folds case as Unicode does, and as
// encoding/json does: U+017F is an s, U+212A a k.
func Variant(name []byte, keys ...string) string {
	for _, key := range keys {
		if string(name) != key && strings.EqualFold(string(name), key) {
			return key
		}
	}
	return ""
}

// CaseVariant returns the first member name of an object that is a [Variant] of one of the keys, and that key.
func CaseVariant(object []byte, keys ...string) (name, key string) {
	for s := ScanObject(object); s.Next(); {
		if key := Variant(s.Name(), keys...); key != "" {
			return string(s.Name()), key
		}
	}
	return "", ""
}

// RepeatedName returns the first member name of an object that equals an earlier one when case is ignored; "" if there is none.
// Each name is compared with each, so the name of the member after the first most ones is returned in any case.
func RepeatedName(object []byte, most int) string {
	seen := make([]string, 0, 8)
	for name := range Members(object) {
		if len(seen) == most || slices.ContainsFunc(seen, func(s string) bool { return strings.EqualFold(s, name) }) {
			return name
		}
		seen = append(seen, name)
	}
	return ""
}
