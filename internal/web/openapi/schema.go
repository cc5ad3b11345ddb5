package openapi

import (
	"encoding"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/audit/index"
	"mycelium/internal/backend"
	"mycelium/internal/policy/box"
)

// schemas are the schemas (JSON Schema 2020-12) of Go types as package json writes them: a list is [] and a map {} where they are empty,
// never null.
type schemas struct {
	parts map[string]any // by name, for references
	types map[string]reflect.Type
}

// of is the schema of a type. A structure with a name is a part of its own, which is referred to.
func (s *schemas) of(t reflect.Type) (object, error) {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}, nil
	case reflect.TypeFor[jsontext.Value]():
		return object{}, nil // any value
	case reflect.TypeFor[backend.Duration]():
		return object{"type": "string"}, nil
	case reflect.TypeFor[box.Box]():
		grants, err := s.structure(t)
		return object{"anyOf": []any{object{"type": "string", "description": "the name of a profile"}, grants}}, err
	case reflect.TypeFor[index.Entry]():
		return s.structure(t)
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[json.MarshalerTo]()) {
		return nil, fmt.Errorf("%v writes itself: say above what it writes", t)
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return object{"type": "string"}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}, nil
	case reflect.String:
		return object{"type": "string"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32,
		reflect.Uint64:
		return object{"type": "integer"}, nil
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}, nil
	case reflect.Pointer:
		return s.nullable(t.Elem())
	case reflect.Interface:
		return object{}, nil
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64"}, nil
		}
		items, err := s.of(t.Elem())
		return object{"type": "array", "items": items}, err
	case reflect.Map:
		values, err := s.of(t.Elem())
		return object{"type": "object", "additionalProperties": values}, err
	case reflect.Struct:
		return s.structure(t)
	default:
		return nil, fmt.Errorf("%v has no schema", t)
	}
}

// nullable is the schema of a pointer.
func (s *schemas) nullable(t reflect.Type) (object, error) {
	to, err := s.of(t)
	if err != nil {
		return nil, err
	}
	if kind, plain := to["type"].(string); plain {
		to["type"] = []string{kind, "null"}
		return to, nil
	}
	return object{"anyOf": []any{to, object{"type": "null"}}}, nil
}

// structure is the schema of a structure.
func (s *schemas) structure(t reflect.Type) (object, error) {
	name := s.name(t)
	if name != "" {
		if _, done := s.parts[name]; done {
			return object{"$ref": "#/components/schemas/" + name}, nil
		}
		s.parts[name] = object{} // a type that contains itself refers to this
	}
	properties, required := object{}, []string{}
	for f := range fieldsOf(t) {
		member, optional := memberOf(f)
		if member == "" {
			continue
		}
		one, err := s.of(f.Type)
		if err != nil {
			return nil, fmt.Errorf("%v.%s: %w", t, f.Name, err)
		}
		limit(one, f)
		if about := f.Tag.Get("about"); about != "" {
			one["description"] = about
		}
		properties[member] = one
		if !optional {
			required = append(required, member)
		}
	}
	if t == reflect.TypeFor[index.Entry]() {
		properties["args"] = object{"description": "the arguments of the call, with secrets redacted; null: none"}
	}
	out := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	if name == "" {
		return out, nil
	}
	s.parts[name] = out
	return object{"$ref": "#/components/schemas/" + name}, nil
}

// name is under which name a type is a part of the document; "" for a type without a name. Two types of one name are told apart by their
// packages.
func (s *schemas) name(t reflect.Type) string {
	base := t.Name()
	if base == "" || strings.ContainsAny(base, "[]") {
		return ""
	}
	name := strings.ToUpper(base[:1]) + base[1:]
	if other, taken := s.types[name]; taken && other != t {
		from := t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:]
		name = strings.ToUpper(from[:1]) + from[1:] + name
	}
	s.types[name] = t
	return name
}

// fieldsOf are the fields of a structure that others see. Those of an embedded one stand among them.
func fieldsOf(t reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		if t == nil || t.Kind() != reflect.Struct {
			return
		}
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Anonymous && f.Tag.Get("json") == "" && f.Type.Kind() == reflect.Struct {
				for inner := range fieldsOf(f.Type) {
					if !yield(inner) {
						return
					}
				}
				continue
			}
			if f.IsExported() && !yield(f) {
				return
			}
		}
	}
}

// memberOf is the name of a field in JSON, "" if it is not written, and whether it may be left out.
func memberOf(f reflect.StructField) (name string, optional bool) {
	tag := f.Tag.Get("json")
	if tag == "-" {
		return "", false
	}
	name, options, _ := strings.Cut(tag, ",")
	if name == "" {
		name = f.Name
	}
	return name, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
}
