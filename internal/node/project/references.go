package project

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mycelium/internal/gate/session"
)

// Reference is a place that names a role.
type Reference struct {
	File string `json:"file,omitempty"` // as shown; empty: no file, but a live session
	Line int    `json:"line,omitzero"`  // 0: not known
	What string `json:"what"`           // such as "allowedRoles of the skill reader"
}

// String is the reference for people: file:line: what.
func (r Reference) String() string {
	switch {
	case r.File == "":
		return r.What
	case r.Line == 0:
		return r.File + ": " + r.What
	}
	return fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.What)
}

// References returns every place that names a role by its id or one of its names: skills, other roles, rules, mycelium.yaml, and those of
// the sessions that have the role or may take it. A rule that looks at all roles by a pattern names none.
func (v *View) References(role string, live []session.Summary) (out []Reference) {
	called := []string{role}
	for _, r := range v.Project.Roles {
		if r.ID == role && r.Name != "" {
			called = append(called, r.Name)
		}
	}
	is := func(name string) bool { return slices.Contains(called, name) }
	add := func(file string, line int, what string) { out = append(out, Reference{file, line, what}) }

	for _, s := range v.Skills.All() {
		if i := slices.IndexFunc(s.AllowedRoles, is); i >= 0 {
			file, line := s.Place(fmt.Sprintf("allowedRoles[%d]", i))
			add(file, line, "allowedRoles of the skill "+s.Name)
		}
		if i := slices.IndexFunc(s.Grants.MemoryTeamRoles, is); i >= 0 {
			file, line := s.Place("grants.memoryTeamRoles")
			add(file, line, "grants.memoryTeamRoles of the skill "+s.Name)
		}
	}
	for _, r := range v.declarations() {
		if r.ID != role && is(r.Inherits) {
			file, line := r.Place("inherits")
			add(file, line, "inherits of the role "+r.ID)
		}
	}
	for i, r := range v.Project.Rules {
		name := r.Name
		if name == "" {
			name = fmt.Sprintf("#%d", i+1)
		}
		if slices.ContainsFunc(r.Role, is) {
			add(r.File, r.Line, "role of the rule "+name)
		}
		if slices.ContainsFunc(called, func(n string) bool { return quotes(r.When, n) }) {
			add(r.File, r.Line, "when of the rule "+name)
		}
	}
	for _, s := range namesIn(v.Project) {
		if s.Kind == "role" && is(s.Name) {
			add(s.File, s.Line, s.Key)
		}
	}
	if o := v.Project.File.Server.OAuth; o != nil {
		for _, claim := range slices.Sorted(maps.Keys(o.Roles)) {
			if is(o.Roles[claim]) {
				file, line := v.Project.Where("server.oauth.roles." + claim)
				add(file, line, "server.oauth.roles."+claim)
			}
		}
	}
	for _, s := range live {
		if is(s.Role) || slices.ContainsFunc(s.Roles, is) {
			add("", 0, "the live session "+s.ID)
		}
	}
	return out
}

// quotes reports whether a condition has a name as a text.
func quotes(when, name string) bool {
	return strings.Contains(when, `"`+name+`"`) || strings.Contains(when, "'"+name+"'")
}
