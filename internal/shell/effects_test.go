package shell

import (
	"slices"
	"testing"

	"mycelium/internal/policy"
)

// TestEveryEffectHasABit: the set of effects here holds every effect that policy knows, and no other.
func TestEveryEffectHasABit(t *testing.T) {
	var known []string
	for _, e := range policy.Effects() {
		known = append(known, e.Name)
	}
	slices.Sort(known)
	if got := slices.Sorted(slices.Values(effectNames[:])); !slices.Equal(got, known) {
		t.Errorf("the bits are for\n%v, the effects are\n%v", got, known)
	}
	if got := (effectsEnd - 1).words(); len(got) != len(effectNames) {
		t.Errorf("all bits give %v", got)
	}
}
