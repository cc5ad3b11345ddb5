package yamlfile

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"mycelium/internal/text"
)

// decodeAny decodes into an any: map[string]any, []any, string, bool, int64, uint64 or float64.
func (d *decoder) decodeAny(node ast.Node, asText bool, at string) any {
	switch n := node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		out := map[string]any{}
		d.mapping(node, reflect.ValueOf(&out).Elem(), at)
		return out
	case *ast.SequenceNode:
		out := make([]any, 0, len(n.Values))
		for i, v := range n.Values {
			var x any
			d.value(v, reflect.ValueOf(&x).Elem(), fmt.Sprintf("%s[%d]", at, i))
			out = append(out, x)
		}
		return out
	}
	s, ok := scalarText(node)
	if !ok {
		d.mismatch(node, "a value", at)
		return nil
	}
	if asText {
		return s
	}
	switch n := node.(type) {
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode:
		switch i := n.Value.(type) {
		case int64:
			return i
		case uint64:
			if i <= math.MaxInt64 {
				return int64(i)
			}
			return i
		}
	}
	if f, ok := number(node); ok {
		return f
	}
	return s
}

func (d *decoder) scalar(node ast.Node, v reflect.Value, at string) {
	s, isScalar := scalarText(node)
	switch v.Kind() {
	case reflect.String:
		if !isScalar {
			d.mismatch(node, "text", at)
			return
		}
		v.SetString(s)
	case reflect.Bool:
		b, ok := node.(*ast.BoolNode)
		if !ok {
			d.mismatch(node, "true or false", at)
			return
		}
		v.SetBool(b.Value)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, ok := integer(node)
		if !ok || v.OverflowInt(i) {
			d.mismatch(node, "a whole number", at)
			return
		}
		v.SetInt(i)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		i, ok := integer(node)
		if !ok || i < 0 || v.OverflowUint(uint64(i)) {
			d.mismatch(node, "a whole number, not negative", at)
			return
		}
		v.SetUint(uint64(i))
	case reflect.Float32, reflect.Float64:
		f, ok := number(node)
		if !ok {
			d.mismatch(node, "a number", at)
			return
		}
		v.SetFloat(f)
	default:
		d.report(node, "", "%s cannot be read: nothing can be decoded into a %s (a fault of this program)", place(at), v.Type())
	}
}

// mismatch reports a value of the wrong type.
func (d *decoder) mismatch(node ast.Node, want, at string) {
	hint := ""
	s, scalar := scalarText(node)
	_, isList := node.(*ast.SequenceNode)
	switch {
	case want == "a list" && scalar:
		hint = fmt.Sprintf("write it as a list: [%s]", strconv.Quote(s))
	case want == "text" && isList:
		hint = "write one value, without brackets or dash"
	case want == "true or false" && scalar:
		hint = "write true or false, without quotes"
	case want == "a map" && at == "":
		hint = "write key: value lines"
	}
	d.report(node, hint, "%s must be %s, not %s", place(at), want, describe(node))
}

// plainFloat reads a number with an exponent, as in JSON, which the parser takes for text.
var plainFloat = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

func number(node ast.Node) (float64, bool) {
	switch n := node.(type) {
	case *ast.FloatNode:
		return n.Value, true
	case *ast.IntegerNode:
		switch i := n.Value.(type) {
		case int64:
			return float64(i), true
		case uint64:
			return float64(i), true
		}
	case *ast.StringNode:
		if n.Token.Type == token.StringType && plainFloat.MatchString(n.Value) {
			f, err := strconv.ParseFloat(n.Value, 64)
			return f, err == nil
		}
	}
	return 0, false
}

func integer(node ast.Node) (int64, bool) {
	n, ok := node.(*ast.IntegerNode)
	if !ok {
		return 0, false
	}
	switch i := n.Value.(type) {
	case int64:
		return i, true
	case uint64:
		return int64(i), i <= math.MaxInt64
	}
	return 0, false
}

// scalarText returns a scalar as it is written. It returns false for a map, a list or null.
func scalarText(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// describe names the type of a value for messages.
func describe(node ast.Node) string {
	switch n := node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a map"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode, nil:
		return "empty"
	case *ast.BoolNode:
		return n.GetToken().Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "the number " + n.GetToken().Value
	}
	s, ok := scalarText(node)
	if !ok {
		return "this"
	}
	return "the text " + strconv.Quote(text.TruncateRunes(s, 40))
}

func place(at string) string {
	if at == "" {
		return "the file"
	}
	return at
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}
