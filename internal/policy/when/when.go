// Package when compiles the conditions of rules, which are written in CEL. A condition is checked once and then compiled from what the
// check has found, because parsing it takes most of the time.
package when

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	expr "google.golang.org/genproto/googleapis/api/expr/v1alpha1"
	"google.golang.org/protobuf/proto"
)

// costLimit bounds the work of one condition, in CEL's cost units: about ten thousand steps, or a millisecond.
const costLimit = 20_000

// Condition is one operand of the outermost "||" of a rule's `when`.
type Condition struct {
	Program cel.Program
	Scope   bool // it depends only on scope and tool
	Now     bool // it needs the time of the call
	Paths   bool // it looks at paths
	Hosts   bool // it looks at hosts
	Args    bool // it looks at arguments
	Facts   bool // it looks at what the call would do: paths, hosts or effects
	Who     bool // it looks at the id of the principal or of its parent
}

// isOfScope reports whether a variable says who asks for which tool. The other variables say what the call would do.
func isOfScope(name string) bool {
	switch name {
	case "tool", "server", "role", "skills", "principal", "parent", "stage", "annotations":
		return true
	}
	return false
}

// Compiler compiles conditions. The zero value is ready for use; it is not safe for concurrent use.
type Compiler struct{ env *cel.Env }

// begin makes the environment, which takes longer than a condition.
func (c *Compiler) begin() (err error) {
	if c.env == nil {
		if c.env, err = newEnv(); err != nil {
			return fmt.Errorf("when: %w", err)
		}
	}
	return nil
}

// Compile compiles a condition. It compiles the operands of the outermost "||" separately, so that an absent argument in one of them does
// not hide an error in another. checked is what [Compiler.Check] returned of it, or nil; what cannot be read of it does not count.
func (c *Compiler) Compile(text string, checked [][]byte) ([]*Condition, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	asts, err := parseChecked(checked)
	if err != nil || asts == nil {
		asts, err = c.check(text)
	}
	if err != nil {
		return nil, err
	}
	var list []*Condition
	for _, a := range asts {
		cond, err := c.condition(a)
		if err != nil {
			return nil, err
		}
		list = append(list, cond)
	}
	return list, nil
}

// Check parses and checks a condition, and returns what Compile takes for it; nil if the condition is wrong.
func (c *Compiler) Check(text string) (checked [][]byte) {
	if c.begin() != nil {
		return nil
	}
	asts, err := c.check(text)
	if err != nil {
		return nil
	}
	for _, a := range asts {
		message, err := cel.AstToCheckedExpr(a)
		if err != nil {
			return nil
		}
		data, err := proto.Marshal(message)
		if err != nil {
			return nil
		}
		checked = append(checked, data)
	}
	return checked
}

// parseChecked is the inverse of Check.
func parseChecked(data [][]byte) (list []*cel.Ast, err error) {
	for _, d := range data {
		var message expr.CheckedExpr
		if err := proto.Unmarshal(d, &message); err != nil {
			return nil, fmt.Errorf("when: %w", err)
		}
		checked, err := cel.CheckedExprToAstWithSource(&message, nil)
		if err != nil {
			return nil, fmt.Errorf("when: %w", err)
		}
		list = append(list, checked)
	}
	return list, nil
}

// check parses a condition and checks each of its operands.
func (c *Compiler) check(text string) (list []*cel.Ast, err error) {
	whole, iss := c.env.Parse(text)
	if iss.Err() != nil {
		return nil, fmt.Errorf("when: %s", celMessage(iss.Err()))
	}
	for _, e := range operands(whole.NativeRep().Expr()) {
		part, err := cel.ExprToString(e, whole.NativeRep().SourceInfo())
		if err != nil {
			return nil, fmt.Errorf("when: %w", err)
		}
		checked, iss := c.env.Compile(part)
		if iss.Err() != nil {
			return nil, fmt.Errorf("when: %s", celMessage(iss.Err()))
		}
		list = append(list, checked)
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

// condition makes a condition of an operand that was checked.
func (c *Compiler) condition(checked *cel.Ast) (*Condition, error) {
	if t := checked.OutputType(); t != cel.BoolType && t != cel.DynType {
		return nil, fmt.Errorf("when: the condition is a %s, not true or false", t)
	}
	prg, err := c.env.Program(checked, cel.CostLimit(costLimit))
	if err != nil {
		return nil, fmt.Errorf("when: %w", err)
	}
	cond := &Condition{Program: prg, Scope: true}
	for _, r := range checked.NativeRep().ReferenceMap() {
		if r.Name == "" {
			continue
		}
		cond.Scope = cond.Scope && isOfScope(r.Name)
		cond.Now = cond.Now || r.Name == "now"
		cond.Paths = cond.Paths || r.Name == "paths"
		cond.Hosts = cond.Hosts || r.Name == "hosts"
		cond.Args = cond.Args || r.Name == "args"
		cond.Facts = cond.Facts || r.Name == "paths" || r.Name == "hosts" || r.Name == "effects"
		cond.Who = cond.Who || r.Name == "principal" || r.Name == "parent"
	}
	return cond, nil
}

func newEnv() (*cel.Env, error) {
	str, list := cel.StringType, cel.ListType(cel.StringType)
	return cel.NewEnv(
		cel.ClearMacros(),
		cel.EnableMacroCallTracking(), // check prints the operands
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
