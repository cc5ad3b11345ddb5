package meaning

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// roles compares what each role may have, with everything that it inherits.
func (d *diff) roles() {
	for _, id := range d.old.policy.Roles() {
		if _, still := d.new.policy.Role(id); !still {
			d.add(mark(!d.hidesControl(id), Unclear), d.at("roles."+id), "role ", id, " is gone")
		}
	}
	for _, id := range d.new.policy.Roles() {
		is, _ := d.new.policy.Role(id)
		was, known := d.old.policy.Role(id)
		switch {
		case !known:
			d.add(Widens, d.at("roles."+id), "role ", id, " is new: it may use the skills ", list(is.Skills))
		case was.ID != id: // until now it was another name of a role
			d.add(Unclear, d.at("roles."+id), "role ", id, " is another: until now the name stood for ", was.ID)
		default:
			d.role(id, was, is)
		}
	}
}

// hidesControl reports whether somebody who loses a role of the old version may gain by it: control tools need no role, and the role may
// hide, refuse or bound them.
func (d *diff) hidesControl(role string) bool {
	v, _ := d.old.policy.Role(role)
	return d.controlSensitive() || slices.ContainsFunc(v.Denies, concernsControl) || len(d.old.policy.Bounds(role)) > 0 ||
		slices.ContainsFunc(declarations(d.old.Roles, role), func(r policy.Role) bool { return r.OnlyTools != nil })
}

// role compares a role of both versions.
func (d *diff) role(id string, was, is policy.RoleView) {
	at, name := d.at("roles."+id), "role "+id
	old, fresh := declarations(d.old.Roles, id), declarations(d.new.Roles, id)
	switch {
	case was.Broken != "" && is.Broken == "":
		d.add(Widens, at, name, " takes effect again; until now: ", was.Broken)
	case is.Broken != "" && was.Broken != is.Broken:
		d.add(Unclear, at, name, " would take no effect: ", is.Broken)
	}
	if !slices.Equal(was.Called, is.Called) || !slices.Equal(was.Chain, is.Chain) {
		d.add(Unclear, at, name, " is now ", list(is.Called), " for rules and limits; until now it was ", list(was.Called))
	}
	if len(old) != len(fresh) {
		d.add(Unclear, at, fmt.Sprintf("%s is declared in %d files instead of %d", name, len(fresh), len(old)))
	}
	d.openSkills(id, was, is)
	d.ceiling(id, old, fresh)
	d.hides(at, name, was.Denies, is.Denies)
	d.toolIDs(id, old, fresh)
	d.onlyTools(name, at, old, fresh)
	if more := gained(was.MayStart, is.MayStart); len(more) > 0 {
		d.add(Widens, at, name, " may start sub-agents in the roles ", list(more))
	}
	if fewer := gained(is.MayStart, was.MayStart); len(fewer) > 0 {
		d.add(Narrows, at, name, " no longer starts sub-agents in the roles ", list(fewer))
	}
	d.memory(at, name, was.Memory, is.Memory, was.MemoryTeams, is.MemoryTeams)
	d.bounds(id)
	if was.Promotion != is.Promotion {
		kind := Widens
		if policy.StricterPromotion(was.Promotion, is.Promotion) == is.Promotion && is.Promotion != "" {
			kind = Narrows
		}
		d.add(kind, at, name, " activates skills by ", quoted(cmp.Or(is.Promotion, "session.promotion")), " instead of ",
			quoted(cmp.Or(was.Promotion, "session.promotion")))
	}
	if was.Prompt != is.Prompt || !reflect.DeepEqual(was.Remote, is.Remote) {
		d.add(Unclear, at, name, " has other instructions")
	}
	if was.Name != is.Name || was.Description != is.Description {
		d.add(Unclear, at, name, " is described in other words")
	}
	if was.ToolSearch != is.ToolSearch {
		d.add(Unclear, at, name, " lists its tools in another way: toolSearch is now ", quoted(is.ToolSearch))
	}
	if !reflect.DeepEqual(was.Model, is.Model) {
		d.add(Unclear, at, name, " prefers another model")
	}
	for i := range min(len(old), len(fresh)) {
		if old[i].Inherits != fresh[i].Inherits {
			d.add(Unclear, at, name, " inherits ", quoted(fresh[i].Inherits), ", and no longer ", quoted(old[i].Inherits))
		}
	}
}

// declarations are the files of a role, as they declare it.
func declarations(all []policy.Role, id string) []policy.Role {
	var out []policy.Role
	for _, r := range all {
		if r.ID == id {
			out = append(out, r)
		}
	}
	return out
}

// openSkills compares the skills that a role may activate. What new and removed skills bring and take, skills tells.
func (d *diff) openSkills(id string, was, is policy.RoleView) {
	at := d.at("roles." + id)
	place := func(skill string) place {
		if at.file == "" {
			return d.at("skills." + skill)
		}
		return at
	}
	for _, s := range gained(was.Skills, is.Skills) {
		if d.old.has(s) {
			d.add(Widens, place(s), "role ", id, " gains skill ", s)
		}
	}
	for _, s := range gained(is.Skills, was.Skills) {
		if d.new.has(s) {
			sure := !d.sensitive(s) && (len(declarations(d.new.Roles, id)) > 0 || !d.controlSensitive())
			d.add(mark(sure, Unclear), place(s), "role ", id, " loses skill ", s)
		}
	}
}

// has reports whether a version declares a skill.
func (s side) has(name string) bool {
	for i := range s.Skills {
		if s.Skills[i].Name == name {
			return true
		}
	}
	return false
}

// ceiling compares allowedSkills beyond the skills that there are: what it says of skills that come later, and of memory.
func (d *diff) ceiling(id string, old, fresh []policy.Role) {
	for i := range min(len(old), len(fresh)) {
		was, is := old[i].AllowedSkills, fresh[i].AllowedSkills
		at, more := d.at("roles."+id), gained(was, is)
		switch {
		case was != nil && is == nil:
			d.add(Unclear, at, "role ", id, " no longer has a list of skills that it may use")
		case was == nil && is != nil && !slices.Contains(is, "*") && !d.grantsMemory():
			d.add(Narrows, at, "role ", id, " may use no other skills than ", list(is))
		case was == nil && is != nil || len(more) > 0 && (d.grantsMemory() || slices.ContainsFunc(more, d.comesLater)):
			d.add(Unclear, at, "role ", id, " may also use the skills ", list(more))
		case len(gained(is, was)) > 0 && len(more) == 0 && !slices.ContainsFunc(gained(is, was), d.old.has):
			d.add(Narrows, at, "role ", id, " may no longer use the skills ", list(gained(is, was)))
		}
	}
}

// comesLater reports whether a name in allowedSkills stands for a skill that does not exist yet.
func (d *diff) comesLater(skill string) bool { return !d.new.has(skill) }

// grantsMemory reports whether a skill that opens by allowedSkills grants memory, for which its name counts and "*" does not.
func (d *diff) grantsMemory() bool {
	for _, s := range d.new.Skills {
		if s.AllowedRoles == nil && s.Grants.Memory != "" {
			return true
		}
	}
	return false
}

// hides compares the patterns of what a role does not see.
func (d *diff) hides(at place, name string, was, is []policy.Pattern) {
	less, more := uncovered(was, is), uncovered(is, was)
	if len(less) > 0 {
		d.add(Widens, at, name, " no longer hides ", list(less))
	}
	if len(more) > 0 {
		d.add(Narrows, at, name, " hides ", list(more))
	}
}

// uncovered are the patterns that no other one covers, as texts.
func uncovered(list, others []policy.Pattern) []string {
	var out []string
	for _, p := range list {
		if !slices.ContainsFunc(others, func(o policy.Pattern) bool { return o.Covers(p) }) {
			out = append(out, toolName(p.String()))
		}
	}
	return out
}

// toolIDs compares the tools that a role has of its own. In a role that inherits they bound what it inherits, too.
func (d *diff) toolIDs(id string, old, fresh []policy.Role) {
	for i := range min(len(old), len(fresh)) {
		was, is, at := old[i].ToolIDs, fresh[i].ToolIDs, d.at("roles."+id)
		if slices.Equal(was, is) && (was == nil) == (is == nil) {
			continue
		}
		bounds := len(fresh) > 1 || old[i].Inherits != "" || fresh[i].Inherits != ""
		switch more, fewer := newTools(was, is), newTools(is, was); {
		case is == nil:
			d.add(mark(!bounds && !d.sensitive("role:"+id), Unclear), at, "role ", id, " no longer has tools of its own: ", list(fewer))
		case was == nil && bounds:
			d.add(Unclear, at, "role ", id, " sees no other tools than ", list(is))
		case len(more) > 0 || was == nil:
			d.add(Widens, at, "role ", id, " gains the tools ", list(more))
		case len(fewer) > 0:
			d.add(Narrows, at, "role ", id, " loses the tools ", list(fewer))
		}
	}
}

// onlyTools compares the only tools that a role sees, and the effects about which it asks.
func (d *diff) onlyTools(name string, at place, old, fresh []policy.Role) {
	for i := range min(len(old), len(fresh)) {
		was, is := old[i].OnlyTools, fresh[i].OnlyTools
		switch more, fewer := newTools(was, is), newTools(is, was); {
		case was == nil && is != nil:
			d.add(Narrows, at, name, " sees no other tools than ", list(is))
		case was != nil && is == nil:
			d.add(Widens, at, name, " may see other tools than ", list(was))
		case len(more) > 0:
			d.add(Widens, at, name, " may see the tools ", list(more))
		case len(fewer) > 0:
			d.add(Narrows, at, name, " no longer sees the tools ", list(fewer))
		}
		if less := gained(fresh[i].Ask, old[i].Ask); len(less) > 0 {
			d.add(Widens, at, name, " no longer asks about ", list(less))
		}
		if more := gained(old[i].Ask, fresh[i].Ask); len(more) > 0 { // a call that the fallback would refuse is asked about then
			d.add(Unclear, at, name, " asks about ", list(more))
		}
	}
}

// newTools are the entries of is that no entry of was covers.
func newTools(was, is []string) []string {
	var out []string
	for _, e := range is {
		if !slices.ContainsFunc(was, func(o string) bool { return coversTool(o, e) }) {
			out = append(out, toolName(strings.TrimPrefix(e, "?")))
		}
	}
	return out
}

// coversTool reports whether an entry of allowedTools or toolIds grants whatever another one grants.
func coversTool(o, e string) bool {
	o, e = strings.TrimPrefix(o, "?"), strings.TrimPrefix(e, "?")
	if o == e {
		return true
	}
	name, _, _ := strings.Cut(e, "(")
	wide, err := policy.ParsePattern(o)
	narrow, bad := policy.ParsePattern(name)
	return err == nil && bad == nil && wide.Covers(narrow)
}

// memories from the strictest to the widest.
var memories = []string{"none", "isolated", "team", "all"}

// memory compares grants of memory.
func (d *diff) memory(at place, name, was, is string, teamsWas, teamsAre []string) {
	more := gained(teamsWas, teamsAre)
	if was == is && len(more) == 0 && len(teamsWas) == len(teamsAre) {
		return
	}
	narrower := len(more) == 0 && slices.Index(memories, is) <= slices.Index(memories, was)
	words := []string{name, " has memory: ", is}
	if len(teamsAre) > 0 {
		words = append(words, " with ", list(teamsAre))
	}
	d.add(mark(narrower, Widens), at, append(words, "; until now ", was)...)
}

// bounds compares how often the calls of a role are made.
func (d *diff) bounds(id string) {
	key := func(b policy.Bound) string { return fmt.Sprint(b.Session, b.Tools) }
	is := map[string]policy.Bound{}
	for _, b := range d.new.policy.Bounds(id) {
		is[key(b)] = b
	}
	was := map[string]policy.Bound{}
	for _, b := range d.old.policy.Bounds(id) {
		was[key(b)] = b
	}
	for _, b := range slices.Concat(d.old.policy.Bounds(id), d.new.policy.Bounds(id)) {
		before, after := was[key(b)].Rates, is[key(b)].Rates
		if before == after {
			continue
		}
		was[key(b)] = is[key(b)] // told once
		what := "role " + id + " may make " + rates(after)
		if b.Tools != "" {
			what += " of " + toolName(b.Tools)
		}
		if b.Session {
			what += " in a session"
		}
		d.add(mark(after.And(before) == after, Widens), d.at("limits."+id), what, "; until now ", rates(before))
	}
}

// rates writes the figures of a limit.
func rates(r policy.Rates) string {
	var out []string
	for _, f := range []struct {
		n    policy.Count
		unit string
	}{{r.PerMinute, "a minute"}, {r.PerHour, "an hour"}, {r.PerDay, "a day"}, {r.Concurrent, "at once"}} {
		if f.n > 0 {
			out = append(out, fmt.Sprintf("%d calls %s", f.n, f.unit))
		}
	}
	if out == nil {
		return "any number of calls"
	}
	return strings.Join(out, ", ")
}
