// Package op is the shape of an operation. A row has the name of an operation, its parameters, its result, and who may do it; one
// function does it. The faces derive from the row: package cli makes its command, package socket serves it to commands and pages, and package
// rest to programs.
package op

import (
	"iter"
	"reflect"
	"slices"
	"strings"
)

// Op is the row of an operation. P is the type of its parameters and R that of its result: structs whose fields have a JSON name, and a tag
// about that describes the value, a tag of that lists its possible values, separated by commas, and tags least and most for a number. A field with
// the tag by is not sent by the caller: the face sets it to the device on which the person acts. Package cli has tags of its own.
type Op[P, R any] struct {
	Name  string // on the socket
	Act   string // the act of a person, for a refusal: agents may not do it; "": everybody may
	About string // a description in a few words
	Note  string // more for a caller; "": nothing
	Route Route  // where it stands in the API; the zero value: it does not
}

// Route is the place of an operation in the API.
type Route struct {
	Pattern string // method and path, as [http.ServeMux] has them
	ID      string // its name in programs that are made from the document of the API
	Tag     string // the group in which people find it
}

// None is the type of parameters and of a result that say nothing.
type None struct{}

// Caller is the process that asks, as the kernel reports it.
type Caller struct {
	PID, UID int
	// Notify sends the caller a notification while its call runs, and reports whether that was possible. nil: it cannot be told anything.
	Notify func(method string, params any) bool `json:"-"`
}

// Tell sends the caller a notification while its call runs. It reports whether that was possible.
func (c Caller) Tell(method string, params any) bool {
	return c.Notify != nil && c.Notify(method, params)
}

// Fields are the fields of a structure that others see. Those of an embedded one stand among them.
func Fields(t reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) { fields(t, nil, yield) }
}

// fields yields the fields with their index from the outermost structure, and reports whether more are wanted.
func fields(t reflect.Type, at []int, yield func(reflect.StructField) bool) bool {
	if t == nil || t.Kind() != reflect.Struct {
		return true
	}
	for i := range t.NumField() {
		f := t.Field(i)
		f.Index = slices.Concat(at, []int{i})
		if f.Anonymous && f.Type.Kind() == reflect.Struct && !named(f) {
			if !fields(f.Type, f.Index, yield) {
				return false
			}
		} else if f.IsExported() && !yield(f) {
			return false
		}
	}
	return true
}

// named reports whether an embedded structure is a member of its own.
func named(f reflect.StructField) bool {
	name, _ := Member(f, "json")
	in, _ := Member(f, "yaml")
	return f.Tag.Get("json") != "" && name != "" || f.Tag.Get("yaml") != "" && in != ""
}

// Member is the name of a field in a format, by its tag: json or yaml; "" if it is not written there. optional reports whether it may be left
// out.
func Member(f reflect.StructField, format string) (name string, optional bool) {
	tag := f.Tag.Get(format)
	name, options, _ := strings.Cut(tag, ",")
	switch {
	case name == "-", strings.Contains(options, "inline"):
		return "", false
	case name == "":
		name = f.Name
	}
	return name, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
}

// By reports whether a field is set by the face.
func By(f reflect.StructField) bool {
	_, by := f.Tag.Lookup("by")
	return by
}

// SetBy sets the fields of parameters that a face sets. params is a pointer to a struct.
func SetBy(params any, device string) {
	v := reflect.ValueOf(params).Elem()
	for f := range Fields(v.Type()) {
		if By(f) {
			v.FieldByIndex(f.Index).SetString(device)
		}
	}
}
