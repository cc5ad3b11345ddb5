package effect

import (
	"slices"
	"testing"

	"mycelium/internal/policy"
)

// TestEveryEffectHasABit: a set holds every effect that policy knows, and no other.
func TestEveryEffectHasABit(t *testing.T) {
	var known []string
	for _, e := range policy.Effects() {
		known = append(known, e.Name)
	}
	slices.Sort(known)
	if got := slices.Sorted(slices.Values(names[:])); !slices.Equal(got, known) {
		t.Errorf("the bits are for\n%v, the effects are\n%v", got, known)
	}
	if got := All.Names(); len(got) != len(names) {
		t.Errorf("all bits give %v", got)
	}
}
