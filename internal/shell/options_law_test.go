package shell_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/shell/program"
	"mycelium/internal/shell/program/table"
)

// trustedOptions has the rows, one a line, for which an option that they do not name and whose value is a path changes nothing, and why. The list
// only ever gets shorter.
const trustedOptions = "program/table/testdata/trusted.txt"

// TestUnnamedPathIsUnclear: for every row, an option that it does not name and whose value is a path, attached or in the next word, makes the
// command unclear, or the path counts as written or executed, or the program asks whatever its options are, by the shipped rules. Otherwise an option that nobody
// looked at could write what it names.
func TestUnnamedPathIsUnclear(t *testing.T) {
	text, err := os.ReadFile(trustedOptions)
	if err != nil {
		t.Fatal(err)
	}
	trusted := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if name, reason, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && name[0] != '#' {
			if reason == "" {
				t.Errorf("%s has no reason", name)
			}
			trusted[name] = true
		}
	}
	p, scope := shippedPolicy(t)
	known := func(command string) bool {
		c := bashCall(scope, command)
		if p.Decide(c).Effect != policy.Allow {
			return false
		}
		for _, part := range c.Facts.Parts {
			if slices.ContainsFunc(part.Paths, func(at policy.Path) bool { return at.Access != policy.Read && strings.HasSuffix(at.Clean, "/zq/f") }) {
				return false
			}
		}
		return true
	}
	rows := 0
	var walk func(at, command string, rows []program.Row)
	walk = func(at, command string, list []program.Row) {
		for i := range list {
			row := &list[i]
			if row.Same != "" {
				continue
			}
			rows++
			name, first := at+row.Name, command+strings.SplitN(row.Name, "|", 2)[0]
			fails := known(first+" --zqzq=zq/f") || known(first+" --zqzq zq/f")
			switch {
			case fails && !trusted[name]:
				t.Errorf("%s: an option that the row does not name may write the path that is its value", name)
			case !fails && trusted[name]:
				t.Errorf("%s asks, and %s says that it does not", name, trustedOptions)
			}
			delete(trusted, name)
			walk(name+" ", first+" ", row.Subs)
		}
	}
	for family := range table.Families() {
		walk("", "", family)
	}
	for name := range trusted {
		t.Errorf("%s in %s is no row", name, trustedOptions)
	}
	t.Logf("%d rows and subcommands", rows)
}
