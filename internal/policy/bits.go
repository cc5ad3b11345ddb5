package policy

import mathbits "math/bits"

// bits is a set of small numbers. Sets of one kind (skills, roles, rules) have one length.
type bits []uint64

func newBits(n int) bits { return make(bits, (n+63)/64) }

func (b bits) set(i int) { b[i/64] |= 1 << (i % 64) }

func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// meets reports whether the two sets share a member.
func (b bits) meets(o bits) bool {
	for i, w := range b {
		if w&o[i] != 0 {
			return true
		}
	}
	return false
}

func (b bits) union(o bits) {
	for i, w := range o {
		b[i] |= w
	}
}

// lowest is the smallest member of one word of a set.
func lowest(w uint64) int { return mathbits.TrailingZeros64(w) }

// skillSet is a set of skills that lives in the value itself, as long as there are at most 256 of them, so that a decision
// needs no heap.
type skillSet struct {
	few  [4]uint64
	many bits // in use if there are more
	size int  // in words
}

// reset makes it an empty set of that many words.
func (s *skillSet) reset(words int) {
	s.size = words
	if words > len(s.few) {
		s.many = make(bits, words)
	}
}

func (s *skillSet) words() bits {
	if s.size > len(s.few) {
		return s.many
	}
	return s.few[:s.size]
}
