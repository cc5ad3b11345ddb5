package yamlfile

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// decoder decodes the values of one document and collects its problems.
type decoder struct {
	doc      *document
	aliases  map[string]string
	problems []policy.Problem
}

// selfDecoder is a type that decodes itself. The function decodes the value into its argument.
type selfDecoder interface {
	UnmarshalYAML(unmarshal func(any) error) error
}

// problemsError carries problems through an UnmarshalYAML method.
type problemsError struct{ problems []policy.Problem }

func (e *problemsError) Error() string { return e.problems[0].Message }

var (
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
)

func (d *decoder) report(n ast.Node, hint, format string, args ...any) {
	d.problems = append(d.problems, policy.Problem{Line: lineOf(n), Message: text.Flatten(fmt.Sprintf(format, args...)),
		Hint: text.Flatten(hint)})
}

// value decodes a node into v, which is settable. at is its path for messages ("grants.memory"); empty: the document.
func (d *decoder) value(node ast.Node, v reflect.Value, at string) {
	node, asText := d.untag(d.doc.resolve(node), at)
	if _, null := node.(*ast.NullNode); node == nil || null {
		return
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.value(node, v.Elem(), at)
		return
	}
	if v.CanAddr() {
		switch into := v.Addr().Interface().(type) {
		case selfDecoder:
			d.decodeSelf(node, into, at)
			return
		case encoding.TextUnmarshaler:
			d.text(node, into, v.Type(), at)
			return
		}
	}
	if v.Type() == durationType {
		d.duration(node, v, at)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(node, v, at)
	case reflect.Map:
		d.mapping(node, v, at)
	case reflect.Slice:
		d.list(node, v, at)
	case reflect.Interface:
		if v.NumMethod() > 0 {
			d.report(node, "", "%s cannot be read: nothing can be decoded into a %s (a fault of this program)", place(at), v.Type())
			return
		}
		if x := d.decodeAny(node, asText, at); x != nil {
			v.Set(reflect.ValueOf(x))
		}
	default:
		d.scalar(node, v, at)
	}
}

// untag returns the value behind a tag. Standard tags repeat the type of the value, except !!str, which makes text from a number.
func (d *decoder) untag(node ast.Node, at string) (inner ast.Node, asText bool) {
	for {
		tag, ok := node.(*ast.TagNode)
		if !ok {
			return node, asText
		}
		switch name := tag.GetToken().Value; name {
		case "!!str":
			asText = true
		case "!!int", "!!float", "!!bool", "!!null", "!!seq", "!!map", "!!timestamp":
		default:
			d.report(node, "remove the tag", "%s has the tag %s, which has no meaning here", place(at), name)
		}
		node = d.doc.resolve(tag.Value)
	}
}

// decodeSelf lets a type decode itself. Problems of attempts that the type does not return do not count.
func (d *decoder) decodeSelf(node ast.Node, into selfDecoder, at string) {
	err := into.UnmarshalYAML(func(inner any) error {
		target := reflect.ValueOf(inner)
		if target.Kind() != reflect.Pointer || target.IsNil() {
			return fmt.Errorf("decode into a %T: a non-nil pointer is needed", inner)
		}
		sub := &decoder{doc: d.doc, aliases: d.aliases}
		sub.value(node, target.Elem(), at)
		if len(sub.problems) > 0 {
			return &problemsError{sub.problems}
		}
		return nil
	})
	if err == nil {
		return
	}
	var known *problemsError
	if errors.As(err, &known) {
		d.problems = append(d.problems, known.problems...)
		return
	}
	d.report(node, text.HintOf(err), "%s: %v", place(at), err)
}

func (d *decoder) text(node ast.Node, into encoding.TextUnmarshaler, t reflect.Type, at string) {
	s, ok := scalarText(node)
	if !ok {
		d.mismatch(node, "text", at)
		return
	}
	if err := into.UnmarshalText([]byte(s)); err != nil {
		if t == timeType {
			d.report(node, "write it as 2026-01-31T09:00:00Z", "%s must be a time, not %q", place(at), s)
			return
		}
		d.report(node, "", "%s: %v", place(at), err)
	}
}

func (d *decoder) duration(node ast.Node, v reflect.Value, at string) {
	s, ok := scalarText(node)
	dur, err := time.ParseDuration(s)
	if !ok || err != nil {
		d.report(node, "write a number and a unit: 500ms, 30s, 5m, 2h", "%s must be a duration, not %s", place(at), describe(node))
		return
	}
	v.SetInt(int64(dur))
}

func (d *decoder) list(node ast.Node, v reflect.Value, at string) {
	seq, ok := node.(*ast.SequenceNode)
	if !ok {
		d.mismatch(node, "a list", at)
		return
	}
	out := reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values))
	for i, n := range seq.Values {
		where := fmt.Sprintf("%s[%d]", at, i)
		if inner := d.doc.resolve(n); inner == nil || inner.Type() == ast.NullType {
			// An entry without a value is a mistake; as an empty text it would have a different meaning in each list.
			d.report(n, "write a value, or remove the line", "%s is empty", place(where))
			continue
		}
		d.value(n, out.Index(i), where)
	}
	v.Set(out)
}

func (d *decoder) mapping(node ast.Node, v reflect.Value, at string) {
	if v.Type().Key().Kind() != reflect.String {
		d.report(node, "", "%s cannot be read: nothing can be decoded into a %s (a fault of this program)", place(at), v.Type())
		return
	}
	entries, ok := d.entries(node, at)
	if !ok {
		d.mismatch(node, "a map", at)
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMapWithSize(v.Type(), len(entries)))
	}
	for _, e := range entries {
		elem := reflect.New(v.Type().Elem()).Elem()
		d.value(e.value, elem, join(at, e.key))
		v.SetMapIndex(reflect.ValueOf(e.key).Convert(v.Type().Key()), elem)
	}
}

func (d *decoder) structure(node ast.Node, v reflect.Value, at string) {
	entries, ok := d.entries(node, at)
	if !ok {
		d.mismatch(node, "a map", at)
		return
	}
	fields := map[string]reflect.Value{}
	var names []string
	collect(v, fields, &names)
	given := map[string]entry{}
	for _, e := range entries {
		key := e.key
		field, known := fields[key]
		if meant, ok := d.aliases[key]; ok && !known {
			if field, known = fields[meant]; known {
				key = meant
			}
		}
		if !known {
			d.unknownKey(e, names, at)
			continue
		}
		if first, twice := given[key]; twice {
			d.report(e.keyNode, "keep one of them", "the keys %q (line %d) and %q are the same", first.key, first.line, e.key)
			continue
		}
		given[key] = e
		d.value(e.value, field, join(at, e.key))
	}
}

func (d *decoder) unknownKey(e entry, names []string, at string) {
	all := slices.Clone(names)
	for alias, meant := range d.aliases {
		if slices.Contains(names, meant) && len(alias) > 2 {
			all = append(all, alias)
		}
	}
	slices.Sort(all)
	hint := ""
	if near := text.Nearest(e.key, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	} else if near := text.Nearest(e.key, all); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	} else if len(names) > 0 {
		slices.Sort(names)
		hint = "known keys: " + strings.Join(names, ", ")
	}
	in := ""
	if at != "" {
		in = " in " + at
	}
	d.report(e.keyNode, hint, "unknown key %q%s", e.key, in)
}

// collect finds the fields of a struct and of its inlined structs, by their names in a file.
func collect(v reflect.Value, fields map[string]reflect.Value, names *[]string) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		inline := strings.Contains(options, "inline") || f.Anonymous && name == ""
		if inline && f.Type.Kind() == reflect.Struct {
			collect(v.Field(i), fields, names)
			continue
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		if _, taken := fields[name]; !taken {
			fields[name] = v.Field(i)
			*names = append(*names, name)
		}
	}
}

// entry is one key of a map with its value.
type entry struct {
	key     string
	line    int
	keyNode ast.Node
	value   ast.Node
}

// entries lists the keys of a map, with merged ones ("<<"), and reports duplicates. It returns false if the node is not a map.
func (d *decoder) entries(node ast.Node, at string) ([]entry, bool) {
	node = d.doc.resolve(node)
	var values []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, false
	}
	var out, merged []entry
	seen := map[string]int{}
	for _, v := range values {
		if v.Key.IsMergeKey() {
			merged = append(merged, d.merge(v, at)...)
			continue
		}
		key, ok := d.keyText(v.Key)
		if !ok {
			d.report(v.Key, "write the key as text", "%s has a key that is not text", place(at))
			continue
		}
		line := lineOf(v.Key)
		if first, twice := seen[key]; twice {
			d.report(v.Key, "keep one of them", "the key %q is given twice (first on line %d)", key, first)
			continue
		}
		seen[key] = line
		out = append(out, entry{key, line, v.Key, v.Value})
	}
	for _, e := range merged { // a key of the map itself counts before merged ones, and an earlier merge before a later one
		if _, taken := seen[e.key]; !taken {
			seen[e.key] = e.line
			out = append(out, e)
		}
	}
	return out, true
}

// merge lists the keys that "<<" adds.
func (d *decoder) merge(v *ast.MappingValueNode, at string) []entry {
	sources := []ast.Node{v.Value}
	if seq, ok := d.doc.resolve(v.Value).(*ast.SequenceNode); ok {
		sources = seq.Values
	}
	var out []entry
	for _, s := range sources {
		entries, ok := d.entries(s, at)
		if !ok {
			d.report(v.Key, "write << with an alias of a map", "%s: << merges a value that is not a map", place(at))
		}
		out = append(out, entries...)
	}
	return out
}

func (d *decoder) keyText(key ast.Node) (string, bool) {
	if k, ok := key.(*ast.MappingKeyNode); ok {
		key = k.Value
	}
	key, _ = d.untag(d.doc.resolve(key), "")
	return scalarText(key)
}
