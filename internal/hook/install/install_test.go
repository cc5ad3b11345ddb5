package install

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/policy"
	"mycelium/internal/state"
)

// protected is a set of paths that no agent may touch.
func protected() []harness.Protected {
	var out []harness.Protected
	for _, b := range policy.BasePaths() {
		out = append(out, harness.Protected{Path: b.Path, ChangeOnly: b.ChangeOnly})
	}
	return out
}

// newSetup returns an installation in its own home and project.
func newSetup(t testing.TB, agent string, user bool) (*Setup, string) {
	t.Helper()
	home, scope := t.TempDir(), harness.Project
	if user {
		scope = harness.User
	}
	known, ok := harness.Named(agent)
	if !ok {
		t.Fatalf("no agent %q", agent)
	}
	s := &Setup{Agent: known, Protected: protected(), Scope: scope, Dir: filepath.Join(home, "a project"), Environ: []string{"HOME=" + home},
		Myc: filepath.Join(home, "bin", "myc"), Small: filepath.Join(home, "state", "bin", "myc-hook"),
		Gateway: "mycelium", State: state.Root(filepath.Join(home, "state")).Of(filepath.Join(home, "a project"))}
	for path, mode := range map[string]os.FileMode{s.Myc: 0o700, s.Small: 0o700, filepath.Join(home, "bin", "myc-hook"): 0o700} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	put(t, hook.NotePath(s.Small), string(hook.Installed{Myc: s.Myc, Digest: digest(nil)}.JSON()), 0o600)
	f, err := s.files()
	if err != nil {
		t.Fatal(err)
	}
	return s, f.Hooks
}

func put(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

func must(t testing.TB, changes []Change, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v after %v", err, changes)
	}
}

// eachScope runs a test for every agent and scope.
func eachScope(t *testing.T, test func(t *testing.T, s *Setup, file string)) {
	for _, agent := range harness.Names() {
		for _, user := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s user=%t", agent, user), func(t *testing.T) {
				s, file := newSetup(t, agent, user)
				test(t, s, file)
			})
		}
	}
}

func TestInstallIntoNothingAndOutAgain(t *testing.T) {
	eachScope(t, func(t *testing.T, s *Setup, file string) {
		changes, err := s.Install()
		must(t, changes, err)
		text := get(t, file)
		if !jsontext.Value(text).IsValid() {
			t.Fatalf("wrote no JSON:\n%s", text)
		}
		if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", st.Mode(), err)
		}
		handlers, err := s.handlers([]byte(text))
		if err != nil || len(handlers) != len(s.Agent.Events()) {
			t.Fatalf("%d entries, %v; want %d", len(handlers), err, len(s.Agent.Events()))
		}
		for _, h := range handlers {
			words := words(h.HookEntry)
			want := []string{"--event", h.Event, "--limit", s.Agent.Pinned(h.Event).String(), "--gateway", "mycelium"}
			if words[0] != s.Small || !slices.Equal(words[len(words)-len(want):], want) || h.Timeout != s.Agent.Timeout(h.Event) {
				t.Errorf("%s: %q, time-out %s", h.Event, words, h.Timeout)
			}
			if in := slices.Contains(words, s.Dir); in == (s.Scope == harness.User) {
				t.Errorf("%s: %q: names the project: %t", h.Event, words, in)
			}
		}
		changes, err = s.Install()
		must(t, changes, err)
		if get(t, file) != text || slices.ContainsFunc(changes, func(c Change) bool { return c.Did != "kept" }) {
			t.Errorf("a second time it changed something: %v", changes)
		}
		if st := s.Status(); !st.Installed || st.Ours != len(handlers) || s.Agent.Name != "codex" && len(st.Problems) > 0 {
			t.Errorf("status: %+v", st)
		}
		changes, err = s.Uninstall()
		must(t, changes, err)
		if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file is left: %v\n%s", err, get(t, file))
		}
		if left, _ := os.ReadDir(s.State.Hooks()); len(left) != 0 {
			t.Errorf("notes are left: %v", left)
		}
		if st := s.Status(); st.Installed {
			t.Errorf("status: %+v", st)
		}
	})
}

// foreign are configurations that people may have written for each agent.
var foreign = map[string]string{
	"claude": "{\n\t\"model\": \"opus\",\t\"env\": {\"A\":\"1\"},\n\t\"permissions\": {\"allow\": [\"Bash(ls)\"], \"deny\": " +
		"[\"Read(~/.ssh)\"] },\n\t\"hooks\": {\n\t\t\"Stop\": " +
		"[{\"hooks\":[{\"type\":\"command\",\"command\":\"/x/stop.sh\"}]}],\n\t\t\"PreToolUse\":[ {\"matcher\":\"Bash\", " +
		"\"hooks\":[{\"type\":\"command\",\"command\":\"/y/guard hook claude\"}]} ]}\n}",
	"codex": `{"description":"mine","hooks":{"PreToolUse":[{"matcher":"^Bash$","hooks":[{"type":"command","command":"/y/guard"}]}]}}` + "\n",
	"gemini": "// mine\n{\n  \"theme\": \"ダーク\", /* why not */\n  \"hooks\": {\n    \"BeforeTool\": [\n" +
		"      {\"matcher\": \"write_.*\", " +
		"\"hooks\": [{\"type\": \"command\", \"command\": \"/y/guard\", \"timeout\": 5000}]}, // last\n    ],\n  },\n}\n",
	"crush": "{\n    \"$schema\": \"https://charm.land/crush.json\",\n    \"lsp\": {},\n    \"hooks\": {\"PreToolUse\": [{\"matcher\": " +
		"\"^bash$\", \"command\": \"./hooks/mine.sh\"}]}\n}\n",
}

func TestWhatOthersWroteStays(t *testing.T) {
	eachScope(t, func(t *testing.T, s *Setup, file string) {
		before := foreign[s.Agent.Name]
		put(t, file, before, 0o640)
		changes, err := s.Install()
		must(t, changes, err)
		after := get(t, file)
		handlers, err := s.handlers([]byte(after))
		if err != nil {
			t.Fatalf("%v:\n%s", err, after)
		}
		ours := 0
		for _, h := range handlers {
			if h.ours {
				ours++
			}
		}
		if others := len(handlers) - ours; ours != len(s.Agent.Events()) || others != 1 && s.Agent.Name != "claude" || s.Agent.Name == "claude" &&
			others != 2 {
			t.Errorf("%d of %d entries are ours:\n%s", ours, len(handlers), after)
		}
		if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o640 {
			t.Errorf("mode %v, %v", st.Mode(), err)
		}
		changes, err = s.Uninstall()
		must(t, changes, err)
		if got := get(t, file); got != before {
			t.Errorf("after install and uninstall:\n%s\nwas:\n%s", got, before)
		}
	})
}

// TestUninstallTakesNothingElse: what a person adds after the installation stays, in every list that contains our entries.
func TestUninstallTakesNothingElse(t *testing.T) {
	s, file := newSetup(t, "claude", false)
	changes, err := s.Install()
	must(t, changes, err)
	text := []byte(get(t, file))
	if text, err = addElements(text, false, s.Agent.Hooks.DenyPath, jsontext.Value(`"Read(./mine)"`)); err != nil {
		t.Fatal(err)
	}
	if text, err = addElements(text, false, []string{"hooks", "Stop"},
		jsontext.Value(`{"hooks":[{"type":"command","command":"/x/stop.sh"}]}`)); err != nil {
		t.Fatal(err)
	}
	put(t, file, string(text), 0o600)
	changes, err = s.Uninstall()
	must(t, changes, err)
	var got map[string]any
	if err := json.Unmarshal([]byte(get(t, file)), &got); err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(got, json.Deterministic(true))
	if want := `{"hooks":{"Stop":[{"hooks":[{"command":"/x/stop.sh","type":"command"}]}]},"permissions":{"deny":["Read(./mine)"]}}`; string(
		b) != want {
		t.Errorf("left: %s, want %s", b, want)
	}
}

// TestBrokenFileIsLeftAlone: a file that cannot be parsed is not changed, and the message says where it is broken and what to do.
func TestBrokenFileIsLeftAlone(t *testing.T) {
	for _, text := range []string{
		"{\n  \"hooks\": {,}\n}", "{\"hooks\": []}", "{\"hooks\": {\"PreToolUse\": {}}}", "[]", "null", "{\"a\":1,\"a\":2}", "{} {}", "{\"a\":",
		"{\"permissions\": {\"deny\": \"x\"}}", "{\"a\": 1 // comment\n}", strings.Repeat("[", 1000),
	} {
		s, file := newSetup(t, "claude", false)
		put(t, file, text, 0o600)
		for name, act := range map[string]func() ([]Change, error){"install": s.Install} {
			_, err := act()
			var fe *FileError
			if !errors.As(err, &fe) || fe.File != file || fe.Hint == "" || !strings.HasPrefix(err.Error(), file+": ") {
				t.Errorf("%s of %.40q: %v", name, text, err)
			}
			if get(t, file) != text {
				t.Errorf("%s of %.40q touched it", name, text)
			}
		}
	}
}

func TestLinkIsFollowed(t *testing.T) {
	s, file := newSetup(t, "claude", true)
	target := filepath.Join(t.TempDir(), "dotfiles", "settings.json")
	put(t, target, "{}\n", 0o644)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, file); err != nil {
		t.Fatal(err)
	}
	changes, err := s.Install()
	must(t, changes, err)
	if st, err := os.Lstat(file); err != nil || st.Mode()&os.ModeSymlink == 0 || !strings.Contains(get(t, target), "PreToolUse") {
		t.Errorf("the link: %v %v, its target: %.60s", st, err, get(t, target))
	}
}

// TestTamperingIsSeen: the status reports each way to weaken an installed hook (W6).
func TestTamperingIsSeen(t *testing.T) {
	swap := func(from, to string) func(string) string {
		return func(text string) string { return strings.Replace(text, from, to, 1) }
	}
	all := func(from, to string) func(string) string {
		return func(text string) string { return strings.ReplaceAll(text, from, to) }
	}
	for _, c := range []struct {
		agent, name string
		change      func(string) string
		want        string
	}{
		{"claude", "another event", swap(`"PreToolUse",`, `"PostToolUse",`), "is one of another event"},
		{"claude", "a short time-out", swap(`"timeout": 600`, `"timeout": 1`), "the time-out of PreToolUse is 1"},
		{"claude", "no time-out", swap(`,`+"\n            "+`"timeout": 600`, ""), "the time-out of PreToolUse is not set"},
		{"claude", "a matcher", swap(`"matcher": "*"`, `"matcher": "Read"`), `is for "Read" only`},
		{"claude", "another limit", swap(`"10m0s"`, `"20m0s"`), "says another limit"},
		{"claude", "another program", all("state/bin", "state/no"), "is not there"},
		{"claude", "our program elsewhere", all("state/bin/myc-hook", "bin/myc-hook"), "is the program that is installed"},
		{"claude", "no onFailure", swap(`"onFailure": "block"`, `"onFailure": "allow"`), "(onFailure)"},
		{"claude", "another folder", swap("a project", "another"), "is for another folder"},
		{"claude", "disableAllHooks", swap("{", `{"disableAllHooks": true,`), "disableAllHooks"},
		{"claude", "fewer denials", swap(`"Read(//etc/shadow)",`, ""), "1 of the agent's own deny entries"},
		{"claude", "nothing left", func(string) string { return "{}" }, "the entry for PreToolUse is gone"},
		{"claude", "the file gone", func(string) string { return "" }, "the entry for PreToolUse is gone"},
		{"claude", "broken", swap("{", "{,"), "line 1"},
		{"gemini", "hooksConfig", swap("{", `{"hooksConfig": {"enabled": false},`), "hooksConfig.enabled"},
		{"gemini", "hooksConfig of one", swap("{", `{"hooksConfig": {"disabled": ["mycelium BeforeTool"]},`), "mycelium BeforeTool"},
		{"gemini", "a short time-out", swap(`600000`, `1`), "the time-out of BeforeTool is 1"},
		{"crush", "nothing left", func(string) string { return "{}" }, "the entry for PreToolUse is gone"},
		{"codex", "changed after the trust", swap(`"timeout": 600`, `"timeout": 599`), "does not trust the entries for PreToolUse"},
	} {
		t.Run(c.agent+" "+c.name, func(t *testing.T) {
			s, file := newSetup(t, c.agent, false)
			changes, err := s.Install()
			must(t, changes, err)
			before := get(t, file)
			after := c.change(before)
			if after == before {
				t.Fatalf("nothing was changed in\n%s", before)
			}
			if put(t, file, after, 0o600); after == "" {
				os.Remove(file)
			}
			st := s.Status()
			if !st.Installed || !slices.ContainsFunc(st.Problems,
				func(p Problem) bool { return strings.Contains(p.Message, c.want) && p.Hint != "" }) {
				t.Errorf("status: %+v, want a problem with %q", st, c.want)
			}
		})
	}
}

func TestCodexTrust(t *testing.T) {
	s, file := newSetup(t, "codex", true)
	config := filepath.Join(filepath.Dir(file), "config.toml")
	before := "model = \"gpt-5\" # [not] a table\nnotify = [\n  \"a\", # ]\n]\ntext = " +
		"\"\"\"\n[hooks.state.\"x\"]\n\"\"\"\n\n[hooks.state.\"/other:stop:0:0\"]\ntrusted_hash = \"sha256:aa\"\n# the end"
	put(t, config, before, 0o600)
	put(t, file, foreign["codex"], 0o600)
	changes, err := s.Install()
	must(t, changes, err)
	if st := s.Status(); len(st.Problems) > 0 {
		t.Errorf("status: %+v", st)
	}
	text := get(t, config)
	if !strings.HasPrefix(text, before+"\n") || strings.Count(text, "trusted_hash") != 1+len(s.Agent.Events()) ||
		!strings.Contains(text, file+":pre_tool_use:1:0") {
		t.Errorf("config.toml:\n%s", text)
	}
	for _, off := range []string{strings.Replace(text, file+":pre_tool_use:1:0\"]\n", file+":pre_tool_use:1:0\"]\nenabled = false\n", 1),
		text + "[features]\nhooks = false\n", before, text + "\"\"\""} {
		put(t, config, off, 0o600)
		if st := s.Status(); len(st.Problems) != 1 {
			t.Errorf("status: %+v with\n%s", st, off)
		}
	}
	put(t, config, text, 0o600)
	changes, err = s.Uninstall()
	must(t, changes, err)
	if got := get(t, config); got != before+"\n" || get(t, file) != foreign["codex"] {
		t.Errorf("after uninstall:\n%s\n%s", got, get(t, file))
	}
	for _, text := range []string{"hooks = {}\n", "[hooks]\nstate = {}\n", "[hooks.state]\n\"x\" = {}\n", "a = \"\n", "a = [\n", "x\n",
		"[a\n"} {
		put(t, config, text, 0o600)
		var fe *FileError
		if _, err := s.Install(); !errors.As(err, &fe) || fe.File != config || get(t, config) != text || get(t, file) != foreign["codex"] {
			t.Errorf("with %q: %v", text, err)
		}
	}
}

// TestKnownHash compares with the hash that Codex 0.169.0 itself computes (hooks/list of its app server).
func TestKnownHash(t *testing.T) {
	codex, _ := harness.Named("codex")
	key, hash := codex.Hooks.TrustKey("/f",
		harness.HookEntry{Event: "PreToolUse", Command: "/bin/true hook codex", Matcher: "*", Timeout: "600", Group: 2})
	if key != "/f:pre_tool_use:2:0" || hash != "sha256:ac393e4a5b23f1fe2c77c58e14e4e8834a0d97869a7550b224955e0599f5b7af" {
		t.Errorf("%s %s", key, hash)
	}
}

// TestDenials: Claude Code's own deny list has every protected path that must not be read.
func TestDenials(t *testing.T) {
	for _, user := range []bool{false, true} {
		s, _ := newSetup(t, "claude", user)
		rules := s.denials()
		for _, b := range policy.BasePaths() {
			if strings.HasPrefix(b.Path, "c:") || strings.HasPrefix(b.Path, "~/appdata") {
				continue
			}
			end := strings.TrimPrefix(b.Path, "~")
			if name, ok := strings.CutPrefix(b.Path, "./"); ok && !user {
				end = s.Dir + "/" + name
			}
			if has := slices.ContainsFunc(rules,
				func(r string) bool { return strings.HasPrefix(r, "Read(") && strings.HasSuffix(r, end+")") }); has == b.ChangeOnly {
				t.Errorf("user=%t: %s: denied to be read: %t", user, b.Path, has)
			}
			if has := slices.ContainsFunc(rules,
				func(r string) bool { return strings.HasPrefix(r, "Edit(") && strings.HasSuffix(r, end+")") }); !has && !user {
				t.Errorf("user=%t: %s: may be edited", user, b.Path)
			}
		}
		if len(rules) < 60 {
			t.Errorf("only %d rules", len(rules))
		}
	}
	s, _ := newSetup(t, "claude", false)
	s.Dir = "/root/p"
	if slices.Contains(s.denials(), "Read(//root)") || !slices.Contains(s.denials(), "Read(//root/p/.mycelium)") {
		t.Errorf("in a project below /root: %v", s.denials())
	}
}

func TestShellWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "words")
		var line []string
		for _, w := range words {
			line = append(line, harness.ShellWord(w))
		}
		if got, ok := shellWords(strings.Join(line, " ")); !ok || !slices.Equal(got, words) && !slices.Contains(words, "") {
			t.Fatalf("%q became %q", words, got)
		}
	})
	for _, line := range []string{"/myc hook claude; rm x", "$(x) hook claude", "\"myc\" hook claude", "/myc hook claude > /dev/null",
		"myc hook", "/x/guard hook claude", "/myc hook codex", "/myc 'hook claude'"} {
		s, _ := newSetup(t, "claude", false)
		if s.isOurs(harness.HookEntry{Command: line}) {
			t.Errorf("%q is taken for ours", line)
		}
	}
}

// drawJSON draws a random value.
func drawJSON(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth <= 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.IntRange(-9, 9).Draw(t, "number")
	case 3:
		return rapid.String().Draw(t, "text")
	case 4:
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return drawJSON(t, depth-1) }), 1, 3).Draw(t, "list")
	}
	return rapid.MapOfN(rapid.SampledFrom([]string{"hooks", "permissions", "deny", "PreToolUse", "Stop", "matcher", "x"}),
		rapid.Custom(func(t *rapid.T) any { return drawJSON(t, depth-1) }), 1, 4).Draw(t, "object")
}

// TestLawInstallAndUninstall: for any file of a person, Install fails or changes only our entries, and Uninstall restores the file byte
// for byte.
func TestLawInstallAndUninstall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agent, _ := harness.Named(rapid.SampledFrom(harness.Names()).Draw(t, "agent"))
		s := &Setup{Agent: agent, Protected: protected(), Scope: harness.Scope(rapid.SampledFrom([]string{"", "user"}).Draw(t, "scope")),
			Dir: "/p/x", Environ: []string{"HOME=/h"}, Myc: "/bin/myc", Small: "/h/s/myc-hook", Gateway: "mycelium"}
		value := map[string]any{}
		if v, ok := drawJSON(t, 4).(map[string]any); ok {
			value = v
		}
		opts := []json.Options{json.Deterministic(true)}
		if rapid.Bool().Draw(t, "indented") {
			opts = append(opts, jsontext.WithIndent(rapid.SampledFrom([]string{"  ", "\t", "    "}).Draw(t, "indent")))
		}
		before, err := json.Marshal(value, opts...)
		if err != nil {
			t.Skip(err)
		}
		if bytes.Contains(before, []byte("[]")) || bytes.Contains(before, []byte("{}")) && len(value) > 0 {
			t.Skip("an empty container is laid out by whoever fills it")
		}
		n := note{}
		during, err := s.install("/f", before, &n)
		if err != nil {
			return // refused: nothing is written
		}
		if !jsontext.Value(during).IsValid() {
			t.Fatalf("no JSON:\n%s", during)
		}
		again, err := s.install("/f", during, &n)
		if err != nil || !bytes.Equal(again, during) {
			t.Fatalf("a second time: %v\n%s\n%s", err, during, again)
		}
		after, err := s.uninstall(during, &n)
		if err != nil || !bytes.Equal(after, before) && len(value) > 0 {
			t.Fatalf("%v\n%s\nbecame\n%s\nthrough\n%s", err, before, after, during)
		}
	})
}

// TestHostileFiles: a file that is made to break a parser is refused.
func TestHostileFiles(t *testing.T) {
	for _, comments := range []bool{false, true} {
		for _, piece := range []string{"[", `{"a":`, `["]",`} {
			if _, err := parseJSON([]byte(strings.Repeat(piece, 3<<20)), comments); err == nil {
				t.Errorf("%s again and again is read", piece)
			}
		}
		for _, text := range []string{`{"a":1,"a":2}`, `{"a":1} x`, `{"a":`, `{"a":"` + "\xff" + `"}`} {
			if _, err := parseJSON([]byte(text), comments); err == nil || !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	for _, text := range []string{"a = " + strings.Repeat("[", 3<<20), strings.Repeat("[", 3<<20), "a = \"\"\"x", "[a", "a = 1 b = 2", "= 1"} {
		if _, err := tomlTables([]byte(text)); !errors.Is(err, errTOML) {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, text := range foreign {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Add([]byte("{\"a\":[1,2,{}],\"b\":\"\\u00e9\"}"), false)
	f.Fuzz(func(t *testing.T, text []byte, comments bool) {
		root, err := parseJSON(text, comments)
		if err != nil || root.kind == 0 {
			return
		}
		if !comments && !jsontext.Value(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))).IsValid() {
			t.Fatalf("taken for JSON: %q", text)
		}
		if out, err := addElements(text, comments, []string{"hooks", "x"}, jsontext.Value(`"y"`)); err == nil {
			again, err := parseJSON(out, comments)
			if err != nil {
				t.Fatalf("%q became %q: %v", text, out, err)
			}
			if list := lookup(&again, []string{"hooks", "x"}); list == nil || list.elems[len(list.elems)-1].str(out) != "y" {
				t.Fatalf("%q became %q", text, out)
			}
		}
	})
}

func FuzzTOML(f *testing.F) {
	f.Add([]byte("a = 1\n[b.\"c d\"]\nx = '''\n'''\n[[e]]\n"))
	f.Add([]byte("a = [\n1, # ]\n]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		tables, err := tomlTables(text)
		if err != nil {
			return
		}
		for i, table := range tables {
			if table.own < table.start || table.own > len(text) || i > 0 && table.start < tables[i-1].own {
				t.Fatalf("%q: table %d stands at %d to %d", text, i, table.start, table.own)
			}
		}
	})
}
