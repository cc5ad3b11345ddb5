package rawjson

// Visitor decides what [Rewrite] changes. An S is what the caller knows of a value: Rewrite passes the S of an object to Member, which
// returns the S of the member's value. The elements of an array have the S of the array.
type Visitor[S any] struct {
	// Member is called with each member of an object: the S of the object, the decoded name and the first byte of the value. If
	// whole is true, Rewrite calls Value and does not look into the value.
	Member func(object S, name []byte, first byte) (value S, whole bool)

	// String returns the token that replaces a string, nil to keep it. token has its quotes. Names of members are never replaced.
	String func(value S, token []byte) []byte

	// Value returns what replaces a value, nil to keep it.
	Value func(value S, raw []byte) []byte

	// Compact leaves out the white space between tokens. What Value keeps or returns stays as it is.
	Compact bool
}

// Rewrite appends raw, one JSON value, to dst, with the changes that a Visitor makes. of is what the caller knows of raw. With a nil
// dst and no changes the result is raw itself. It returns false if raw is not made of JSON's brackets, commas and colons as it should
// be; it does not check literals, numbers and the inside of strings.
func Rewrite[S any](dst, raw []byte, of S, v *Visitor[S]) ([]byte, bool) {
	w := rewriter{raw: raw, out: dst, compact: v.Compact}
	if !v.value(&w, of, 0) || w.next() != 0 || w.at < len(raw) {
		return dst, false
	}
	if dst == nil && w.copied == 0 {
		return raw, true
	}
	return append(w.out, raw[w.copied:]...), true
}

func (v *Visitor[S]) value(w *rewriter, of S, depth int) bool {
	first := w.next()
	switch {
	case first == 0 || depth > MaxDepth:
		return false
	case first == '{':
		return v.nested(w, '}', of, depth)
	case first == '[':
		return v.nested(w, ']', of, depth)
	case first == '"':
		token, ok := w.token()
		if !ok {
			return false
		}
		if with := v.String(of, token); with != nil {
			w.replace(w.at-len(token), with)
		}
		return true
	}
	return len(w.skip()) > 0
}

// nested goes through an object or an array.
func (v *Visitor[S]) nested(w *rewriter, closing byte, of S, depth int) bool {
	w.at++
	if w.next() == closing {
		w.at++
		return true
	}
	for {
		if closing == '}' && !v.member(w, of, depth) || closing == ']' && !v.value(w, of, depth+1) {
			return false
		}
		switch w.next() {
		case ',':
			w.at++
		case closing:
			w.at++
			return true
		default:
			return false
		}
	}
}

func (v *Visitor[S]) member(w *rewriter, object S, depth int) bool {
	if w.next() != '"' {
		return false
	}
	name, ok := w.token()
	if !ok || w.next() != ':' {
		return false
	}
	w.at++
	value, whole := v.Member(object, Unquote(name), w.next())
	if !whole {
		return v.value(w, value, depth+1)
	}
	raw := w.skip()
	if with := v.Value(value, raw); with != nil {
		w.replace(w.at-len(raw), with)
	}
	return len(raw) > 0
}

// rewriter is how far Rewrite has come. It does not hold the Visitor, which would then be allocated for each call.
type rewriter struct {
	raw     []byte
	at      int
	out     []byte
	copied  int // how much of raw stands in out
	compact bool
}

// next moves past white space and returns the byte that follows; 0 at the end.
func (w *rewriter) next() byte {
	if w.at < len(w.raw) && w.raw[w.at] > ' ' { // mostly there is none
		return w.raw[w.at]
	}
	return w.afterSpace()
}

func (w *rewriter) afterSpace() byte {
	from := w.at
	w.at = space(w.raw, from)
	if w.compact && w.at > from {
		w.replace(from, nil)
	}
	if w.at >= len(w.raw) {
		return 0
	}
	return w.raw[w.at]
}

// token moves past a string and returns it with its quotes.
func (w *rewriter) token() (token []byte, ok bool) {
	from := w.at
	w.at, ok = stringEnd(w.raw, from)
	return w.raw[from:w.at:w.at], ok
}

// skip moves past a value and returns it.
func (w *rewriter) skip() []byte {
	from := w.at
	w.at = valueEnd(w.raw, from)
	return w.raw[from:w.at:w.at]
}

// replace writes with in place of what stands between from and the current offset.
func (w *rewriter) replace(from int, with []byte) {
	if w.out == nil {
		w.out = make([]byte, 0, len(w.raw)-(w.at-from)+len(with)+len(w.raw)/8)
	}
	w.out = append(append(w.out, w.raw[w.copied:from]...), with...)
	w.copied = w.at
}
