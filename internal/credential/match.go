package credential

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// The search has two stages. Every form has a mark, a text that is in each of its secrets, and every mark has two neighbouring
// pairs of bytes, its anchors: a table of all anchors is looked up at every second byte of a text, so that one pass finds the
// marks of all forms. Where a mark stands, what its form has before and after it is matched.

// stride is the distance of two lookups. A mark has stride neighbouring anchors, so a lookup hits one of them at any position.
const stride = 2

// An anchor is a pair of bytes in a mark.
type anchor struct {
	form   *compiled
	mark   string
	offset int // of the pair in the mark
}

// index is the table of forms, made ready for the search.
type index struct {
	pairs   [1 << 16]uint16 // by pair of bytes: index in anchors; mostly 0
	anchors [][]anchor
	runs    int // number of unbounded runs in the patterns
}

// compiled is a form with compiled patterns.
type compiled struct {
	*Form
	at            int // index in the table
	before, after []step
}

// table builds the index at the first use. That takes a fraction of a millisecond, which the start of the program avoids.
var table = sync.OnceValue(func() *index {
	t := &index{anchors: make([][]anchor, 1)}
	for i := range Forms {
		f := &compiled{Form: &Forms[i], at: i}
		f.before, f.after = t.compile(Forms[i].before), t.compile(Forms[i].after)
		slices.Reverse(f.before)
		for _, mark := range expand(Forms[i].mark) {
			t.add(f, mark)
		}
	}
	return t
})

// add adds a mark to the index at its rarest place.
func (t *index) add(f *compiled, mark string) {
	best := 0
	for o := 1; o+stride < len(mark); o++ {
		if frequency(mark[o:o+stride+1]) < frequency(mark[best:best+stride+1]) {
			best = o
		}
	}
	for o := best; o < best+stride; o++ {
		pair := uint16(mark[o])<<8 | uint16(mark[o+1])
		if t.pairs[pair] == 0 {
			t.pairs[pair] = uint16(len(t.anchors))
			t.anchors = append(t.anchors, nil)
		}
		list := &t.anchors[t.pairs[pair]]
		*list = append(*list, anchor{f, mark, o})
	}
}

// frequency orders pieces of a mark by how often their pairs of bytes occur in ordinary text, roughly.
func frequency(s string) (n int) {
	last := 0
	for _, c := range []byte(s) {
		weight := 1
		switch {
		case strings.IndexByte("etaoinsrhl ", c) >= 0:
			weight = 5
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', strings.IndexByte("/.-:", c) >= 0:
			weight = 3
		}
		n += last * weight
		last = weight
	}
	return n
}

// expand lists the marks of a form: alternatives are separated by bars, and a class stands for one of its characters.
func expand(marks string) []string {
	var out []string
	for one := range strings.SplitSeq(marks, "|") {
		all := []string{""}
		for one != "" {
			choice := one[:1]
			if end := strings.IndexByte(one, ']'); one[0] == '[' && end > 0 {
				choice, one = one[1:end], one[end:]
			}
			one = one[1:]
			var next []string
			for _, head := range all {
				for i := range len(choice) {
					next = append(next, head+choice[i:i+1])
				}
			}
			all = next
		}
		out = append(out, all...)
	}
	return out
}

// A step is a run of characters of one class, or a group that may be missing.
type step struct {
	class    *[256]bool
	min, max int // max below 0: unbounded
	run      int // of an unbounded run: its index among those of all forms
	group    []step
}

// compile parses a pattern: a sequence of classes, each with an optional repetition, and of groups in (…)?. Matching is greedy and does
// not backtrack, so a repeated class must not contain what follows it. A malformed pattern is an error in the table, which a test finds.
func (t *index) compile(pattern string) []step {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return t.steps(nil, re)
}

func (t *index) steps(out []step, re *syntax.Regexp) []step {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return out
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			out = t.steps(out, sub)
		}
		return out
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			out = append(out, step{class: classOf(r, r), min: 1, max: 1})
		}
		return out
	case syntax.OpCharClass:
		return append(out, step{class: classOf(re.Rune...), min: 1, max: 1})
	case syntax.OpQuest:
		if group := t.steps(nil, re.Sub[0]); len(group) > 1 {
			return append(out, step{group: group})
		}
		return t.repeat(out, re, 0, 1)
	case syntax.OpStar:
		return t.repeat(out, re, 0, -1)
	case syntax.OpPlus:
		return t.repeat(out, re, 1, -1)
	case syntax.OpRepeat:
		return t.repeat(out, re, re.Min, re.Max)
	default:
		panic(fmt.Sprintf("credential: %s has what patterns here do not have", re))
	}
}

func (t *index) repeat(out []step, re *syntax.Regexp, least, most int) []step {
	one := t.steps(nil, re.Sub[0])
	if len(one) != 1 || one[0].class == nil || one[0].min != 1 || one[0].max != 1 {
		panic(fmt.Sprintf("credential: %s repeats more than a class", re))
	}
	one[0].min, one[0].max = least, most
	if most < 0 {
		one[0].run = t.runs
		t.runs++
	}
	return append(out, one...)
}

// classOf returns the class of some ranges. It contains the bytes of characters beyond ASCII.
func classOf(ranges ...rune) *[256]bool {
	var c [256]bool
	for pair := range slices.Chunk(ranges, 2) {
		for r := pair[0]; r <= min(pair[1], 0xff); r++ {
			c[byte(r)] = true //nolint:gosec // at most 0xff
		}
	}
	return &c
}

// matcher searches one text.
type matcher struct {
	s     string
	spans []span
	runs  []extent // by step: the last long run, so that no byte is measured twice
	last  []int    // by form: the end of its last match
	cost  int      // bytes of measured runs
}

type extent struct{ from, to int }

// span is a match that may depend on its neighbour.
type span struct {
	Span
	at    int  // index of its form in the table
	glued bool // begins inside a word: it counts only if another match ends where it begins
}

// try matches a form around its mark s[from:to].
func (m *matcher) try(f *compiled, from, to int) {
	if m.last != nil && from < m.last[f.at] {
		return
	}
	var start, end int
	var ok bool
	if f.find != nil {
		start, end, ok = f.find(m, from, to)
	} else if start, ok = m.backward(f.before, from); ok {
		end, ok = m.forward(f.after, to)
	}
	if !ok || f.closed(m.s, end) {
		return
	}
	sp := span{Span{f.Form, start, end, end-start >= f.sure}, f.at, insideWord(m.s, start)}
	if !sp.glued {
		if m.last == nil {
			m.last = make([]int, len(Forms))
		}
		m.last[f.at] = end
	}
	if f.keeps {
		sp.Start = to
	}
	m.spans = append(m.spans, sp)
}

// closed reports whether a match of a form of fixed length continues, and so has another length.
func (f *compiled) closed(s string, end int) bool {
	if f.find != nil || len(f.after) == 0 {
		return false
	}
	if last := f.after[len(f.after)-1]; last.group != nil || last.min != last.max {
		return false
	}
	return end < len(s) && wordByte(s[end]) && wordByte(s[end-1])
}

func (m *matcher) forward(steps []step, at int) (int, bool) {
	for i := range steps {
		st := &steps[i]
		if st.group != nil {
			if end, ok := m.forward(st.group, at); ok {
				at = end
			}
			continue
		}
		end := at
		if st.max < 0 {
			end = m.run(st, at)
		} else {
			for end < len(m.s) && end-at < st.max && st.class[m.s[end]] {
				end++
			}
		}
		if end-at < st.min {
			return at, false
		}
		at = end
	}
	return at, true
}

// shortRun is the length up to which a run is measured again for each mark in it.
const shortRun = 64

// run returns the end of the run of a class at an offset.
func (m *matcher) run(st *step, at int) int {
	end := m.measure(st, at, min(len(m.s), at+shortRun))
	if end < at+shortRun {
		return end
	}
	if m.runs == nil {
		m.runs = make([]extent, table().runs)
	}
	known := &m.runs[st.run]
	if at < known.from || at >= known.to {
		*known = extent{at, m.measure(st, end, len(m.s))}
	}
	return known.to
}

func (m *matcher) measure(st *step, at, most int) int {
	end := at
	for end < most && st.class[m.s[end]] {
		end++
	}
	m.cost += end - at
	return end
}

// backward matches the steps before an offset. Each run is short or ends at the previous mark, so none is measured twice.
func (m *matcher) backward(steps []step, at int) (int, bool) {
	for _, st := range steps {
		start := at
		for start > 0 && (st.max < 0 || at-start < st.max) && st.class[m.s[start-1]] {
			start--
		}
		if at-start < st.min {
			return at, false
		}
		at = start
	}
	return at, true
}

// found returns the valid matches in order. Overlapping matches become one, of the form that comes first in the table.
func (m *matcher) found() []Span {
	slices.SortFunc(m.spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	var out []Span
	first := 0 // table index of the form of the last match
	for _, sp := range m.spans {
		n := len(out)
		switch {
		case sp.glued && (n == 0 || out[n-1].End < sp.Start):
		case n > 0 && sp.Start < out[n-1].End:
			last := &out[n-1]
			last.End, last.Sure = max(last.End, sp.End), last.Sure || sp.Sure
			if sp.at < first {
				last.Form, first = sp.Form, sp.at
			}
		default:
			out, first = append(out, sp.Span), sp.at
		}
	}
	return out
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// insideWord reports whether a word continues at an offset. The end of an escape is not part of a word: \n and \u003d of program text,
// %3D of a URL, terminal colors.
func insideWord(s string, at int) bool {
	if at == 0 || at == len(s) || !wordByte(s[at-1]) || !wordByte(s[at]) {
		return false
	}
	head := s[max(0, at-12):at]
	switch c := head[len(head)-1]; {
	case len(head) >= 2 && head[len(head)-2] == '\\' && strings.IndexByte("abefnrtv0", c) >= 0:
		return false
	case c == 'm' && strings.Contains(head, "\x1b["):
		return false
	case escapes(head, `%`, 2), escapes(head, `\x`, 2), escapes(head, `\u`, 4):
		return false
	}
	return true
}

// escapes reports whether a text ends in an escape with n hexadecimal digits.
func escapes(head, sign string, digits int) bool {
	at := len(head) - digits
	return at >= len(sign) && head[at-len(sign):at] == sign && len(bytes.Trim([]byte(head[at:]), "0123456789abcdefABCDEF")) == 0
}
