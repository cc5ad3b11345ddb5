package policy

import (
	"encoding/json"
	"errors"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"*", "files__*", "files__read_file", "*__x", "a**b", "a__b__c", "", "__", "a__", "a.__b", "A__b",
		"files__\x00", "f\u200b__*", "a__*b*c"} {
		f.Add(s, "files__read_file")
	}
	f.Fuzz(func(t *testing.T, s, name string) {
		p, err := ParsePattern(s)
		if err != nil {
			if p.Match(Item{Server: "files", Name: "x"}) {
				t.Fatal("a pattern that cannot be read matches")
			}
			return
		}
		if it, exact := p.Exact(); exact != !strings.Contains(s, "*") || exact && (it.String() != s || !p.Match(it) || !it.valid()) {
			t.Fatalf("%q: exact %v %v", s, it, exact)
		}
		it, err := ParseTool(name)
		if err != nil {
			return
		}
		if p.Match(it) != matchSlowly(s, it.String()) {
			t.Fatalf("%q against %q: %v", s, name, p.Match(it))
		}
		for _, x := range []string{"x" + name, name + "x"} {
			if other, err := ParseTool(x); err == nil && !strings.Contains(s, "*") && p.Match(it) && p.Match(other) {
				t.Fatalf("%q matches %q and %q", s, name, x)
			}
		}
	})
}

// matchSlowly is the meaning of a pattern, by recursion.
func matchSlowly(p, s string) bool {
	if p == "" {
		return s == ""
	}
	if p[0] != '*' {
		return s != "" && s[0] == p[0] && matchSlowly(p[1:], s[1:])
	}
	p = strings.TrimLeft(p, "*")
	if p == "" {
		return true
	}
	for i := range len(s) {
		if matchSlowly(p, s[i:]) {
			return true
		}
	}
	return false
}

func FuzzArgs(f *testing.F) {
	for _, s := range []string{``, `null`, `{}`, `{"a":1}`, `{"a":1,"a":2}`,
		`{"a":-0,"b":1e400,"c":0.1,"d":1.00000000000000000001,"e":18446744073709551615,"f":-9223372036854775809}`, `{"path":["a",{"path":"b"}]}`,
		`[1]`, `{"a":"\ud800"}`, `{} {}`, `{"url":"https://a@b:1/c"}`} {
		f.Add([]byte(s))
	}
	p, _ := New(Source{Dir: "/p", Catalog: catalog("a__x"), Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"},
		AllowedTools: []string{"*"}}},
		Rules: []Rule{{Name: "args", Action: "deny", Tool: Names{"*"},
			When:  `args.path == "secret" || args.n > 5 || paths.exists(p, p.endsWith(".env"))`,
			Match: map[string]Values{"path": {{Glob: ptr("**")}}}}}})
	f.Fuzz(func(t *testing.T, raw []byte) {
		args, err := ParseArgs(raw)
		var plain map[string]any
		dec := json.NewDecoder(strings.NewReader(string(raw)))
		dec.UseNumber() // 1e400 is a number too
		if err == nil && len(strings.TrimSpace(string(raw))) > 0 && dec.Decode(&plain) != nil {
			t.Fatalf("%q is read, and is no JSON object", raw)
		}
		if err == nil && len(args) != len(plain) {
			t.Fatalf("%q: %d keys, not %d", raw, len(args), len(plain))
		}
		c := Call{Scope: Scope{Principal: Principal{Role: "dev"}, Skills: []string{"s"}}, Item: Item{Server: "a", Name: "x"}, Args: args,
			Facts: ArgFacts(Item{Server: "a", Name: "x"}, nil, args, "/p")}
		if d := p.Decide(c); !reflect.DeepEqual(d, p.Decide(c)) || d.Unknown {
			t.Fatalf("%+v", d)
		}
	})
}

func ptr[T any](v T) *T { return &v }

func FuzzRules(f *testing.F) {
	for _, s := range []string{
		"- {name: a, action: deny, tool: Write|Edit, match: {path: [{glob: '**/.env*'}]}}",
		"- {name: a, action: allow, tool: '*', args: {a.0: [x, {regex: 'a+'}, {literal: 5}]}, when: 'args.a == 1 || has(args.b)'}",
		"- {name: a, action: escalate, tool: [Bash, files__*], match: {command: [{pattern: 'rm', type: regex}]}}",
		"- {action: deny}", "- {name: a, action: allow}", "- {name: a, action: ask, tool: '', examples: {match: [{tool: Write, args: {x: 1}}]}}",
		"- {name: a, action: deny, tool: x__y, match: {path: {a: b}}}", "- {name: a, action: deny, role: [1]}", "! 0",
		"- &a {name: a, action: deny, when: '[1].all(x, x > 0)'}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		var rules []Rule
		if decodeRules(text, &rules) != nil {
			return
		}
		src := Source{Dir: "/p", Catalog: catalog("a__x"), Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"},
			AllowedTools: []string{"*"}}}, Fallback: Fallback{MCP: "ask"}}
		args := Args{"path": ".env", "a": []any{"x"}, "command": "rm"}
		c := Call{Scope: Scope{Principal: Principal{Role: "dev"}, Skills: []string{"s"}}, Item: Item{Server: "a", Name: "x"}, Args: args,
			Facts: ArgFacts(Item{Server: "a", Name: "x"}, nil, args, "/p").WithoutLinks()}
		src.Rules = rules
		p, _ := New(src)
		d := p.Decide(c)
		if d.Effect != Allow {
			return
		}
		// Only an allow rule can allow what the fallback asks about.
		for _, r := range rules {
			if r.Action == "allow" && (r.Name == d.Rule || r.Name == "") {
				return
			}
		}
		t.Fatalf("%q allows: %+v", text, d)
	})
}

// decodeRules reads a rules file as yamlfile does: the parser panics over some tags, which is an error there.
func decodeRules(text string, into *[]Rule) (err error) {
	defer func() {
		if r := recover(); r != nil && strings.Contains(string(debug.Stack()), "goccy/go-yaml.(*Decoder).decodeSlice") {
			err = errors.New("the parser gave up")
		} else if r != nil {
			panic(r)
		}
	}()
	return yaml.UnmarshalWithOptions([]byte(text), into, yaml.Strict())
}

func TestParseArgs(t *testing.T) {
	args, err := ParseArgs([]byte(`{"i":-9223372036854775808,"u":18446744073709551615,"big":18446744073709551616,"f":0.1,` +
		`"e":1e3,"fine":1.00000000000000000001,"huge":1e999,"z":-0.0,"t":true,"n":null,"l":[1,{"a":"b"}],"s":"\u3042"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Args{"i": int64(-9223372036854775808), "u": uint64(18446744073709551615), "big": Number("18446744073709551616"), "f": 0.1,
		"e":    1000.0,
		"fine": Number("1.00000000000000000001"), "huge": Number("1e999"), "z": args["z"], "t": true, "n": nil, "l": []any{int64(1),
			map[string]any{"a": "b"}}, "s": "あ"}
	if diff := cmp.Diff(want, args); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`{"a":1,"a":2}`, `[]`, `"x"`, `{`, `{"a":1}x`, `{"a":{"b":1,"b":2}}`, `{'a':1}`, `{"a":01}`, `{"a":"` +
		"\xff" + `"}`, `{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`} {
		if v, err := ParseArgs([]byte(bad)); err == nil {
			t.Errorf("%.40s: read as %v", bad, v)
		}
	}
	for _, none := range []string{"", " \n", "null"} {
		if v, err := ParseArgs([]byte(none)); err != nil || len(v) != 0 {
			t.Errorf("%q: %v %v", none, v, err)
		}
	}
}
