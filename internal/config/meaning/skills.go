package meaning

import (
	"reflect"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/identity"
	"mycelium/internal/skill"
)

// skills compares the skills by name. Of a name that several folders declare, every change is unclear: the declarations bound each other,
// so that less in one of them can be more in the whole.
func (d *diff) skills() {
	for _, name := range skillNames(d.old, d.new) {
		was, is := d.old.declared(name), d.new.declared(name)
		switch {
		case len(was) == 1 && len(is) == 0:
			sure := !d.sensitive(name) && !d.controlSensitive()
			d.add(mark(sure, Unclear), place{file: was[0].File}, "skill ", name, " is gone: it ", grants(was[0]))
			d.identities(was[0], nil)
		case len(was) == 0 && len(is) == 1:
			d.add(Widens, place{file: is[0].File}, "skill ", name, " is new: it ", grants(is[0]))
			d.identities(nil, is[0])
		case len(was) == 1 && len(is) == 1 && was[0].Source == is[0].Source:
			d.skill(was[0], is[0])
		case !slices.EqualFunc(was, is, sameSkill):
			at := place{file: append(is, was...)[0].File}
			d.add(Unclear, at, "skill ", name, ", which several folders declare, changed")
		}
	}
}

// skillNames are the names of the skills of both sides, sorted.
func skillNames(sides ...side) []string {
	var out []string
	for _, s := range sides {
		for i := range s.Skills {
			out = append(out, s.Skills[i].Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (s side) declared(name string) []*skill.Skill {
	var out []*skill.Skill
	for i := range s.Skills {
		if s.Skills[i].Name == name {
			out = append(out, &s.Skills[i])
		}
	}
	return out
}

// sameSkill reports whether two declarations say the same.
func sameSkill(a, b *skill.Skill) bool {
	return a.Source == b.Source && len(differing(words(a), words(b))) == 0 &&
		reflect.DeepEqual(a.Grant, b.Grant)
}

// words is what a skill says beyond its grant, as a struct of its exported fields.
func words(s *skill.Skill) reflect.Value {
	return reflect.ValueOf(struct {
		DisplayName, Description string
		Triggers                 []string
		Commands                 []skill.Command
		Metadata                 skill.Metadata
		Identity                 *identity.Declared
		Instructions             string
		Sandbox                  string
		Requires                 skill.Requires
	}{s.DisplayName, s.Description, s.Triggers, s.Commands, s.Metadata, s.Identity, s.Instructions, s.Sandbox, s.Requires})
}

// grants says what a skill brings.
func grants(s *skill.Skill) string {
	var tools []string
	for _, list := range [][]string{s.AllowedTools, s.AllowedResources, s.AllowedPrompts} {
		for _, e := range list {
			tools = append(tools, toolName(strings.TrimPrefix(e, "?")))
		}
	}
	who := "the roles that list it"
	switch {
	case slices.Contains(s.AllowedRoles, "*"):
		who = "every role"
	case s.AllowedRoles != nil:
		who = "role " + list(s.AllowedRoles)
	}
	return "grants " + list(tools) + " to " + who
}

// skill compares two declarations of one skill.
func (d *diff) skill(was, is *skill.Skill) {
	d.grant(was, is)
	d.identities(was, is)
	at := place{file: is.File}
	fields := slices.DeleteFunc(differing(words(was), words(is)), func(key string) bool { return key == "identity" })
	if len(fields) > 0 {
		d.add(Unclear, at, "skill ", is.Name, ": its ", list(fields), " changed")
	}
	if state := d.old.states[was.Name]; state != skill.Valid && !reflect.DeepEqual(was.Grant, is.Grant) {
		d.add(Unclear, at, "skill ", is.Name, " took no effect until now, and perhaps does now")
	}
}

// grant compares what a skill grants and to whom.
func (d *diff) grant(was, is *skill.Skill) {
	at, name := place{file: is.File}, "skill "+is.Name
	entries := func(what string, a, b []string, news func(was, is []string) []string) {
		if slices.Equal(a, b) {
			return
		}
		more, fewer := news(a, b), news(b, a)
		if len(more) > 0 {
			d.add(Widens, at, name, " grants the ", what, " ", list(more))
		}
		if len(fewer) > 0 {
			d.add(Narrows, at, name, " no longer grants the ", what, " ", list(fewer))
		}
		if d.sensitive(is.Name) && len(gained(a, b)) > 0 && len(more) == 0 {
			d.add(Unclear, at, name, " names other ", what, ": a rule looks at whether the skill takes effect")
		}
	}
	entries("tools", was.AllowedTools, is.AllowedTools, newTools)
	entries("resources", was.AllowedResources, is.AllowedResources, gained[string])
	entries("prompts", was.AllowedPrompts, is.AllowedPrompts, newTools)
	d.memory(at, name, memoryOf(was.Grant), memoryOf(is.Grant), was.Grants.MemoryTeamRoles, is.Grants.MemoryTeamRoles)
	d.openTo(was, is)
}

// memoryOf is the memory that a skill grants.
func memoryOf(g policy.Grant) string {
	if g.Grants.Memory == "" {
		return memories[0]
	}
	return g.Grants.Memory
}

// openTo compares the roles for which a skill is meant. What that means for each role, roles tells; here is what it says of roles that do
// not have the skill now for another reason, and of memory, for which a role's name counts and "*" does not.
func (d *diff) openTo(was, is *skill.Skill) {
	a, b := was.AllowedRoles, is.AllowedRoles
	if slices.Equal(a, b) && (a == nil) == (b == nil) {
		return
	}
	at, memory := place{file: is.File}, memoryOf(is.Grant) != memories[0]
	told := func(role string) bool { return !memory && d.old.opens(role, is.Name) != d.new.opens(role, is.Name) }
	more, fewer := gained(a, b), gained(b, a)
	if a != nil && b != nil && !slices.Contains(more, "*") {
		more, fewer = slices.DeleteFunc(more, told), slices.DeleteFunc(fewer, told)
	}
	switch {
	case (a == nil) != (b == nil), len(more) > 0 && memory, slices.Contains(more, "*"):
		d.add(Unclear, at, "skill ", is.Name, " is for other roles: it ", grants(is))
	case len(more) > 0:
		d.add(Widens, at, "skill ", is.Name, " is also for role ", list(more))
	case len(fewer) > 0:
		sure := !d.sensitive(is.Name) && !d.controlSensitive()
		d.add(mark(sure, Unclear), at, "skill ", is.Name, " is no longer for role ", list(fewer))
	}
}

// opens reports whether a skill is open to a role in a version.
func (s side) opens(role, name string) bool { return slices.Contains(s.policy.OpenSkills(role), name) }
