package policy

import "strings"

// roleRules are the ask rules of the roles that have the key ask, after the rules of files. A rule of a role is about every call with one
// of the effects, and about every tool of a server that does not say that it only reads: what that would do is not known.
func (c *compiler) roleRules() (out []Rule) {
	unknown := Names{}
	for _, e := range c.p.sorted {
		if reads, _ := e.notes.hint("readOnlyHint"); e.item.Kind == Tool && !e.control && !reads && knownTool(e.item) == unknownTool {
			unknown = append(unknown, e.item.String())
		}
	}
	for _, ro := range c.p.roles {
		var effects Values
		for _, d := range ro.decls {
			for _, name := range d.Ask {
				effects = append(effects, Value{Literal: &name})
			}
		}
		if len(effects) == 0 {
			continue
		}
		r := Rule{Name: rolePrefix + ro.view.ID, Action: Ask.String(), Role: Names{ro.view.ID}, Match: Fields{"effect": effects},
			Reason: "Calls of the role " + ro.view.ID + " that change, run or send something wait for a person."}
		out = append(out, r)
		if r.Name, r.Match, r.Tool = r.Name+":tools", nil, unknown; len(unknown) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// ofRole reports whether a rule is one of [compiler.roleRules]: no file has it.
func (r *rule) ofRole() bool { return r.src.File == "" && strings.HasPrefix(r.name, rolePrefix) }
