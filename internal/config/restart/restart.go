// Package restart says of each key of mycelium.yaml whether a running daemon takes up a change of it, once it is accepted, or has to be
// restarted.
package restart

import (
	"reflect"
	"slices"
	"strings"

	"mycelium/internal/config"
	"mycelium/internal/config/keys"
)

// Keys are the keys of mycelium.yaml. The tag restart of a field says that a key needs one.
func Keys() []keys.Key {
	// The file has bare, and Project.Bare is what it says. args of a built-in server wait as well: see project.View.Waits.
	return append(keys.Of(reflect.TypeFor[config.File]()), keys.Key{Path: "mcpServers.NAME.bare"})
}

// Waits returns the keys that need a restart and differ between the file with which a daemon was started and that which is in force,
// sorted.
func Waits(started, now config.File) (waits []string) {
	for _, k := range Keys() {
		if !k.Restart {
			continue
		}
		was, is := valueOf(reflect.ValueOf(started), k.Path), valueOf(reflect.ValueOf(now), k.Path)
		if !reflect.DeepEqual(was, is) {
			waits = append(waits, k.Path)
		}
	}
	slices.Sort(waits)
	return waits
}

// valueOf returns the value of a key. In a section that is absent each key has its zero value. It returns nil if there is no such key.
func valueOf(at reflect.Value, key string) any {
	for name := range strings.SplitSeq(key, ".") {
		switch {
		case at.Kind() == reflect.Pointer && at.IsNil():
			at = reflect.Zero(at.Type().Elem())
		case at.Kind() == reflect.Pointer:
			at = at.Elem()
		}
		if at.Kind() != reflect.Struct {
			return nil
		}
		field, ok := at.Type().FieldByNameFunc(func(goName string) bool {
			f, _ := at.Type().FieldByName(goName)
			tag, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			return tag == name
		})
		if !ok {
			return nil
		}
		at = at.FieldByIndex(field.Index)
	}
	return at.Interface()
}

// How says how a daemon is started again. One that serves HTTP was started by a person, any other by a client.
func How(serves bool) string {
	if !serves {
		return "myc stop; the next client starts it again"
	}
	return "myc stop, and then start it again as before: myc serve --background"
}
