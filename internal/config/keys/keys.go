// Package keys lists the keys of a file that people write, from the type into which the program reads it.
package keys

import (
	"encoding"
	"reflect"
	"strings"

	"mycelium/internal/op"
)

// Key is a key of a file.
type Key struct {
	Path    string // dotted, as server.addr; NAME stands for a name that people choose
	Restart bool   // a running daemon has to be started again for it, by the tag restart of the field or of a section that has it
}

// Of lists the keys of a type, in their order.
func Of(t reflect.Type) (all []Key) {
	walk(t, Key{}, func(k Key) { all = append(all, k) })
	return all
}

func walk(t reflect.Type, at Key, visit func(Key)) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Map && section(t.Elem()):
		at.Path += ".NAME"
		walk(t.Elem(), at, visit)
	case !section(t):
		at.Path = strings.TrimPrefix(at.Path, ".")
		visit(at)
	default:
		for f := range op.Fields(t) {
			name, _ := op.Member(f, "yaml")
			if name == "" || f.Tag.Get("yaml") == "" {
				continue
			}
			_, restart := f.Tag.Lookup("restart")
			walk(f.Type, Key{at.Path + "." + name, at.Restart || restart}, visit)
		}
	}
}

// section reports whether values of a type have keys of their own in the file.
func section(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}
