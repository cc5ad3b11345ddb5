package memory

import (
	"errors"
	"slices"

	"mycelium/internal/policy"
)

// The memory policies that a role may have besides none (requirements, A24).
const (
	isolated = "isolated"
	team     = "team"
	all      = "all"
)

// Access is what a scope may do with the memories. The zero Access may do nothing.
type Access struct {
	Own     string // the role of the scope, by id; "": there is none, and nothing may be done
	All     bool   // it may ask for the memories of any role
	holders []holder
}

// holder is what one principal may read: the caller, or an ancestor of it.
type holder struct {
	all   bool
	roles []string
}

// errNothing is what a scope without access gets to know.
func errNothing() error { return errors.New("this role has no memory") }

// maxAncestors bounds the chain of parents, as in package policy.
const maxAncestors = 32

// Of returns what a scope may do. The role of the scope, and every ancestor, needs a memory policy: a child never exceeds its parent.
func Of(p *policy.Policy, scope policy.Scope) Access {
	if p == nil {
		return Access{}
	}
	out := Access{All: true}
	for who, depth := &scope.Principal, 0; who != nil; who, depth = who.Parent, depth+1 {
		view, ok := p.Role(who.Role)
		if !ok || view.Broken != "" || depth > maxAncestors {
			return Access{}
		}
		h := holder{roles: []string{view.ID}}
		switch view.Memory {
		case all:
			h.all = true
		case team:
			for _, name := range view.MemoryTeams {
				if mate, known := p.Role(name); known {
					name = mate.ID
				}
				h.roles = append(h.roles, name)
			}
		case isolated:
		default:
			return Access{}
		}
		if depth == 0 {
			out.Own = view.ID
		}
		out.All = out.All && h.all
		out.holders = append(out.holders, h)
	}
	return out
}

// Reads reports whether the memory of a role may be read.
func (a Access) Reads(role string) bool {
	return a.Own != "" && !slices.ContainsFunc(a.holders, func(h holder) bool { return !h.all && !slices.Contains(h.roles, role) })
}

// Usual returns the roles whose memories are read where the caller names none: its own and those of its team, as far as every ancestor
// reads them too.
func (a Access) Usual() []string {
	var out []string
	if a.Own == "" {
		return out
	}
	for _, role := range a.holders[0].roles {
		if a.Reads(role) && !slices.Contains(out, role) {
			out = append(out, role)
		}
	}
	return out
}
