package rawjson

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
)

// MaxDepth bounds how many objects and arrays may be nested in each other in a text that comes from outside. Real messages have fewer than
// 30 levels. Programs walk a value once for each level, so the time for a text without this bound would grow with the square of its length.
const MaxDepth = 1000

// TooDeep reports whether the objects and arrays of a text are nested in each other more than [MaxDepth] times. It counts brackets that
// stand outside of strings. The text need not be valid JSON.
func TooDeep(raw []byte) bool {
	if bytes.Count(raw, []byte{'{'})+bytes.Count(raw, []byte{'['}) <= MaxDepth { // of nearly every text, at a tenth of the cost
		return false
	}
	_, deep := depth(raw)
	return deep
}

// depth returns the offset at which it is known whether a text is too deep.
func depth(raw []byte) (read int, deep bool) {
	level := 0
	for i := 0; i < len(raw); {
		c := raw[i]
		if c == '"' {
			i, _ = stringEnd(raw, i)
			continue
		}
		i++
		switch c | 0x20 { // as in nestedEnd
		case '{':
			if level++; level > MaxDepth {
				return i, true
			}
		case '}':
			level--
		}
	}
	return len(raw), false
}

// ErrTooDeep is the error of [Decode] for a text that is [TooDeep].
var ErrTooDeep = fmt.Errorf("it is nested more than %d deep", MaxDepth)

// Decode is json.Unmarshal for a text that comes from outside. A text that is [TooDeep] is refused before it is decoded.
func Decode(raw []byte, into any, options ...json.Options) error {
	if TooDeep(raw) {
		return ErrTooDeep
	}
	return json.Unmarshal(raw, into, options...)
}
