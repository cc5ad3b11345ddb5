package restart

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/config"
)

// TestKeys: the keys are found, and those that need a restart by the tags of their fields and of their sections.
func TestKeys(t *testing.T) {
	need := map[string]bool{}
	for _, k := range Keys() {
		if _, twice := need[k.Path]; twice {
			t.Errorf("%s is listed twice", k.Path)
		}
		need[k.Path] = k.Restart
	}
	for key, restart := range map[string]bool{"server.addr": true, "server.anonymous": false, "server.oauth.claims.role": true, "log.level": true,
		"mcpServers.NAME.oauth.scopes": false, "limits.NAME.session.tools.NAME.perDay": false, "sandbox.profiles.NAME.memory": false,
		"audit.dir": true, "audit.sync": false, "state": true} {
		if is, known := need[key]; !known || is != restart {
			t.Errorf("%s: known %v, needs a restart %v, want %v", key, known, is, restart)
		}
	}
	if len(need) < 100 {
		t.Errorf("only %d keys were found", len(need))
	}
}

// TestWaits: whichever key that needs a restart differs is named, and no other.
func TestWaits(t *testing.T) {
	for _, k := range Keys() {
		key := k.Path
		if strings.Contains(key, "NAME") {
			continue // no such key needs a restart
		}
		var now config.File
		change(reflect.ValueOf(&now).Elem(), key)
		var want []string
		if k.Restart {
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
	for _, k := range Keys() {
		key := k.Path
		if !k.Restart || strings.HasPrefix(key, "server.oauth.") {
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
