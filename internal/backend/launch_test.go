package backend

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"

	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	vars := variables{"A": "x", "EMPTY": "", "NEST": "${A}"}
	for in, want := range map[string]string{
		"":                    "",
		"plain $A $ {A}":      "plain $A $ {A}",
		"${A}":                "x",
		"<${A}${A}>":          "<xx>",
		"${EMPTY}":            "",
		"${EMPTY:-d}":         "d",
		"${NO:-d e:-f}":       "d e:-f",
		"${NO:-}":             "",
		"${A:-d}":             "x",
		"${NEST}":             "${A}",
		"${":                  "${",
		"${A":                 "${A",
		"${}":                 "${}",
		"${1A}":               "${1A}",
		"${A-B}":              "${A-B}",
		"${ A }":              "${ A }",
		"${${A}":              "${x",
		"日本${A:-既定}${NO:-既定}": "日本x既定",
	} {
		x := &expander{vars: vars}
		if got := x.expand(in); got != want || x.missing != nil {
			t.Errorf("%q became %q, missing %q", in, got, x.missing)
		}
	}
	x := &expander{vars: vars}
	x.expand("${NO} ${A} ${OTHER} ${NO}")
	if !slices.Equal(x.missing, []string{"NO", "OTHER"}) {
		t.Errorf("missing %q", x.missing)
	}
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"", "${A}", "${A:-b}", "${", "${A", "a${B}c${A:-}d", "${${A}}", "$${A}"} {
		f.Add(s, "value")
	}
	f.Fuzz(func(t *testing.T, s, value string) {
		x := &expander{vars: variables{"A": value}}
		got := x.expand(s)
		if !strings.Contains(s, "${") && got != s {
			t.Errorf("%q became %q", s, got)
		}
		// A text without references stays what it is when it is expanded again, and every variable is either used or missing.
		if len(x.missing) == 0 && len(x.used) == 0 && !strings.Contains(s, ":-") && got != s {
			t.Errorf("%q became %q", s, got)
		}
		for _, name := range x.missing {
			if !isVariable(name) || name == "A" || !strings.Contains(s, "${"+name+"}") {
				t.Errorf("missing %q in %q", name, s)
			}
		}
	})
}

func TestMissingVariableLeavesTheServerDown(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]Server{
		"command": {Command: "${NO_SUCH}"},
		"args":    {Command: "sh", Args: []string{"${NO_SUCH}"}},
		"env":     {Command: "sh", Env: map[string]string{"A": "${NO_SUCH}"}},
		"cwd":     {Command: "sh", Cwd: "${NO_SUCH}"},
		"url":     {URL: "http://localhost/${NO_SUCH}"},
		"headers": {URL: "http://localhost/", Headers: map[string]string{"A": "Bearer ${NO_SUCH}"}},
	} {
		s.Name = "s"
		p := newPool(t, Options{}, s)
		st := p.Status()[0]
		if st.State != StateFailed || st.Error != "variable NO_SUCH is not set" || !strings.HasPrefix(st.Hint, "export NO_SUCH") {
			t.Errorf("%s: %+v", name, st)
		}
		err := p.Start(testContext(t), []string{"s"})
		if err == nil || !strings.Contains(err.Error(), "variable NO_SUCH is not set") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSetEnvironMendsAServer(t *testing.T) {
	t.Parallel()
	s := play(t, "s", "play-fake", "${MODE}")
	p := newPool(t, Options{Environ: []string{}}, s)
	if err := p.Start(testContext(t), []string{"s"}); err == nil {
		t.Fatal("started without its variable")
	}
	p.SetEnviron([]string{"MODE=good"})
	if st := p.Status()[0]; st.State != StateIdle {
		t.Errorf("%+v", st)
	}
	if got, err := ask(testContext(t), t, p, "s", nil); err != nil || got != fakeResult {
		t.Error(got, err)
	}
}

func TestEntriesThatCannotWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, s := range map[string]Server{
		"neither command nor url":     {},
		"type http needs a url":       {Type: "http"},
		"type sse needs a url":        {Type: "sse"},
		`unknown type "tcp"`:          {Type: "tcp", URL: "http://localhost"},
		`no built-in server "x"`:      {Builtin: "x"},
		"url is not an http or https": {URL: "file:///etc/passwd"},
		"not found in PATH":           {Command: "no-such-program-anywhere"},
		"no such file":                {Command: "./nowhere"},
		"is not executable":           {Command: "./plain"},
		"is a folder":                 {Command: dir},
	} {
		s.Name = "s"
		p := newPool(t, Options{Dir: dir}, s)
		if st := p.Status()[0]; st.State != StateFailed || !strings.Contains(st.Error, want) {
			t.Errorf("want %q: %+v", want, st)
		}
	}
}

func TestChildEnvironment(t *testing.T) {
	environ := []string{
		"PATH=/usr/bin:/bin", "HOME=/home/x", "LANG=ja_JP.UTF-8", "LC_ALL=C", "XDG_CONFIG_HOME=/c", "TZ=Asia/Tokyo",
		"ANTHROPIC_API_KEY=sk-ant", "OPENAI_API_KEY=sk-oai", "MYCELIUM_TOKEN=tok", "MYCELIUM_SESSION=ses", "CLAUDECODE=1",
		"AWS_SECRET_ACCESS_KEY=aws", "LD_PRELOAD=/evil.so", "SSH_AUTH_SOCK=/s", "GIVEN=given", "PATHX=1", "LC=1",
	}
	for name, keeper := range map[string][]string{"keeper": keeperOf(t), "direct": nil} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
				t.Fatal(err)
			}
			s := play(t, "s", "play-env", "${GIVEN}", "$HOME ; rm -rf /", "${NO:-}")
			s.Env = map[string]string{"OWN": "${GIVEN}!", "HOME": "/other", "OPENAI_API_KEY": "named-by-the-operator"}
			s.Cwd = "sub"
			p := newPool(t, Options{Dir: dir, Environ: environ, Keeper: keeper}, s)
			got, err := ask(testContext(t), t, p, "s", nil)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(textOf(t, got), "\n")
			if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "MYCELIUM_SERVER=") }); (i >= 0) != (keeper != nil) {
				t.Errorf("the keeper's mark is at %d", i)
			} else if i >= 0 {
				lines = slices.Delete(lines, i, i+1)
			}
			slices.Sort(lines)
			want := []string{
				"HOME=/other", "LANG=ja_JP.UTF-8", "LC_ALL=C", "OPENAI_API_KEY=named-by-the-operator", "OWN=given!", "PATH=/usr/bin:/bin",
				"TZ=Asia/Tokyo", "XDG_CONFIG_HOME=/c", "args:given,$HOME ; rm -rf /,", "dir:" + dir + "/sub",
			}
			if !slices.Equal(lines, want) {
				t.Errorf("the child sees %q", lines)
			}
		})
	}
}

func TestRedactor(t *testing.T) {
	t.Parallel()
	r := secretsOf(map[string]string{"A": "se cret/\"x", "SHORT": "abc"}, &Server{Env: map[string]string{"MY_KEY": "", "PLAIN": ""}},
		&launch{Target: mcpclient.Target{Env: []string{"MY_KEY=literal", "PLAIN=visible", "PASSWD=inherited"},
			Headers: map[string]string{"Authorization": "Bearer tokentoken"}}})
	in := `se cret/"x se+cret%2F%22x se%20cret%2F%22x se cret/\"x abc literal visible inherited Bearer tokentoken; tokentoken`
	want := `${A} ${A} ${A} ${A} abc [MY_KEY] visible inherited [Authorization]; [Authorization]`
	if got := r.Text(in); got != want {
		t.Errorf("%s", got)
	}
	if got := string(r.JSON([]byte(in))); got != want {
		t.Errorf("%s", got)
	}
	if err := r.Error(text.Hinted(errors.New("it says literal"), "replace literal")); text.Describe(err) != "it says [MY_KEY] (hint: "+
		"replace [MY_KEY])" {
		t.Errorf("an error became %q", text.Describe(err))
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	type both struct {
		D Duration `json:"d" yaml:"d"`
	}
	for in, want := range map[string]string{`"30s"`: "30s", `1500`: "1.5s", `"250"`: "250ms", `"1m30s"`: "1m30s", `0`: "0s", `0.5`: "500µs"} {
		var j, y both
		if err := json.Unmarshal([]byte(`{"d":`+in+`}`), &j); err != nil || j.D.String() != want {
			t.Errorf("JSON %s: %v, %v", in, j.D, err)
		}
		if err := yaml.Unmarshal([]byte("d: "+in+"\n"), &y); err != nil || y != j {
			t.Errorf("YAML %s: %v, %v", in, y.D, err)
		}
		out, err := json.Marshal(j)
		if err != nil || string(out) != `{"d":"`+want+`"}` {
			t.Errorf("JSON %s is written %s, %v", in, out, err)
		}
		text, err := yaml.Marshal(j)
		var back both
		if err != nil || yaml.Unmarshal(text, &back) != nil || back != j {
			t.Errorf("YAML %s is written %s, %v", in, text, err)
		}
	}
	for _, in := range []string{`"soon"`, `-1`, `"-1s"`, `"25h"`, `1e300`, `"NaN"`, `"Inf"`, `null`, `{}`, `true`, `""`} {
		var j both
		if err := json.Unmarshal([]byte(`{"d":`+in+`}`), &j); err == nil {
			t.Errorf("JSON %s is read as %v", in, j.D)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	builtins := map[string]Builtin{"files": &builtin{}, "mycelium-router": &builtin{}}
	for _, name := range []string{"", "-a", "A", "a_b", "a__b", "a.b", "日本", strings.Repeat("a", 65), "agent", "mycelium-x", "files",
		"mycelium-router"} {
		_, err := New([]Server{{Name: name, Command: "sh"}}, Options{Dir: "/", Builtins: builtins})
		if err == nil || !strings.Contains(err.Error(), "server ") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := New([]Server{{Name: "a", Command: "x"}, {Name: "a", Command: "y"}}, Options{Dir: "/"}); err == nil {
		t.Error("a name twice")
	}
	if _, err := New(nil, Options{Dir: "relative"}); err == nil {
		t.Error("a relative project folder")
	}
	p := newPool(t, Options{Builtins: builtins}, Server{Name: "files", Builtin: "files", Args: []string{"."}})
	if _, _, err := p.Do(testContext(t), policy.Scope{}, "", "files", "tools/call", nil, nil); err != nil {
		t.Error(err)
	}
}
