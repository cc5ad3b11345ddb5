package policy

import (
	"errors"
	"strings"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"

	"mycelium/internal/policy/when"
)

// scopeOnly reports whether the conditions depend only on scope and tool.
func scopeOnly(list []*when.Condition) bool {
	for _, c := range list {
		if !c.Scope {
			return false
		}
	}
	return true
}

// evalWhen evaluates the condition of a rule. It copies what it needs, so that calls without conditions stay off the heap.
func (r *rule) evalWhen(p *Policy, v *view, c *Call, part *Part) verdict {
	in := input{p: p, role: v.role.view.ID, principal: v.id, parent: v.parent, stage: v.stage, item: c.Item, args: c.Args, dir: c.Facts.Dir,
		part: *part, time: c.Time, adapter: &adapter{}}
	active := v.active.words()
	for i := range v.p.skills {
		if active.has(i) && !v.p.skills[i].internal {
			in.skills = append(in.skills, v.p.skills[i].name)
		}
	}
	got := misses
	for _, cond := range r.when {
		switch evalCondition(cond, &in, r.effect == Allow) {
		case matches:
			return matches
		case fails:
			got = fails
		case misses:
		}
	}
	return got
}

// evalCondition evaluates one operand.
func evalCondition(cond *when.Condition, in *input, allow bool) verdict {
	if cond.Now && in.time.IsZero() {
		return fails
	}
	if allow && (cond.Paths && (len(in.part.Paths) == 0 || in.unresolved()) || cond.Hosts && len(in.part.Hosts) == 0) {
		return misses // an allow rule needs at least one value, and all() of an empty list is true in CEL
	}
	in.adapter.absent = false
	val, _, err := cond.Program.Eval(in)
	if err != nil {
		var cancelled interpreter.EvalCancelledError
		if in.adapter.absent && !errors.As(err, &cancelled) && strings.Contains(err.Error(), "no such overload") {
			return misses // the condition uses an absent argument
		}
		return fails
	}
	switch val {
	case types.True:
		return matches
	case types.False:
		return misses
	}
	if in.adapter.absent && val == types.NullValue {
		return misses
	}
	return fails
}

// input resolves the variables of a condition; it is the activation of one evaluation.
type input struct {
	p                        *Policy
	role                     string
	skills                   []string
	principal, parent, stage string
	item                     Item
	args                     Args
	dir                      string
	part                     Part
	time                     time.Time
	adapter                  *adapter
}

// Parent implements interpreter.Activation. There is no parent.
func (in *input) Parent() interpreter.Activation { return nil }

// ResolveName is the value of a variable.
func (in *input) ResolveName(name string) (any, bool) {
	switch name {
	case "tool":
		return in.item.String(), true
	case "server":
		return in.item.Server, true
	case "role":
		return in.role, true
	case "skills":
		return in.skills, true
	case "principal":
		return in.principal, true
	case "parent":
		return in.parent, true
	case "stage":
		return in.stage, true
	case "args":
		return in.adapter.NativeToValue(map[string]any(in.args)), true
	case "paths":
		return in.paths(), true
	case "effects":
		return in.effects(), true
	case "hosts":
		return in.part.Hosts, true
	case "dir":
		return in.dir, true
	case "annotations":
		return in.annotations(), true
	case "now":
		return in.time, true
	}
	return nil, false
}

// paths are the cleaned and the resolved form of every path, and the written form of a path that has no other.
func (in *input) paths() []string {
	var list []string
	for i := range in.part.Paths {
		p := &in.part.Paths[i]
		clean := p.Clean
		if clean == "" {
			clean = orElse(cleanPath(in.dir, p.Raw), p.Raw)
		}
		list = append(list, clean)
		if p.Resolved != "" && p.Resolved != clean {
			list = append(list, p.Resolved)
		}
	}
	return list
}

func (in *input) unresolved() bool {
	for i := range in.part.Paths {
		if in.part.Paths[i].Resolved == "" {
			return true
		}
	}
	return false
}

func (in *input) effects() []string {
	m := factMaker{part: Part{Effects: append([]string(nil), in.part.Effects...)}}
	for i := range in.part.Paths {
		m.effect(string(in.part.Paths[i].Access))
	}
	if len(in.part.Unclear) > 0 {
		m.effect("unclear")
	}
	return m.part.Effects
}

func (in *input) annotations() map[string]bool {
	var notes Annotations
	if e := in.p.items[in.item]; e != nil {
		notes = e.notes
	}
	all := make(map[string]bool, len(hintDefaults))
	for _, d := range hintDefaults {
		all[d.name], _ = notes.hint(d.name)
	}
	return all
}

// adapter turns arguments into CEL values. A lookup of an absent key gives null and sets absent.
type adapter struct{ absent bool }

// NativeToValue implements types.Adapter.
func (a *adapter) NativeToValue(v any) ref.Val {
	switch v := v.(type) {
	case map[string]any:
		return &argsMap{Mapper: types.NewStringInterfaceMap(a, v), adapter: a}
	case []any:
		return types.NewDynamicList(a, v)
	case Number:
		return types.NewErr("the number %s is too large or too fine", string(v))
	}
	return types.DefaultTypeAdapter.NativeToValue(v)
}

// argsMap is a map of arguments in which an absent key is null: args.mode != "safe" is true where there is no mode.
type argsMap struct {
	traits.Mapper
	adapter *adapter
}

// Find looks a key up.
func (m *argsMap) Find(key ref.Val) (ref.Val, bool) {
	v, ok := m.Mapper.Find(key)
	if !ok && v == nil {
		m.adapter.absent = true
		return types.NullValue, true
	}
	return v, ok
}

// Get looks a key up.
func (m *argsMap) Get(key ref.Val) ref.Val {
	v, _ := m.Find(key)
	return v
}
