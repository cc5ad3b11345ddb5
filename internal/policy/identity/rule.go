// Package identity decides which role an agent gets by the skills that its agent card lists (A2A). It is pure: what it knows of the world
// is the card and the time.
//
// Rules stand in skills, under identity. They are tried by priority, the highest first; of equal priorities, in the order of the sources
// and of the file. The first rule that matches gives the role.
package identity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Card is what is known of an agent. The caller has read it, and has verified its signature where the configuration wants one.
type Card struct {
	Name   string
	Skills []Skill
	Lacks  []string // what an agent card must have and this one has not, in words
}

// Skill is a skill that an agent says it has. A skill here has nothing to do with a skill of this program.
type Skill struct {
	ID   string
	Name string
	Tags []string
}

// Rule gives a role to the agents that it matches.
type Rule struct {
	Role            string   `yaml:"role" json:"role" about:"that an agent gets"`
	RequiredSkills  []string `yaml:"requiredSkills" json:"requiredSkills,omitempty" about:"that its card lists, all of them"`
	AnySkills       []string `yaml:"anySkills" json:"anySkills,omitempty" about:"of which its card lists some"`
	MinSkillMatch   *int     `yaml:"minSkillMatch" json:"minSkillMatch,omitempty" about:"how many of anySkills the card has to list; absent: 1"`
	ForbiddenSkills []string `yaml:"forbiddenSkills" json:"forbiddenSkills,omitempty" about:"that its card does not list"`
	Context         *Context `yaml:"context" json:"context,omitempty" about:"when the rule counts"`
	Priority        int      `yaml:"priority" json:"priority,omitempty" about:"the highest first; absent: 0"`
	Description     string   `yaml:"description" json:"description,omitempty" about:"for people"`
}

// Context says when a rule applies.
type Context struct {
	AllowedTime string `yaml:"allowedTime" json:"allowedTime,omitempty" about:"HH:MM-HH:MM, the end excluded; 22:00-06:00 runs over midnight"`
	AllowedDays []int  `yaml:"allowedDays" json:"allowedDays,omitempty" about:"0 is Sunday; a window belongs to the day on which it begins"`
	Timezone    string `yaml:"timezone" json:"timezone,omitempty" about:"a name such as Europe/Berlin; absent: UTC"`
}

// Declared is the key identity of a skill.
type Declared struct {
	SkillMatching []Rule `yaml:"skillMatching" json:"skillMatching,omitempty" about:"rules, of which the best one decides"`
	// TrustedPrefixes are beginnings of names. The rules apply only to agents whose name has one of them; absent: to every agent.
	TrustedPrefixes []string `yaml:"trustedPrefixes" json:"trustedPrefixes,omitempty" about:"beginnings of agents' names that count as known"`
}

// Zone finds a time zone by its name. It is [time.LoadLocation], which reads files.
type Zone func(name string) (*time.Location, error)

// Report takes a fault: the key below identity, what is wrong, and how to mend it.
type Report func(key, message, hint string)

// Check reports what is wrong with the declaration.
func (d *Declared) Check(zone Zone, bad Report) {
	for i := range d.SkillMatching {
		d.SkillMatching[i].check("skillMatching["+strconv.Itoa(i)+"]", zone, bad)
	}
	checkPrefixes(d.TrustedPrefixes, bad)
}

// checkPrefixes reports a prefix that every name has.
func checkPrefixes(prefixes []string, bad Report) {
	for i, p := range prefixes {
		if strings.TrimSpace(p) == "" {
			bad("trustedPrefixes["+strconv.Itoa(i)+"]", "an entry of trustedPrefixes is empty: every name begins with it",
				"write how the names of trusted agents begin, or leave the key out")
		}
	}
}

func (r *Rule) check(at string, zone Zone, bad Report) {
	if r.Role == "" {
		bad(at+".role", at+" gives no role", "write role: and the id of a role")
	}
	if len(r.RequiredSkills)+len(r.AnySkills) == 0 {
		bad(at, at+" names neither requiredSkills nor anySkills, so every agent would have its role",
			"name a skill; identity.defaultRole in mycelium.yaml is for agents that no rule matches")
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"requiredSkills", r.RequiredSkills}, {"anySkills", r.AnySkills}, {"forbiddenSkills", r.ForbiddenSkills}} {
		if slices.ContainsFunc(list.names, func(s string) bool { return strings.TrimSpace(s) == "" }) {
			bad(at+"."+list.key, at+"."+list.key+" has an empty entry", "write the id of a skill of the agent card")
		}
	}
	if m := r.MinSkillMatch; m != nil && (*m < 1 || *m > len(distinct(r.AnySkills))) {
		bad(at+".minSkillMatch", fmt.Sprintf("%s.minSkillMatch is %d, and anySkills names %d skills", at, *m, len(distinct(r.AnySkills))),
			"write a number from 1 to the number of skills in anySkills")
	}
	if r.Context == nil {
		return
	}
	if _, err := r.Context.window(zone); err != nil {
		bad(at+"."+err.key, at+"."+err.key+" "+err.message, err.hint)
	}
}

func distinct(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return slices.Compact(out)
}
