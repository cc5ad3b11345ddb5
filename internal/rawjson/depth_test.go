package rawjson

import (
	"strings"
	"testing"
)

func nested(opening, inner, closing string, n int) []byte {
	return []byte(strings.Repeat(opening, n) + inner + strings.Repeat(closing, n))
}

func TestDepth(t *testing.T) {
	wide := []byte("[" + strings.Repeat(`{"a":[]},`, MaxDepth) + "null]")
	quoted := []byte(`"` + strings.Repeat("[{", MaxDepth) + `"`)
	for name, c := range map[string]struct {
		raw  []byte
		deep bool
	}{
		"arrays":            {nested("[", "", "]", MaxDepth), false},
		"arrays, one more":  {nested("[", "", "]", MaxDepth+1), true},
		"objects":           {nested(`{"a":`, "1", "}", MaxDepth), false},
		"objects, one more": {nested(`{"a":`, "1", "}", MaxDepth+1), true},
		"both":              {nested(`[{"a":`, "1", "}]", MaxDepth/2+1), true},
		"200,000":           {nested(`[`, "1", "]", 200_000), true},
		"wide":              {wide, false},
		"brackets in text":  {quoted, false},
		"after a quote":     {[]byte(`["\"` + strings.Repeat("[", MaxDepth) + `"]`), false},
	} {
		if TooDeep(c.raw) != c.deep || Valid(c.raw) == c.deep || WellFormed(c.raw) == c.deep {
			t.Errorf("%s: too deep %v, valid %v, well formed %v; want too deep: %v", name, TooDeep(c.raw), Valid(c.raw), WellFormed(c.raw), c.deep)
		}
	}
	if !TooDeep([]byte(strings.Repeat("[", MaxDepth+1))) {
		t.Error("a text without an end is not too deep")
	}
}

// TestDepthIsFoundAtOnce counts the bytes that are read: however long the text is, no more than is needed for the bound.
func TestDepthIsFoundAtOnce(t *testing.T) {
	for _, n := range []int{MaxDepth + 1, 200_000, 2_000_000} {
		if read, deep := depth(nested("[", "", "]", n)); !deep || read != MaxDepth+1 {
			t.Errorf("of %d levels %d bytes were read", n, read)
		}
	}
}

func TestDecode(t *testing.T) {
	var v any
	if err := Decode(nested("[", "1", "]", MaxDepth), &v); err != nil {
		t.Error(err)
	}
	if err := Decode(nested("[", "1", "]", 200_000), &v); err != ErrTooDeep {
		t.Error(err)
	}
	if err := Decode([]byte(`{"a":1,"a":2}`), &v); err == nil {
		t.Error("a name that is there twice was accepted")
	}
}
