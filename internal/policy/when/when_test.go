package when

import "testing"

func TestCheck(t *testing.T) {
	var c Compiler
	if got := c.Check("role == 'dev' || args.n > 3 || now < now"); len(got) != 3 {
		t.Errorf("%d operands", len(got))
	}
	if got := c.Check("role =="); got != nil {
		t.Error("a wrong condition was checked")
	}
}

// TestCompile: what a condition looks at is known, whether it was checked before or not.
func TestCompile(t *testing.T) {
	const text = "role == 'dev' || args.n > 3 || now < now || hosts.size() > paths.size() || parent == 'x'"
	want := []Condition{{Scope: true}, {Args: true}, {Now: true}, {Paths: true, Hosts: true, Facts: true}, {Scope: true, Who: true}}
	var c Compiler
	for name, checked := range map[string][][]byte{"now": nil, "before": c.Check(text), "damaged": {{1, 2, 3}}} {
		got, err := c.Compile(text, checked)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %v, %v", name, got, err)
		}
		for i, w := range want {
			g := *got[i]
			if g.Program = nil; g != w {
				t.Errorf("%s, operand %d: %+v", name, i, g)
			}
		}
	}
}
