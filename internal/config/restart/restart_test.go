package restart

import (
	"encoding"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/config"
)

// inFiles calls f with each key of a type, by its path in the file. A map from names to sections has NAME for its names.
func inFiles(t reflect.Type, at string, f func(key string)) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Map && isSection(t.Elem()):
		inFiles(t.Elem(), at+".NAME", f)
	case !isSection(t):
		f(strings.TrimPrefix(at, "."))
	default:
		for i := range t.NumField() {
			name, rest, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
			switch {
			case rest == "inline":
				inFiles(t.Field(i).Type, at, f)
			case name != "" && name != "-":
				inFiles(t.Field(i).Type, at+"."+name, f)
			}
		}
	}
}

// isSection reports whether values of a type have keys of their own in the file.
func isSection(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// TestEveryKeyHasARow: the table has each key of the configuration, and no other.
func TestEveryKeyHasARow(t *testing.T) {
	var keys []string
	inFiles(reflect.TypeFor[config.File](), "", func(key string) { keys = append(keys, key) })
	keys = append(keys, "mcpServers.NAME.bare") // the file has it, and Project.Bare is what it says
	table := Keys()
	for _, key := range keys {
		if _, ok := table[key]; !ok {
			t.Errorf("%s has no row: is it in force after a reload, or does it need a restart?", key)
		}
	}
	for key := range table {
		if !slices.Contains(keys, key) {
			t.Errorf("%s has a row and is no key", key)
		}
	}
	if len(keys) < 100 {
		t.Errorf("only %d keys were found", len(keys))
	}
}

// TestWaits: whichever key that needs a restart differs is named, and no other.
func TestWaits(t *testing.T) {
	for key, need := range Keys() {
		if strings.Contains(key, "NAME") {
			continue // no such key needs a restart by the table
		}
		var now config.File
		change(reflect.ValueOf(&now).Elem(), key)
		var want []string
		if need == Restart {
			want = []string{key}
		}
		if got := Waits(config.File{}, now); !slices.Equal(got, want) {
			t.Errorf("%s changed: %v wait, want %v", key, got, want)
		}
		if got := Waits(now, now); got != nil {
			t.Errorf("nothing changed: %v", got)
		}
	}
}

// change gives a key another value than zero.
func change(at reflect.Value, key string) {
	name, rest, more := strings.Cut(key, ".")
	if at.Kind() == reflect.Pointer {
		at.Set(reflect.New(at.Type().Elem()))
		at = at.Elem()
	}
	for i := range at.NumField() {
		if tag, _, _ := strings.Cut(at.Type().Field(i).Tag.Get("yaml"), ","); tag != name {
			continue
		}
		if more {
			change(at.Field(i), rest)
			return
		}
		switch field := at.Field(i); field.Kind() { //nolint:exhaustive // the kinds that keys have
		case reflect.String:
			field.SetString("x")
		case reflect.Int, reflect.Int64:
			field.SetInt(1)
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.Map:
			field.Set(reflect.MakeMap(field.Type()))
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		}
		return
	}
}

// TestReferenceNamesWhatNeedsARestart: the list of the page of keys is that of the table.
func TestReferenceNamesWhatNeedsARestart(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/files.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(page), "<!-- restart -->")
	list, _, end := strings.Cut(list, "<!-- /restart -->")
	if !found || !end {
		t.Fatal("docs/reference/files.md has no list of the keys that need a restart")
	}
	named := []string{"args", "files", "server.oauth"} // the built-in server, and a section
	for key, need := range Keys() {
		if need != Restart || strings.HasPrefix(key, "server.oauth.") {
			continue
		}
		named = append(named, key)
		if !strings.Contains(list, "`"+key+"`") {
			t.Errorf("docs/reference/files.md does not say that %s needs a restart", key)
		}
	}
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1) {
		if !slices.Contains(named, m[1]) {
			t.Errorf("docs/reference/files.md says that %s needs a restart", m[1])
		}
	}
}
