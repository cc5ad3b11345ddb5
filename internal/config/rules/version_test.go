package rules

import (
	"testing"

	"mycelium/internal/config/source"
)

// ClaudeCube writes the version as a text. Another version, of whatever type, is a fault.
func TestVersion(t *testing.T) {
	for version, good := range map[string]bool{"1": true, `"1"`: true, "'1'": true, "2": false, "abc": false, "1.5": false, "[1]": false,
		"true": false} {
		f, problems := Parse("rules.yaml", []byte("version: "+version+"\nrules: []\n"))
		if (f != nil) != good || source.Faulty(problems) == good {
			t.Errorf("version: %s: %v %v", version, f, problems)
		}
	}
}
