package state

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
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
		if m.Type.NumOut() != 1 || m.Type.Out(0).Kind() != reflect.String || slices.Contains([]string{"SocketName", "Chosen"}, m.Name) ||
			m.Type.NumIn() > 1 && m.Name != "Run" {
			continue
		}
		var args []reflect.Value
		if m.Name == "Run" {
			args = []reflect.Value{reflect.ValueOf("s-1")}
		}
		path, theirs := v.Method(i).Call(args)[0].String(), w.Method(i).Call(args)[0].String()
		if !strings.HasPrefix(path, string(root)+"/") && m.Name != "Trees" && m.Name != "WorkerTrees" { // these lie beside, because workers write there
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

// TestConfigured: `state:` of the person's own file is read in the forms that people write, and a folder that cannot be meant is an error.
func TestConfigured(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config", "mycelium"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, ".config", "mycelium", "mycelium.yaml")
	usual := filepath.Join(home, ".local", "state", "mycelium")
	for text, want := range map[string]string{
		"":                                    usual,
		"server: {addr: x}\nstate: /data/m\n": "/data/m",
		"state: ~/m # mine":                   filepath.Join(home, "m"),
		"state:\t'/data/a b'\r\n":             "/data/a b",
		`state: "/data/x/../m"`:               "/data/m",
		"# state: /x\nstates: /x\n":           usual,
		"log:\n  state: /x\n":                 usual,
		"state: relative":                     "",
		"state: ~other/m":                     "",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := OfPerson(func(key string) string { return map[string]string{"HOME": home}[key] })
		if got != Root(want) || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	if err := os.WriteFile(file, make([]byte, maxConfig+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := OfPerson(func(key string) string { return map[string]string{"HOME": home}[key] }); err == nil {
		t.Errorf("a file that cannot be read: %q", got)
	}
}

func TestNamed(t *testing.T) {
	root := Root("/home/u/state/mycelium")
	for id, ok := range map[string]bool{
		"shop": true, "0-a_b": true, strings.Repeat("x", 64): true, "": false, "-a": false, "_a": false, "Shop": false,
		"../x": false, "a/b": false, "a.b": false, "é": false, strings.Repeat("x", 65): false,
	} {
		p, err := root.Named("/work/shop", id)
		if (err == nil) != ok || ok && p.Folder() != "/home/u/state/mycelium/projects/"+id {
			t.Errorf("%q: %v, %v", id, p, err)
		}
	}
}

// TestNoteOfNamed: the state of an id is another one than that of a path, and its folder may be anywhere.
func TestNoteOfNamed(t *testing.T) {
	root, dir := Root(t.TempDir()), t.TempDir()
	named, err := root.Named(dir, "shop")
	if err != nil {
		t.Fatal(err)
	}
	if err := named.WriteNote(Note{}); err != nil {
		t.Fatal(err)
	}
	if n, err := named.For("/another").ReadNote(); err != nil || n.Folder != dir || n.ID != "shop" {
		t.Errorf("in another folder: %+v, %v", n, err)
	}
	if _, err := (Paths{Root: root, Project: dir, id: "shop"}).ReadNote(); err == nil {
		t.Error("it is that of a path")
	}
	if _, _, ok := root.Of(t.TempDir()).MovedFrom(); ok {
		t.Error("another folder was moved")
	}
}
