// Package schema writes JSON Schemas (2020-12) of Go types: of the parameters and results of the API, as package json writes them, and of the
// files that people write, as package yamlfile reads them.
package schema

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/op"
)

// Object is a part of a schema.
type Object = map[string]any

// Written says how a type that reads or writes itself is written. The zero value: as its fields are.
type Written struct {
	Is   Object // the whole schema
	Or   Object // or this, in place of a structure
	With Object // the structure has these properties too
}

// Writer writes schemas. A structure with a name is written once, into Parts, and referred to. A list is [] and a map {} where they are empty,
// never null.
type Writer struct {
	Format  string // the tag that names a field: json or yaml
	Refs    string // where the parts are, as #/$defs/
	Closed  bool   // an object has the properties of its type and no other, and none is required, as in a file
	Written map[reflect.Type]Written
	Parts   Object // by name

	types map[string]reflect.Type
}

// Of is the schema of a type.
func (s *Writer) Of(t reflect.Type) (Object, error) {
	if s.Parts == nil {
		s.Parts, s.types = Object{}, map[string]reflect.Type{}
	}
	for s.Closed && t.Kind() == reflect.Pointer { // a key that is absent
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return Object{"type": "string", "format": "date-time"}, nil
	case reflect.TypeFor[jsontext.Value](), reflect.TypeFor[any]():
		return Object{}, nil // any value
	}
	if w, itself := s.Written[t]; itself {
		if w.Is != nil {
			return maps.Clone(w.Is), nil
		}
		fields, err := s.structure(t)
		if w.Or != nil {
			fields = Object{"anyOf": []any{w.Or, fields}}
		}
		return fields, err
	}
	if in, reads := reflect.New(t).Interface().(inFiles); reads && s.Format == "yaml" {
		if is := in.YAMLSchema(); is != nil {
			return is, nil
		}
		return s.structure(t)
	}
	if s.itself(t) {
		return nil, fmt.Errorf("%v writes itself: say above what it writes", t)
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return Object{"type": "string"}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return Object{"type": "boolean"}, nil
	case reflect.String:
		if s.Closed {
			return Object{"type": []string{"string", "number", "boolean"}}, nil // in a file each scalar is a text, too
		}
		return Object{"type": "string"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32,
		reflect.Uint64:
		return Object{"type": "integer"}, nil
	case reflect.Float32, reflect.Float64:
		return Object{"type": "number"}, nil
	case reflect.Pointer:
		return s.nullable(t.Elem())
	case reflect.Interface:
		return Object{}, nil
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return Object{"type": "string", "contentEncoding": "base64"}, nil
		}
		items, err := s.Of(t.Elem())
		return Object{"type": "array", "items": items}, err
	case reflect.Map:
		values, err := s.Of(t.Elem())
		return Object{"type": "object", "additionalProperties": values}, err
	case reflect.Struct:
		return s.structure(t)
	default:
		return nil, fmt.Errorf("%v has no schema", t)
	}
}

// inFiles is a type that reads itself from a file, and says how people write it there; nil: as its fields are.
type inFiles interface{ YAMLSchema() map[string]any }

// itself reports whether a type has a method that reads or writes it in the format.
func (s *Writer) itself(t reflect.Type) bool {
	if s.Format == "yaml" {
		return reflect.PointerTo(t).Implements(reflect.TypeFor[interface{ UnmarshalYAML(func(any) error) error }]())
	}
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[json.MarshalerTo]())
}

// nullable is the schema of a pointer.
func (s *Writer) nullable(t reflect.Type) (Object, error) {
	to, err := s.Of(t)
	if err != nil {
		return nil, err
	}
	if kind, plain := to["type"].(string); plain {
		to["type"] = []string{kind, "null"}
		return to, nil
	}
	return Object{"anyOf": []any{to, Object{"type": "null"}}}, nil
}

// structure is the schema of a structure.
func (s *Writer) structure(t reflect.Type) (Object, error) {
	name := s.name(t)
	if name != "" {
		if _, done := s.Parts[name]; done {
			return Object{"$ref": s.Refs + name}, nil
		}
		s.Parts[name] = Object{} // a type that contains itself refers to this
	}
	var fields []reflect.StructField
	for f := range op.Fields(t) {
		fields = append(fields, f)
	}
	out, err := s.Members(fields)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", t, err)
	}
	maps.Copy(out["properties"].(Object), s.Written[t].With)
	if name == "" {
		return out, nil
	}
	s.Parts[name] = out
	return Object{"$ref": s.Refs + name}, nil
}

// Members is the schema of an object with these fields.
func (s *Writer) Members(fields []reflect.StructField) (Object, error) {
	properties, required := Object{}, []string{}
	for _, f := range fields {
		member, optional := op.Member(f, s.Format)
		if member == "" || s.Closed && f.Tag.Get(s.Format) == "" {
			continue
		}
		if _, before := properties[member]; before { // as in Go, the outer one of two fields counts
			continue
		}
		one, err := s.Field(f)
		if err != nil {
			return nil, err
		}
		properties[member] = one
		if !optional && !s.Closed {
			required = append(required, member)
		}
	}
	out := Object{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	if s.Closed {
		out["additionalProperties"] = false
	}
	return out, nil
}

// Field is the schema of a field with its tags.
func (s *Writer) Field(f reflect.StructField) (Object, error) {
	out, err := s.Of(f.Type)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	if of := f.Tag.Get("of"); of != "" {
		out["enum"] = strings.Split(of, ",")
		if s.Closed {
			out = Object{"enum": append(out["enum"].([]string), "")} // an absent key is ""
		}
	}
	if s.Closed {
		out = Object{"anyOf": []any{out, Object{"type": "null"}}} // a key without a value is absent
	}
	if least, most, bounded := Bounds(f); bounded {
		out["minimum"], out["maximum"] = least, most
	}
	if about := f.Tag.Get("about"); about != "" {
		out["description"] = about
	}
	return out, nil
}

// Bounds are the least and the largest number that a field may have, by its tags least and most.
func Bounds(f reflect.StructField) (least, most int, bounded bool) {
	most, err := strconv.Atoi(f.Tag.Get("most"))
	least, _ = strconv.Atoi(f.Tag.Get("least")) // 0 if it has none
	return least, most, err == nil
}

// name is under which name a type is a part of the document; "" for a type without a name. Two types of one name are told apart by their
// packages.
func (s *Writer) name(t reflect.Type) string {
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
