package policy

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// costLimit bounds the work of one condition, in CEL's cost units: about ten thousand steps, or a millisecond.
const costLimit = 20_000

// condition is one operand of the outermost "||" of a rule's `when`.
type condition struct {
	program cel.Program
	scope   bool // it depends only on scope and tool
	now     bool // it needs the time of the call
	paths   bool // it looks at paths
	hosts   bool // it looks at hosts
	args    bool // it looks at arguments
	who     bool // it looks at the id of the principal or of its parent
}

// scopeVars are the variables that say who asks for which tool. The other variables say what the call would do.
var scopeVars = map[string]bool{"tool": true, "server": true, "role": true, "skills": true, "principal": true, "parent": true,
	"stage": true, "annotations": true}

func newCelEnv() (*cel.Env, error) {
	str, list := cel.StringType, cel.ListType(cel.StringType)
	return cel.NewEnv(
		cel.ClearMacros(),
		cel.EnableMacroCallTracking(), // compileWhen prints the operands
		cel.Macros(append(withoutHas(), cel.GlobalMacro(operators.Has, 1, hasMacro))...),
		cel.Variable("tool", str), cel.Variable("server", str), cel.Variable("role", str), cel.Variable("skills", list),
		cel.Variable("principal", str), cel.Variable("parent", str), cel.Variable("stage", str),
		cel.Variable("args", cel.MapType(str, cel.DynType)),
		cel.Variable("paths", list), cel.Variable("effects", list), cel.Variable("hosts", list), cel.Variable("dir", str),
		cel.Variable("annotations", cel.MapType(str, cel.BoolType)),
		cel.Variable("now", cel.TimestampType),
	)
}

func withoutHas() []cel.Macro {
	var list []cel.Macro
	for _, m := range cel.StandardMacros {
		if m.Function() != operators.Has {
			list = append(list, m)
		}
	}
	return list
}

// hasMacro makes has(a.b) mean "b" in a, because looking up an absent argument is not an error here (see argsMap).
func hasMacro(eh cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *common.Error) {
	if args[0].Kind() != ast.SelectKind {
		return nil, eh.NewError(args[0].ID(), "invalid argument to has() macro")
	}
	s := args[0].AsSelect()
	return eh.NewCall(operators.In, eh.NewLiteral(types.String(s.FieldName())), s.Operand()), nil
}

// compileWhen compiles a condition. It compiles the operands of the outermost "||" separately, so that an absent argument in one of them
// does not hide an error in another.
func (c *compiler) compileWhen(text string) ([]*condition, error) {
	env, err := newCelEnv()
	if err != nil {
		return nil, fmt.Errorf("when: %w", err)
	}
	whole, iss := env.Parse(text)
	if iss.Err() != nil {
		return nil, fmt.Errorf("when: %s", celMessage(iss.Err()))
	}
	var list []*condition
	for _, e := range operands(whole.NativeRep().Expr()) {
		part, err := cel.ExprToString(e, whole.NativeRep().SourceInfo())
		if err != nil {
			return nil, fmt.Errorf("when: %w", err)
		}
		cond, err := compileCondition(env, part)
		if err != nil {
			return nil, err
		}
		list = append(list, cond)
	}
	return list, nil
}

// celMessage is the first line of CEL's report. The other lines draw the expression.
func celMessage(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimPrefix(first, "ERROR: <input>:")
}

func operands(e ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.LogicalOr {
		return []ast.Expr{e}
	}
	var list []ast.Expr
	for _, a := range e.AsCall().Args() {
		list = append(list, operands(a)...)
	}
	return list
}

func compileCondition(env *cel.Env, text string) (*condition, error) {
	checked, iss := env.Compile(text)
	if iss.Err() != nil {
		return nil, fmt.Errorf("when: %s", celMessage(iss.Err()))
	}
	if t := checked.OutputType(); t != cel.BoolType && t != cel.DynType {
		return nil, fmt.Errorf("when: the condition is a %s, not true or false", t)
	}
	prg, err := env.Program(checked, cel.CostLimit(costLimit))
	if err != nil {
		return nil, fmt.Errorf("when: %w", err)
	}
	cond := &condition{program: prg, scope: true}
	for _, r := range checked.NativeRep().ReferenceMap() {
		if r.Name == "" {
			continue
		}
		cond.scope = cond.scope && scopeVars[r.Name]
		cond.now = cond.now || r.Name == "now"
		cond.paths = cond.paths || r.Name == "paths"
		cond.hosts = cond.hosts || r.Name == "hosts"
		cond.args = cond.args || r.Name == "args"
		cond.who = cond.who || r.Name == "principal" || r.Name == "parent"
	}
	return cond, nil
}

// scopeOnly reports whether the conditions depend only on scope and tool.
func scopeOnly(list []*condition) bool {
	for _, c := range list {
		if !c.scope {
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
		switch cond.eval(&in, r.effect == Allow) {
		case matches:
			return matches
		case fails:
			got = fails
		case misses:
		}
	}
	return got
}

func (cond *condition) eval(in *input, allow bool) verdict {
	if cond.now && in.time.IsZero() {
		return fails
	}
	if allow && (cond.paths && (len(in.part.Paths) == 0 || in.unresolved()) || cond.hosts && len(in.part.Hosts) == 0) {
		return misses // an allow rule needs at least one value, and all() of an empty list is true in CEL
	}
	in.adapter.absent = false
	val, _, err := cond.program.Eval(in)
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
