package skill

import (
	"strings"

	"mycelium/internal/yamlfile"
)

// The names that requires may have. A program is looked for in PATH and a module is handed to python3, so neither has a path in it.
var (
	programPattern = yamlfile.Word{First: yamlfile.Lower + yamlfile.Upper + yamlfile.Digits,
		Rest: yamlfile.Lower + yamlfile.Upper + yamlfile.Digits + "+._-", Most: 64}
	modulePattern = yamlfile.Word{First: yamlfile.Lower + yamlfile.Upper + "_",
		Rest: yamlfile.Lower + yamlfile.Upper + yamlfile.Digits + "_", Most: 64}
)

// requires checks the form of what a skill requires. Whether it is there is no matter of the declaration.
func (c *check) requires() {
	at := c.skill.at("requires")
	for _, entry := range c.skill.Requires.Programs {
		for name := range strings.SplitSeq(entry, "|") {
			if !programPattern.MatchString(name) {
				c.fault(at, "write its name as on a command line, without a path: pdftotext",
					"requires.programs: %q is not the name of a program", name)
			}
		}
	}
	for _, entry := range c.skill.Requires.Python {
		for name := range strings.SplitSeq(entry, "|") {
			if !modulePattern.MatchString(name) {
				c.fault(at, "write the first part of what import takes: openpyxl", "requires.python: %q is not the name of a module", name)
			}
		}
	}
}
