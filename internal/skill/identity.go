package skill

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // the zones of rules mean the same on a machine without a database of zones

	"mycelium/internal/yamlfile"
)

// identity checks the rules that give roles to agents. A skill with a faulty rule is invalid as a whole.
func (c *check) identity() {
	if c.skill.Identity == nil {
		return
	}
	c.skill.Identity.Check(time.LoadLocation, func(key, message, hint string) {
		rule, _, isRule := strings.Cut(key, "]")
		at := c.skill.at("identity." + rule + "]")
		if !isRule || at.line == 0 {
			at = c.skill.at("identity")
		}
		c.fault(at, hint, "identity.%s", message)
	})
}

// locateIdentity records the lines of the rules, for the validation.
func (r *reader) locateIdentity(f *yamlfile.File, file string) {
	if r.decl.Identity == nil {
		return
	}
	for i := range r.decl.Identity.SkillMatching {
		if line := f.Line(fmt.Sprintf("$.identity.skillMatching[%d]", i)); line > 0 {
			r.origin.keys[fmt.Sprintf("identity.skillMatching[%d]", i)] = position{file, line}
		}
	}
}
