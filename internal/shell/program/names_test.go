package program

import (
	"os"
	"strings"
	"testing"
)

// TestNamesOfManuals: each name to which a manual gives a meaning stands in the table of variables, and is harmless only because the table
// says so.
func TestNamesOfManuals(t *testing.T) {
	text, err := os.ReadFile("testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		shell, names, ok := strings.Cut(line, ": ")
		if !ok || line[0] == '#' {
			continue
		}
		for name := range strings.FieldsSeq(names) {
			n++
			if _, known := namesOfShells(name); !known && IsPlainVariable(name) {
				t.Errorf("%s gives %s a meaning, and the table does not have it", shell, name)
			}
		}
	}
	if n < 250 {
		t.Errorf("%d names, want 250", n)
	}
	for _, name := range []string{"BASH_OF_A_LATER_VERSION", "ZSH_X", "zsh_x"} {
		if IsPlainVariable(name) {
			t.Errorf("%s is plain", name)
		}
	}
	for _, name := range []string{"x", "HOMES", "BASHED", "file", "i"} {
		if !IsPlainVariable(name) {
			t.Errorf("%s is not plain", name)
		}
	}
}
