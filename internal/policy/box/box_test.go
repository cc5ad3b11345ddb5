package box

import "testing"

// TestNarrower: no sandbox is the widest, and the order of the two does not matter.
func TestNarrower(t *testing.T) {
	for _, tc := range []struct {
		a, b, want string
		ok         bool
	}{
		{"", "", "", true},
		{"", "project", "project", true},
		{"strict", "", "strict", true},
		{"strict", "permissive", "strict", true},
		{"standard", "permissive", "standard", true},
		{"standard", "standard", "standard", true},
		{"project", "project", "project", true},
		{"project", "standard", "standard", false},
		{"permissive", "project", "permissive", false},
	} {
		for _, pair := range [][2]string{{tc.a, tc.b}, {tc.b, tc.a}} {
			if got, ok := Narrower(pair[0], pair[1]); got != tc.want || ok != tc.ok {
				t.Errorf("Narrower(%q, %q) = %q, %t; want %q, %t", pair[0], pair[1], got, ok, tc.want, tc.ok)
			}
		}
	}
}
