package shell

import (
	"strings"
	"testing"
)

// TestTablesAreSorted: find searches by halves, a name stands once, and every other name leads to a row.
func TestTablesAreSorted(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range tables {
		for i := range table {
			name := table[i].name
			if seen[name] {
				t.Errorf("%s stands twice", name)
			}
			seen[name] = true
			if i > 0 && table[i-1].name >= name {
				t.Errorf("%s stands behind %s", name, table[i-1].name)
			}
			if find(name) == nil {
				t.Errorf("%s is not found", name)
			}
		}
	}
	if len(seen) < 300 {
		t.Errorf("%d programs", len(seen))
	}
}

// TestRolesAreKnown: a letter that role does not know would do nothing.
func TestRolesAreKnown(t *testing.T) {
	const letters = "vrwdxbmfhckugis23?"
	var check func(string, *program)
	check = func(at string, p *program) {
		at += " " + p.name
		for entry := range strings.FieldsSeq(p.opts) {
			if _, role, ok := strings.Cut(entry, "="); ok && (len(role) != 1 || !strings.Contains(letters, role)) {
				t.Errorf("%s: option %s", at, entry)
			}
		}
		if strings.Trim(p.operands, letters+"*") != "" || strings.Count(p.operands, "*") > 1 || strings.HasPrefix(p.operands, "*") {
			t.Errorf("%s: operands %s", at, p.operands)
		}
		if len(strings.Fields(p.instead))%2 != 0 {
			t.Errorf("%s: instead %s", at, p.instead)
		}
		for i := range p.subs {
			check(at, &p.subs[i])
		}
	}
	for _, table := range tables {
		for i := range table {
			check("", &table[i])
		}
	}
}
