package state

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestPathsDiffer: every path lies in the state folder, no two are the same, and nothing of a project is another's.
func TestPathsDiffer(t *testing.T) {
	root := Root("/home/u/state/mycelium")
	p, other := root.Of("/work/shop"), root.Of("/work/other/shop")
	seen := map[string]string{}
	v, w := reflect.ValueOf(p), reflect.ValueOf(other)
	shared := reflect.TypeFor[Root]()
	for i := range v.NumMethod() {
		m := v.Type().Method(i)
		if m.Type.NumOut() != 1 || m.Type.Out(0).Kind() != reflect.String || m.Name == "SocketName" || m.Type.NumIn() > 1 && m.Name != "Run" {
			continue
		}
		var args []reflect.Value
		if m.Name == "Run" {
			args = []reflect.Value{reflect.ValueOf("s-1")}
		}
		path, theirs := v.Method(i).Call(args)[0].String(), w.Method(i).Call(args)[0].String()
		if !strings.HasPrefix(path, string(root)+"/") {
			t.Errorf("%s is %s", m.Name, path)
		}
		if twin, twice := seen[path]; twice {
			t.Errorf("%s and %s are both %s", m.Name, twin, path)
		}
		seen[path] = m.Name
		if _, ofUser := shared.MethodByName(m.Name); (path == theirs) != ofUser {
			t.Errorf("%s: %s and %s", m.Name, path, theirs)
		}
	}
	if strings.HasPrefix(p.Keys(), p.Folder()) {
		t.Errorf("the keys lie with the log: %s", p.Keys())
	}
}

func TestID(t *testing.T) {
	for dir, want := range map[string]string{
		"/work/shop":            `shop-[0-9a-f]{16}`,
		"/work/My Shop":         `my-shop-[0-9a-f]{16}`,
		"/work/店":               `[0-9a-f]{16}`,
		"/":                     `[0-9a-f]{16}`,
		"/work/..x/" + longName: `x{32}-[0-9a-f]{16}`,
	} {
		if got := id(dir); !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
}

var longName = strings.Repeat("X", 200)

func TestOfPerson(t *testing.T) {
	for _, c := range []struct{ xdg, home, want string }{
		{"/x/state", "/home/u", "/x/state/mycelium"},
		{"relative", "/home/u", "/home/u/.local/state/mycelium"},
		{"", "/home/u", "/home/u/.local/state/mycelium"},
		{"", "u", ""},
	} {
		env := map[string]string{"XDG_STATE_HOME": c.xdg, "HOME": c.home}
		got, err := OfPerson(func(key string) string { return env[key] })
		if got != Root(c.want) || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// TestOfAccount: no variable of the environment changes where an agent's programs find the state.
func TestOfAccount(t *testing.T) {
	want, err := OfAccount()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR", "MYCELIUM_STATE"} {
		t.Setenv(name, t.TempDir())
	}
	if got, err := OfAccount(); got != want || err != nil {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if home := os.Getenv("HOME"); strings.HasPrefix(string(want), home) || !filepath.IsAbs(string(want)) {
		t.Errorf("%s lies below HOME=%s", want, home)
	}
}
