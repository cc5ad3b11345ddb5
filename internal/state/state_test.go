package state

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestPathsDiffer: every path is absolute, lies in the project's state folder or in the user's, and no two are the same.
func TestPathsDiffer(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/home/u/state")
	p, err := Of("/work/shop")
	if err != nil {
		t.Fatal(err)
	}
	other, err := Of("/work/other")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	v := reflect.ValueOf(p)
	for i := range v.NumMethod() {
		name := v.Type().Method(i).Name
		var args []reflect.Value
		if name == "Run" {
			args = []reflect.Value{reflect.ValueOf("s-1")}
		}
		path := v.Method(i).Call(args)[0].String()
		if !strings.HasPrefix(path, "/work/shop/.mycelium") && !strings.HasPrefix(path, "/home/u/state/mycelium/") {
			t.Errorf("%s is %s", name, path)
		}
		if twin, twice := seen[path]; twice {
			t.Errorf("%s and %s are both %s", name, twin, path)
		}
		seen[path] = name
	}
	for _, pair := range [][2]string{{p.AuditKeys(), other.AuditKeys()}, {p.Pins(), other.Pins()},
		{p.OperatorToken(), other.OperatorToken()}} {
		if pair[0] == pair[1] {
			t.Errorf("two projects share %s", pair[0])
		}
	}
}

func TestUser(t *testing.T) {
	for _, c := range []struct{ xdg, home, want string }{
		{"/x/state", "/home/u", "/x/state/mycelium"},
		{"relative", "/home/u", "/home/u/.local/state/mycelium"},
		{"", "/home/u", "/home/u/.local/state/mycelium"},
		{"", "u", ""},
	} {
		env := map[string]string{"XDG_STATE_HOME": c.xdg, "HOME": c.home}
		if got, err := UserIn(func(key string) string { return env[key] }); got != filepath.FromSlash(c.want) || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}
