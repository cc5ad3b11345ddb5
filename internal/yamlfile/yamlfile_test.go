package yamlfile

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// inner, base and doc together use every kind of field that our files have.
type inner struct {
	Memory string         `yaml:"memory"`
	Teams  []string       `yaml:"memoryTeamRoles"`
	Extra  map[string]any `yaml:"extra"`
}

type base struct {
	Name  string   `yaml:"name"`
	Tools []string `yaml:"allowedTools"`
}

type doc struct {
	base    `yaml:",inline"`
	Grants  inner             `yaml:"grants"`
	Env     map[string]string `yaml:"env"`
	On      bool              `yaml:"on"`
	Count   int               `yaml:"count"`
	Small   uint8             `yaml:"small"`
	Temp    *float64          `yaml:"temp"`
	At      *time.Time        `yaml:"at"`
	Wait    time.Duration     `yaml:"wait"`
	Any     any               `yaml:"any"`
	Rules   []rule            `yaml:"rules"`
	One     oneOrMany         `yaml:"one"`
	Hidden  string            `yaml:"-"`
	private string            //nolint:unused // proves that the decoder leaves it alone
}

// rule decodes itself, as policy.Rule does.
type rule struct {
	Action string
	Match  map[string]string
	Tools  oneOrMany
}

func (r *rule) UnmarshalYAML(unmarshal func(any) error) error {
	var plain struct {
		Action string            `yaml:"action"`
		Match  map[string]string `yaml:"match"`
		Tools  oneOrMany         `yaml:"tool"`
		Sub    *rule             `yaml:"sub"`
	}
	if err := unmarshal(&plain); err != nil {
		return fmt.Errorf("rule: %w", err)
	}
	if plain.Action == "explode" {
		return text.Hinted(errors.New("no such action: explode"), "write deny, ask or allow")
	}
	*r = rule{plain.Action, plain.Match, plain.Tools}
	return nil
}

// oneOrMany takes a text or a list: the first attempt may fail without a trace.
type oneOrMany []string

func (o *oneOrMany) UnmarshalYAML(unmarshal func(any) error) error {
	var one string
	if unmarshal(&one) == nil {
		*o = oneOrMany{one}
		return nil
	}
	var many []string
	err := unmarshal(&many)
	*o = many
	return err
}

func TestDecode(t *testing.T) {
	temp := 0.5
	at := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, in string
		want     doc
	}{
		{"empty", "", doc{}},
		{"only comments", "# nothing\n\n# here\n", doc{}},
		{"null document", "null\n", doc{}},
		{"inline, list, map", "name: x\nallowedTools:\n  - a__b\n  - 'c__*'\nenv: {PORT: 8080, DEBUG: true, V: 1.10}\n",
			doc{base: base{"x", []string{"a__b", "c__*"}}, Env: map[string]string{"PORT": "8080", "DEBUG": "true", "V": "1.10"}}},
		{"empty list is not nil", "allowedTools: []\n", doc{base: base{Tools: []string{}}}},
		{"null is absent", "name:\nallowedTools: ~\ntemp: null\n", doc{}},
		{"numbers", "count: -5\nsmall: 255\ntemp: 0.5\non: true\n", doc{Count: -5, Small: 255, Temp: &temp, On: true}},
		{"hex", "count: 0x10\n", doc{Count: 16}},
		{"float from exponent", "temp: 5e-1\n", doc{Temp: &temp}},
		{"time and duration", "at: 2026-01-31T09:00:00Z\nwait: 1m30s\n", doc{At: &at, Wait: 90 * time.Second}},
		{"any", "any:\n  a: [1, 2.5, true, ~, 'x', \"1\"]\n  b: 18446744073709551615\n  c: 1e3\n  d: !!str 5\n",
			doc{Any: map[string]any{"a": []any{int64(1), 2.5, true, nil, "x", "1"}, "b": uint64(math.MaxUint64), "c": 1000.0, "d": "5"}}},
		{"json with tabs", "{\n\t\"name\": \"x\\/y \\ud83d\\ude00\",\n\t\"on\": false,\n\t\"grants\": {\"memory\": \"all\"}\n}\n",
			doc{base: base{Name: "x/y 😀"}, Grants: inner{Memory: "all"}}},
		{"block texts", "name: |\n  one\n  two\nany: >-\n  folded\n  text\n", doc{base: base{Name: "one\ntwo\n"}, Any: "folded text"}},
		{"byte order mark, CRLF", "\ufeffname: x\r\non: true\r\n", doc{base: base{Name: "x"}, On: true}},
		{"directive and marks", "%YAML 1.2\n---\nname: x\n...\n", doc{base: base{Name: "x"}}},
		{"anchors and merge", "any: &b {memory: none, memoryTeamRoles: [q]}\ngrants:\n  <<: *b\n  memory: all\nallowedTools: &t [x__y]\n" +
			"env: {k: v}\n",
			doc{base: base{Tools: []string{"x__y"}}, Grants: inner{Memory: "all", Teams: []string{"q"}}, Env: map[string]string{"k": "v"},
				Any: map[string]any{"memory": "none", "memoryTeamRoles": []any{"q"}}}},
		{"self-decoding", "rules:\n  - action: deny\n    match: {path: x}\n    tool: a__b\n  - {action: ask, tool: [a, b]}\none: z\n",
			doc{Rules: []rule{{"deny", map[string]string{"path": "x"}, oneOrMany{"a__b"}}, {"ask", nil, oneOrMany{"a", "b"}}}, One: oneOrMany{"z"}}},
		{"Japanese", "name: 読み手\nallowedTools: [\"読む\"]\n", doc{base: base{"読み手", []string{"読む"}}}},
		{"yes is text", "name: yes\n", doc{base: base{Name: "yes"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got doc
			if probs := Decode("f.yaml", []byte(tt.in), &got); len(probs) > 0 {
				t.Fatalf("problems: %+v", probs)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(doc{}, base{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDecodeKeepsDefaults(t *testing.T) {
	got := doc{Count: 7, Grants: inner{Memory: "none", Teams: []string{"a"}}}
	if probs := Decode("f", []byte("grants: {memory: all}\n"), &got); probs != nil {
		t.Fatal(probs)
	}
	want := doc{Count: 7, Grants: inner{Memory: "all", Teams: []string{"a"}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(doc{}, base{})); diff != "" {
		t.Error(diff)
	}
}

func TestProblems(t *testing.T) {
	type P = policy.Problem
	for _, tt := range []struct {
		name, in string
		want     []P
	}{
		{"unknown key, near", "name: x\nallowedTool: [a]\n",
			[]P{{Line: 2, Message: `unknown key "allowedTool"`, Hint: `did you mean "allowedTools"?`}}},
		{"unknown key, wrong case", "Name: x\n", []P{{Line: 1, Message: `unknown key "Name"`, Hint: `did you mean "name"?`}}},
		{"unknown key, nested", "grants:\n  memry: all\n",
			[]P{{Line: 2, Message: `unknown key "memry" in grants`, Hint: `did you mean "memory"?`}}},
		{"unknown key, none near", "grants: {zzzzzzzz: 1}\n",
			[]P{{Line: 1, Message: `unknown key "zzzzzzzz" in grants`, Hint: "known keys: extra, memory, memoryTeamRoles"}}},
		{"hidden field", "Hidden: x\nprivate: y\n", []P{
			{Line: 1, Message: `unknown key "Hidden"`, Hint: "known keys: allowedTools, any, at, count, env, grants, name, on, one, rules, " +
				"small, temp, wait"},
			{Line: 2, Message: `unknown key "private"`, Hint: "known keys: allowedTools, any, at, count, env, grants, name, on, one, rules, " +
				"small, temp, wait"},
		}},
		{"doubled key", "name: x\non: true\nname: y\n",
			[]P{{Line: 3, Message: `the key "name" is given twice (first on line 1)`, Hint: "keep one of them"}}},
		{"doubled key in a free map", "any:\n  a: 1\n  a: 2\n",
			[]P{{Line: 3, Message: `the key "a" is given twice (first on line 2)`, Hint: "keep one of them"}}},
		{"doubled key in JSON", `{"name": "x", "name": "y"}`,
			[]P{{Line: 1, Message: `the key "name" is given twice (first on line 1)`, Hint: "keep one of them"}}},
		{"several at once", "nam: x\ncount: many\non: 'true'\n", []P{
			{Line: 1, Message: `unknown key "nam"`, Hint: `did you mean "name"?`},
			{Line: 2, Message: `count must be a whole number, not the text "many"`},
			{Line: 3, Message: `on must be true or false, not the text "true"`, Hint: "write true or false, without quotes"},
		}},
		{"text for a list", "allowedTools: a__b\n",
			[]P{{Line: 1, Message: `allowedTools must be a list, not the text "a__b"`, Hint: `write it as a list: ["a__b"]`}}},
		{"list for a text", "name:\n  - x\n",
			[]P{{Line: 2, Message: "name must be text, not a list", Hint: "write one value, without brackets or dash"}}},
		{"map in a list of text", "allowedTools:\n  - a\n  - b: c\n", []P{{Line: 3, Message: "allowedTools[1] must be text, not a map"}}},
		{"empty list entry", "allowedTools:\n  - a\n  -\n",
			[]P{{Line: 3, Message: "allowedTools[1] is empty", Hint: "write a value, or remove the line"}}},
		{"float for int", "count: 1.5\n", []P{{Line: 1, Message: "count must be a whole number, not the number 1.5"}}},
		{"overflow", "small: 256\n", []P{{Line: 1, Message: "small must be a whole number, not negative, not the number 256"}}},
		{"negative", "small: -1\n", []P{{Line: 1, Message: "small must be a whole number, not negative, not the number -1"}}},
		{"not a number", "temp: .nan\n", []P{{Line: 1, Message: "temp must be a number, not the number .nan"}}},
		{"duration without unit", "wait: 30\n",
			[]P{{Line: 1, Message: "wait must be a duration, not the number 30", Hint: "write a number and a unit: 500ms, 30s, 5m, 2h"}}},
		{"time", "at: tomorrow\n", []P{{Line: 1, Message: `at must be a time, not "tomorrow"`, Hint: "write it as 2026-01-31T09:00:00Z"}}},
		{"list document", "- a\n- b\n", []P{{Line: 1, Message: "the file must be a map, not a list", Hint: "write key: value lines"}}},
		{"text document", "\n\nhello\n", []P{{Line: 3, Message: `the file must be a map, not the text "hello"`, Hint: "write key: value lines"}}},
		{"two documents", "name: x\n---\nname: y\n",
			[]P{{Line: 3, Message: "the file has more than one document (separated by ---)", Hint: "put each document into a file of its own"}}},
		{"tab", "grants:\n\tmemory: all\n",
			[]P{{Line: 2, Message: "a tab is used for indentation", Hint: "YAML indents with spaces only; replace the tab by spaces"}}},
		{"tab at the top", "\tname: x\n",
			[]P{{Line: 1, Message: "a tab is used for indentation", Hint: "YAML indents with spaces only; replace the tab by spaces"}}},
		{"UTF-8", "name: x\nany: \"a\xffb\"\n", []P{{Line: 2, Message: "the file is not valid UTF-8 (byte 0xff)", Hint: "save it as UTF-8"}}},
		{"UTF-16", "\xff\xfen\x00", []P{{Line: 1, Message: "the file is UTF-16, not UTF-8", Hint: "save it as UTF-8"}}},
		{"lone carriage return", "name: x\non: true\rcount: 1\n",
			[]P{{Line: 2, Message: "a line ends with a carriage return alone", Hint: "save the file with line feeds (LF) as line ends"}}},
		{"lines of CRLF", "name: x\r\nany: |\r\n  a\r\n  b\r\nnmae: y\r\n",
			[]P{{Line: 5, Message: `unknown key "nmae"`, Hint: `did you mean "name"?`}}},
		{"NUL", "name: a\x00b\n", []P{{Line: 1, Message: "the file has a control character (U+0000)",
			Hint: `remove it, or write it as an escape in a double-quoted text ("\u0007")`}}},
		{"mark inside", "name: x\n\ufeffon: true\n",
			[]P{{Line: 2, Message: "the file has a byte order mark (U+FEFF) that is not at its start",
				Hint: "remove it; it is invisible in most editors"}}},
		{"unquoted star", "allowedTools: [*]\n",
			[]P{{Line: 1, Message: "a * outside quotes begins a YAML alias", Hint: `write it in quotes: "*"`}}},
		{"unquoted star in a block", "name: x\nallowedTools:\n  - *\n",
			[]P{{Line: 3, Message: "a * outside quotes begins a YAML alias", Hint: `write it in quotes: "*"`}}},
		{"unknown alias", "name: *who\n",
			[]P{{Line: 1, Message: `the alias "*who" has no anchor: there is no "&who" before it`,
				Hint: `if you mean the text, write it in quotes: "*who"`}}},
		{"alias of itself", "any: &a [*a]\n",
			[]P{{Line: 1, Message: `the alias "*a" has no anchor: there is no "&a" before it`,
				Hint: `if you mean the text, write it in quotes: "*a"`}}},
		{"two colons", "name: a: b\n",
			[]P{{Line: 1, Message: "a colon is where no key can begin",
				Hint: "put the value in quotes if the colon belongs to it; else check the indentation"}}},
		{"open bracket", "name: x\nallowedTools: [a, b\n",
			[]P{{Line: 2, Message: "a bracket or brace is opened here and never closed", Hint: "add the missing ] or }"}}},
		{"open quote", "name: \"x\n", []P{{Line: 1, Message: "a quoted text is never closed", Hint: "add the missing quote"}}},
		{"reserved", "name: @x\n",
			[]P{{Line: 1, Message: "a value begins with a character that YAML reserves (@ or `)", Hint: "put the value in quotes"}}},
		{"foreign tag", "name: !ruby/object x\n",
			[]P{{Line: 1, Message: "name has the tag !ruby/object, which has no meaning here", Hint: "remove the tag"}}},
		{"alias of two lines", "any: * a\n  b\n",
			[]P{{Line: 1, Message: `the alias "*a b" has no anchor: there is no "&a b" before it`,
				Hint: `if you mean the text, write it in quotes: "*a b"`}}},
		{"key of two lines", "env: {\"a\\nb\\e\": [1]}\n",
			[]P{{Line: 1, Message: "env.a b\\x1b must be text, not a list", Hint: "write one value, without brackets or dash"}}},
		{"merge of no map", "grants:\n  <<: [1]\n",
			[]P{{Line: 2, Message: "grants: << merges a value that is not a map", Hint: "write << with an alias of a map"}}},
		{"strict inside a type that decodes itself", "rules:\n  - action: deny\n    mach: {a: b}\n    tool: [1, {}]\n  - sub: {actoin: x}\n", []P{
			{Line: 3, Message: `unknown key "mach" in rules[0]`, Hint: `did you mean "match"?`},
			{Line: 4, Message: "rules[0].tool[1] must be text, not a map"},
			{Line: 5, Message: `unknown key "actoin" in rules[1].sub`, Hint: `did you mean "action"?`},
		}},
		{"doubled key inside a type that decodes itself", "rules:\n  - action: deny\n    action: allow\n",
			[]P{{Line: 3, Message: `the key "action" is given twice (first on line 2)`, Hint: "keep one of them"}}},
		{"its own error", "rules:\n  - action: explode\n",
			[]P{{Line: 2, Message: "rules[0]: no such action: explode", Hint: "write deny, ask or allow"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var into doc
			got := Decode("f.yaml", []byte(tt.in), &into)
			for i := range tt.want {
				tt.want[i].File = "f.yaml"
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAliases(t *testing.T) {
	aliases := map[string]string{"allowed-tools": "allowedTools", "id": "name", "memory-team-roles": "memoryTeamRoles"}
	var got doc
	in := "id: x\nallowed-tools: [a]\ngrants: {memory-team-roles: [b], extra: {allowed-tools: 1, id: 2}}\nany: {id: 3}\n"
	if probs := DecodeAliases("f", []byte(in), aliases, &got); probs != nil {
		t.Fatal(probs)
	}
	want := doc{base: base{"x", []string{"a"}}, Any: map[string]any{"id": int64(3)},
		Grants: inner{Teams: []string{"b"}, Extra: map[string]any{"allowed-tools": int64(1), "id": int64(2)}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(doc{}, base{})); diff != "" {
		t.Error(diff)
	}
	probs := DecodeAliases("f", []byte("name: x\nid: y\nallowed-tool: []\n"), aliases, &doc{})
	if diff := cmp.Diff([]policy.Problem{
		{File: "f", Line: 2, Message: `the keys "name" (line 1) and "id" are the same`, Hint: "keep one of them"},
		{File: "f", Line: 3, Message: `unknown key "allowed-tool"`, Hint: `did you mean "allowedTools"?`},
	}, probs); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeNeedsAPointer(t *testing.T) {
	for _, into := range []any{nil, doc{}, (*doc)(nil)} {
		if probs := Decode("f", []byte("name: x"), into); len(probs) != 1 || !strings.Contains(probs[0].Message, "pointer") {
			t.Errorf("Decode into %T: %v", into, probs)
		}
	}
}

// TestHostile reads what is made to hang or to fill the memory.
func TestHostile(t *testing.T) {
	const size = MaxSize / 8 // enough to show what grows faster than the file; all were measured at MaxSize once
	laughs := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'k'; c++ {
		laughs += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 10), ", "))
	}
	merges := "a: &a {k0: 1}\n"
	for i := range 1000 {
		merges += fmt.Sprintf("m%d: {<<: [%s]}\n", i, strings.TrimSuffix(strings.Repeat("*a, ", 100), ", "))
	}
	for name, in := range map[string]string{
		"billion laughs":  laughs,
		"many merges":     merges,
		"too large":       strings.Repeat("#", MaxSize+1),
		"brackets":        strings.Repeat("[", size),
		"closed brackets": strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		"braces":          strings.Repeat("{a: ", size/4),
		"dashes":          strings.Repeat("- ", size/2),
		"question marks":  strings.Repeat("? ", size/2),
		"tags":            strings.Repeat("!a ", size/3),
		"anchors":         strings.Repeat("&a ", size/3),
		"keys":            strings.Repeat("a: 1\n", size/5),
		"quoted keys":     strings.Repeat("\"a\": 1\n", size/7),
		"deep indent": func() (s string) {
			var b strings.Builder
			for i := range 1400 {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String()
		}(),
		"open quote":        "a: \"" + strings.Repeat("x\n", size/2-10),
		"flow keys":         "any: {" + strings.Repeat("a: 1, ", size/7) + "}",
		"stars":             strings.Repeat("*a ", size/3),
		"colons":            strings.Repeat(":", size),
		"colons and spaces": strings.Repeat(": ", size/2),
		"pipes":             strings.Repeat("|\n", size/2),
		"tag lines":         strings.Repeat("!a\n", size/3),
		"anchor lines":      strings.Repeat("&a\n", size/3),
		"dash lines":        "allowedTools:\n" + strings.Repeat("-\n", size/2-10),
		"question lines":    strings.Repeat("?\n", size/2),
		"comment lines":     strings.Repeat("#\n", size/2) + "x",
		"commented keys":    strings.Repeat("a: #\n", size/6),
		"directives":        strings.Repeat("%YAML 1.2\n", size/10),
		"documents":         strings.Repeat("--- a\n", size/6),
	} {
		t.Run(name, func(t *testing.T) {
			var into doc
			if probs := Decode("f", []byte(in), &into); len(probs) == 0 {
				t.Error("no problem reported")
			}
		})
	}
	var into doc
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Decode("f", []byte(laughs), &into)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("billion laughs used %d bytes", used)
	}
	want := []policy.Problem{{File: "f", Line: 5, Message: "aliases expand to more than 100000 values",
		Hint: "write the values out, or use fewer aliases of aliases"}}
	if diff := cmp.Diff(want, Decode("f", []byte(laughs), &into)); diff != "" {
		t.Error(diff)
	}
}

// TestLargeList is the other side: what is long and honest is read.
func TestLargeList(t *testing.T) {
	var b strings.Builder
	b.WriteString("allowedTools:\n")
	for i := range 20000 {
		fmt.Fprintf(&b, "  - server__tool_%d\n", i)
	}
	var into doc
	if probs := Decode("f", []byte(b.String()), &into); probs != nil || len(into.Tools) != 20000 {
		t.Fatal(probs, len(into.Tools))
	}
}

func TestLine(t *testing.T) {
	in := "# top\nname: x\nallowedTools:\n  - a\n  - b\n\ngrants:\n  memory: all\n  extra: {\"a.b\": [1,\n    2]}\nrules:\n" +
		"  - action: deny\n    match: {path: x}\n  - &r\n    action: ask\nany: *r\n"
	for path, want := range map[string]int{
		"$": 2, "$.name": 2, "$.allowedTools": 3, "$.allowedTools[0]": 4, "$.allowedTools[1]": 5, "$.allowedTools[2]": 0,
		"$.grants.memory": 8, "$.grants.extra.'a.b'": 9, "$.grants.extra.'a.b'[1]": 10, "$.rules[0]": 12, "$.rules[0].match.path": 13,
		"$.rules[1].action": 15, "$.any": 16, "$.any.action": 15, "$.nope": 0, "$.name.x": 0, "$.name[0]": 0, "": 0, "name": 0, "$.": 0,
		"$[": 0, "$[-1]": 0, "$[x]": 0, "$.'open": 0, "$x": 0,
	} {
		if got := Line([]byte(in), path); got != want {
			t.Errorf("Line(%q) = %d, want %d", path, got, want)
		}
	}
	if got := Line([]byte("a: [\n"), "$.a"); got != 0 {
		t.Errorf("line in a broken file: %d", got)
	}
	for in, want := range map[string]map[string]int{in: {"name": 2, "allowedTools": 3, "grants": 7, "rules": 11, "any": 16}, "- a": {},
		"": {}} {
		f, problems := Read("f", []byte(in))
		if problems != nil {
			t.Fatal(problems)
		}
		if diff := cmp.Diff(want, f.Keys()); diff != "" {
			t.Error(diff)
		}
	}
	if len(Keys([]byte("a: 1"))) != 1 || len(Keys([]byte("a: ["))) != 0 {
		t.Error("Keys of a good and of a broken text")
	}
	if f, _ := Read("f", nil); f.Line("$.a") != 0 {
		t.Error("a line in an empty file")
	}
}

// FuzzDecode: no input panics, hangs or yields a problem that a person cannot read; what has a problem names it.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"name: x\n", "a: &a [*a]\n<<: *a\n", "? [a]\n: b\n", "{\"a\": [1, 2.5e3, \"\\u00e9\"]}", "- - a\n",
		"a: |\n  x\n", "%YAML 1.2\n---\n", "a: !!str 1\n", "rules:\n - {action: x, sub: {a: b}}\n", "\t- a", "a:\n- b\n-\n", "'a': \"b\nc\"\n"} {
		f.Add([]byte(s))
	}
	seeds, _ := filepath.Glob("testdata/*.yaml")
	for _, s := range seeds {
		data, err := os.ReadFile(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var strict doc
		lines := strings.Count(string(data), "\n") + 1
		for _, p := range Decode("f", data, &strict) {
			if p.Message == "" || p.File != "f" || strings.Contains(p.Message, "\n") || p.Line < 0 || p.Line > lines+1 {
				t.Errorf("%q: %+v", data, p)
			}
		}
		var free any
		Decode("f", data, &free)
		Line(data, "$.rules[0].action")
	})
}
