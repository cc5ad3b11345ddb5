package harness

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"mycelium/internal/policy"
)

var update = flag.Bool("update", false, "write the golden files anew")

// answers are all kinds of answers; each event of the golden files gets every one of them.
var answers = []struct {
	name string
	Answer
}{
	{"deny", Answer{Reason: "not here"}},
	{"deny without a reason", Answer{}},
	{"allow", Answer{Verdict: Allow, Reason: "rule"}},
	{"ask", Answer{Verdict: Ask, Reason: "needs a person"}},
	{"pass", Answer{Verdict: Pass}},
	{"message", Answer{Verdict: Pass, Message: "look"}},
	{"context", Answer{Verdict: Pass, Context: "read this"}},
	{"block", Answer{Verdict: Pass, Block: true, Reason: "go on"}},
	{"halt", Answer{Halt: true, Reason: "enough"}},
}

// TestDialects reads every event of testdata/AGENT.txtar (NAME.in). It compares the canonical event (NAME.event) and each answer in the
// dialect (NAME.out) with the golden files. `go test ./internal/harness -run TestDialects -update` rewrites them.
func TestDialects(t *testing.T) {
	for _, known := range Agents() {
		agent := known.Name
		t.Run(agent, func(t *testing.T) {
			path := filepath.Join("testdata", agent+".txtar")
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{Comment: a.Comment}
			seen := map[string]bool{}
			for _, f := range a.Files {
				name, ok := strings.CutSuffix(f.Name, ".in")
				if !ok {
					continue
				}
				e, err := Read(agent, "", bytes.TrimSpace(f.Data))
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				seen[e.Name] = true
				if pinned, err := Read(agent, e.Name, f.Data); err != nil || !cmp.Equal(pinned, e) {
					t.Errorf("%s: with the event pinned it is another: %v %s", name, err, cmp.Diff(e, pinned))
				}
				raw, err := json.Marshal(e, json.Deterministic(true), jsontext.WithIndent("  "))
				if err != nil {
					t.Fatal(err)
				}
				got.Files = append(got.Files, f, txtar.File{Name: name + ".event", Data: append(raw, '\n')},
					txtar.File{Name: name + ".out", Data: written(e)})
			}
			for _, name := range known.Events() {
				if !seen[name] {
					t.Errorf("no golden file has the event %s", name)
				}
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(a)), string(txtar.Format(got))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// written returns every answer to an event in the dialect.
func written(e Event) []byte {
	var b bytes.Buffer
	for _, a := range answers {
		stdout, stderr, exit := Write(e, a.Answer)
		fmt.Fprintf(&b, "%s: exit %d\n", a.name, exit)
		if len(stdout) > 0 {
			fmt.Fprintf(&b, "  %s", stdout)
		}
		if stderr != "" {
			fmt.Fprintf(&b, "  stderr: %s\n", stderr)
		}
	}
	return b.Bytes()
}

// TestDenialIsExplicit: before a tool, the zero answer is an explicit denial in every dialect, or blocks by the exit code.
func TestDenialIsExplicit(t *testing.T) {
	for _, agent := range append(Names(), "nobody") {
		known, _ := Named(agent)
		for _, name := range append(known.Events(), "") {
			e := Event{Agent: agent, Name: name, Kind: known.Kind(name)}
			if !e.Kind.Precedes() {
				continue
			}
			for _, a := range []Answer{{}, {Verdict: "nonsense"}, {Reason: " "}, {Halt: true}} {
				stdout, stderr, exit := Write(e, a)
				said := bytes.Contains(stdout, []byte(`"deny"`)) && exit == 0
				blocked := exit == Block && strings.TrimSpace(stderr) != ""
				if said == blocked {
					t.Errorf("%s %q %+v: %q, %q, exit %d", agent, name, a, stdout, stderr, exit)
				}
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	const good = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`
	for name, c := range map[string]struct{ agent, event, in, want string }{
		"no agent":          {"copilot", "", good, "unknown agent"},
		"nothing":           {"claude", "PreToolUse", "", "cannot be read"},
		"not a JSON object": {"claude", "PreToolUse", "[]", "cannot be read"},
		"cut":               {"claude", "PreToolUse", good[:40], "cannot be read"},
		"twice":             {"claude", "PreToolUse", `{"tool_name":"Read","tool_name":"Bash"}`, "cannot be read"},
		"more behind it":    {"claude", "PreToolUse", good + good, "cannot be read"},
		"wrong kind":        {"claude", "PreToolUse", `{"tool_name":7}`, `"tool_name" has a value of the wrong kind`},
		"no tool":           {"claude", "PreToolUse", `{"hook_event_name":"PreToolUse","tool_input":{}}`, "names no tool"},
		"no arguments": {"claude", "PreToolUse", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":[]}`,
			"not a JSON object"},
		"unknown event":     {"claude", "", strings.ReplaceAll(good, "PreToolUse", "Dreaming"), `no event "Dreaming"`},
		"unknown pinned":    {"claude", "Dreaming", good, `no event "Dreaming"`},
		"another's event":   {"gemini", "", good, `no event "PreToolUse"`},
		"pinned as another": {"claude", "Notification", good, "is for Notification"},
		"too long":          {"claude", "PreToolUse", `{"x":"` + strings.Repeat("x", MaxInput) + `"}`, "longer than"},
		"too deep": {"claude", "PreToolUse", `{"tool_name":"Bash","tool_input":{"command":` + strings.Repeat("[", 200_000) +
			strings.Repeat("]", 200_000) + `}}`, "nested more than 1000 deep"},
		"command of numbers": {"codex", "PreToolUse", strings.ReplaceAll(good, `"ls"`, `[1]`), "neither a text nor a list"},
		"patch of nothing": {"codex", "PreToolUse",
			strings.ReplaceAll(strings.ReplaceAll(good, "Bash", "apply_patch"), "ls", "*** Begin Patch"), "which files it touches"},
		"patch without path": {"codex", "PreToolUse",
			strings.ReplaceAll(strings.ReplaceAll(good, "Bash", "apply_patch"), "ls", "*** Add File:  "), "which files it touches"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Read(c.agent, c.event, []byte(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if !e.Kind.Precedes() {
				t.Errorf("it counts as %q: it would not be denied", e.Kind)
			}
		})
	}
}

// TestNamesAreOnce: no tool of an agent is in its table twice, and the policy knows every canonical name.
func TestNamesAreOnce(t *testing.T) {
	for _, a := range Agents() {
		seen := map[string]bool{}
		for _, pair := range a.Tools() {
			if seen[pair[0]] {
				t.Errorf("%s: %s stands there twice", a.Name, pair[0])
			}
			seen[pair[0]] = true
			if !slices.Contains(policy.AgentTools(), pair[1]) {
				t.Errorf("%s: %s is %s, which the policy does not know", a.Name, pair[0], pair[1])
			}
		}
	}
}

// TestCanonical: tools with different names in different agents become one tool with the same arguments.
func TestCanonical(t *testing.T) {
	for _, c := range []struct{ agent, native, in, tool, out, dir string }{
		{"claude", "Bash", `{"command":"ls"}`, "agent__Bash", `{"command":"ls"}`, "/p"},
		{"claude", "Agent", `{"prompt":"x"}`, "agent__Task", `{"prompt":"x"}`, "/p"},
		{"claude", "Dream", ``, "agent__Dream", `{}`, "/p"},
		{"claude", "mcp__files__read_file", `{"path":"a"}`, "files__read_file", `{"path":"a"}`, "/p"},
		{"claude", "mcp__plugin_my_tools_files__read_file", `{}`, "files__read_file", `{}`, "/p"},
		{"claude", "mcp__files", `{}`, "agent__mcp__files", `{}`, "/p"},
		{"codex", "shell", `{"command":["bash","-lc","rm -rf a b"],"workdir":"sub"}`, "agent__Bash", `{"command":"bash -lc 'rm -rf a b'"}`,
			"/p/sub"},
		{"codex", "exec_command", `{"cmd":"ls","workdir":"/tmp"}`, "agent__Bash", `{"command":"ls"}`, "/tmp"},
		{"codex", "shell", `{"command":["echo","it's","$HOME",""]}`, "agent__Bash", `{"command":"echo 'it'\\''s' '$HOME' ''"}`, "/p"},
		{"codex", "apply_patch",
			`{"command":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+*** Delete File: no\n*** Delete File: c\n*** End Patch"}`,
			"agent__Edit",
			`{"patch":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+*** Delete File: no\n*** Delete File: c\n*** End ` +
				`Patch","paths":["a","b"],"deletedPaths":["c"]}`, "/p"},
		{"codex", "mcp__mycelium__files__read_file", `{}`, "mycelium__files__read_file", `{}`, "/p"},
		{"gemini", "run_shell_command", `{"command":"ls","dir_path":"x"}`, "agent__Bash", `{"command":"ls"}`, "/p/x"},
		{"gemini", "replace", `{"file_path":"a","old_string":"x","new_string":"y"}`, "agent__Edit",
			`{"file_path":"a","old_string":"x","new_string":"y"}`, "/p"},
		{"gemini", "web_fetch", `{"prompt":"read (https://a.example/x), and http://b.example."}`, "agent__WebFetch",
			`{"prompt":"read (https://a.example/x), and http://b.example.","urls":["https://a.example/x","http://b.example"]}`, "/p"},
		{"gemini", "list_directory", `{"dir_path":"a"}`, "agent__LS", `{"path":"a"}`, "/p"},
		{"gemini", "mcp_files_read_file", `{}`, "files__read_file", `{}`, "/p"},
		{"crush", "bash", `{"command":"ls","working_dir":null}`, "agent__Bash", `{"command":"ls"}`, "/p"},
		{"crush", "view", `{"file_path":"a"}`, "agent__Read", `{"file_path":"a"}`, "/p"},
		{"crush", "mcp_shop_buy_now", `{}`, "shop__buy_now", `{}`, "/p"},
	} {
		e := Event{Agent: c.agent, Dir: "/p"}
		known, _ := Named(c.agent)
		if err := e.canonical(&known, &wire{ToolName: c.native, ToolInput: jsontext.Value(c.in)}); err != nil || e.Tool != c.tool ||
			string(e.Input) != c.out || e.Dir != c.dir {
			t.Errorf("%s %s: %s %s in %s, %v\nwant %s %s in %s", c.agent, c.native, e.Tool, e.Input, e.Dir, err, c.tool, c.out, c.dir)
		}
	}
}

func fuzzRead(f *testing.F, agent string) {
	a, err := txtar.ParseFile(filepath.Join("testdata", agent+".txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range a.Files {
		if strings.HasSuffix(file.Name, ".in") {
			f.Add("", file.Data)
			f.Add("PreToolUse", file.Data)
		}
	}
	f.Add("Status", []byte(statusInput))
	f.Add("", []byte(`{"hook_event_name":"Status"}`))
	known, _ := Named(agent)
	f.Fuzz(func(t *testing.T, event string, in []byte) {
		e, err := Read(agent, event, in)
		if err == nil && (e.Kind == "" || e.Kind.Precedes() && (e.Tool == "" || e.Input.Kind() != '{')) {
			t.Errorf("%+v was read, and cannot be decided", e)
		}
		if err != nil && known.Kind(event).Precedes() && !e.Kind.Precedes() {
			t.Errorf("%+v is not read, and would not be denied", e)
		}
		if e.Kind == Status && event != known.StatusLine.Event {
			t.Errorf("%+v is a status line, and the entry is for %q", e, event)
		}
		for _, c := range answers { // no answer panics, and a denial stays a denial
			stdout, stderr, exit := Write(e, c.Answer)
			if e.Kind.Precedes() && c.Verdict == Deny && !bytes.Contains(stdout, []byte(`"deny"`)) && (exit != Block || stderr == "") {
				t.Errorf("%+v: %s is %q %q %d", e, c.name, stdout, stderr, exit)
			}
			if len(stdout) > 0 && e.Kind != Status && !jsontext.Value(bytes.TrimSpace(stdout)).IsValid() {
				t.Errorf("%q is no JSON", stdout)
			}
		}
	})
}

func FuzzReadClaude(f *testing.F) { fuzzRead(f, "claude") }
func FuzzReadCodex(f *testing.F)  { fuzzRead(f, "codex") }
func FuzzReadGemini(f *testing.F) { fuzzRead(f, "gemini") }
func FuzzReadCrush(f *testing.F)  { fuzzRead(f, "crush") }
