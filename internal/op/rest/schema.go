package rest

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/op"
)

// schemas are the schemas (JSON Schema 2020-12) of Go types as package json writes them: a list is [] and a map {} where they are empty,
// never null.
type schemas struct {
	parts map[string]any // by name, for references
	types map[string]reflect.Type

	written map[reflect.Type]Written
}

// of is the schema of a type. A structure with a name is a part of its own, which is referred to.
func (s *schemas) of(t reflect.Type) (object, error) {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}, nil
	case reflect.TypeFor[jsontext.Value]():
		return object{}, nil // any value
	}
	if w, itself := s.written[t]; itself {
		if w.Is != nil {
			return maps.Clone(w.Is), nil
		}
		fields, err := s.structure(t)
		if w.Or != nil {
			fields = object{"anyOf": []any{w.Or, fields}}
		}
		return fields, err
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
	var fields []reflect.StructField
	for f := range op.Fields(t) {
		fields = append(fields, f)
	}
	out, err := s.members(fields)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", t, err)
	}
	maps.Copy(out["properties"].(object), s.written[t].With)
	if name == "" {
		return out, nil
	}
	s.parts[name] = out
	return object{"$ref": "#/components/schemas/" + name}, nil
}

// members is the schema of an object with these fields.
func (s *schemas) members(fields []reflect.StructField) (object, error) {
	properties, required := object{}, []string{}
	for _, f := range fields {
		member, optional := op.Member(f)
		if member == "" {
			continue
		}
		one, err := s.field(f)
		if err != nil {
			return nil, err
		}
		properties[member] = one
		if !optional {
			required = append(required, member)
		}
	}
	out := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	return out, nil
}

// field is the schema of a field with what its tags say.
func (s *schemas) field(f reflect.StructField) (object, error) {
	out, err := s.of(f.Type)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	limit(out, f)
	if about := f.Tag.Get("about"); about != "" {
		out["description"] = about
	}
	return out, nil
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
