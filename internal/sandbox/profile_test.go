package sandbox

import (
	"slices"
	"testing"

	"mycelium/internal/policy/box"
)

// TestProfilesOfRules: rules name the profiles that there are, in their order.
func TestProfilesOfRules(t *testing.T) {
	var names []string
	for _, p := range Profiles() {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, box.Shipped().Names()) {
		t.Errorf("the sandbox has %q, and rules may name %q", names, box.Shipped().Names())
	}
}
