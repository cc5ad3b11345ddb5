package harness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/policy"
)

// schemas are the tools that the real agents offer, with the names of their arguments: what the agents of the npm packages sent to the
// scripted model, what Claude Code's sdk-tools.d.ts lists besides, and for Crush its published source.
type schemas struct {
	Agent   string              `json:"agent"`
	Version string              `json:"version"`
	Tools   map[string][]string `json:"tools"`
}

// notOurs are tools that this program does not know: only a skill that names one grants it.
var notOurs = []string{"DeferredToolPlaceholder", "write_stdin", "get_goal", "create_goal", "update_goal", "close_agent", "resume_agent",
	"send_input", "wait_agent", "update_topic", "list_background_processes", "crush_info", "crush_logs", "lsp_restart", "sourcegraph",
	"exec_command", "RefreshMcpTools", "ReadNotifications", "ProposeSkills", "ProposeGoal", "ClaudeDesign", "Projects", "REPL",
	"OfferChromeSetup", "ShowOnboardingRolePicker"}

// TestEveryFieldOfEveryTool: each argument of each tool that a real agent offers has its place in the table.
func TestEveryFieldOfEveryTool(t *testing.T) {
	files, err := filepath.Glob("testdata/schemas/*.json")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s schemas
		if err := json.Unmarshal(text, &s); err != nil || len(s.Tools) < 5 {
			t.Fatalf("%s: %v", file, err)
		}
		a, _ := Named(s.Agent)
		for native, fields := range s.Tools {
			tool, renamed := native, ""
			tool = claudeName(tool)
			for _, row := range a.tools {
				if row.native == native {
					tool, renamed = row.tool, row.args
				}
			}
			known, ok := fieldsOf(tool)
			if !ok {
				if !slices.Contains(notOurs, native) {
					t.Errorf("%s %s: %s is in no table", s.Agent, s.Version, native)
				}
				continue
			}
			for _, field := range fields {
				for pair := range strings.FieldsSeq(renamed) {
					if theirs, ours, _ := strings.Cut(pair, ">"); theirs == field {
						field = ours
					}
				}
				if _, ok := known[field]; !ok && !strings.HasPrefix(field, "@") && field != everywhere && field != "shell" { // another shell asks
					t.Errorf("%s %s: %s has %s, which is not in the table", s.Agent, s.Version, native, field)
				}
			}
		}
	}
	for _, row := range fieldTable {
		if !slices.Contains(policy.AgentTools(), row.tool) {
			t.Errorf("the policy does not know %s", row.tool)
		}
		if k := policy.KindOf(policy.Item{Server: policy.AgentServer, Name: row.tool}); k.Changes && k.Category == policy.CategoryGeneral {
			t.Errorf("%s has no row in policy/toolkind.go", row.tool)
		}
	}
}

// TestFilesOfSearches: what a search reads becomes globs, and an argument that is not known is named.
func TestFilesOfSearches(t *testing.T) {
	for _, c := range []struct{ agent, native, in, want string }{
		{"claude", "Grep", `{"pattern":"KEY","glob":".env"}`, `"globPaths":["./.env","./.env/**","./**/.env"]`},
		{"claude", "Grep", `{"pattern":"KEY","path":"/p/a[1]","glob":"*.go,!x"}`,
			`"globPaths":["/p/a\\[1]/*.go","/p/a\\[1]/*.go/**","/p/a\\[1]/**/*.go"]`},
		{"claude", "Grep", `{"pattern":"KEY","glob":"sub/*.{a,b} x"}`,
			`"globPaths":["./sub/*.{a,b}","./sub/*.{a,b}/**","./x","./x/**","./**/x"]`},
		{"claude", "Grep", `{"pattern":"x","type":"go","-n":true}`, `"-n":true}`},
		{"claude", "Grep", `{"pattern":"x","glob":"!.env"}`, `"glob":"!.env"}`},
		{"claude", "Glob", `{"pattern":"**/*.go"}`, `{"pattern":"**/*.go"}`},
		{"claude", "Glob", `{"pattern":"/home/u/.ssh/*"}`, `"paths":["/home/u/.ssh"]`},
		{"claude", "Glob", `{"pattern":"../../x/*","path":"sub"}`, `"paths":["./../x"]`},
		{"claude", "Glob", `{"pattern":"/home/u/.s*/*"}`, `"paths":["/home/u"]},"globPaths":["/home/u/.s*/*"]`},
		{"claude", "Glob", `{"pattern":"**/.env"}`, `"globPaths":["./**/.env"]`},
		{"claude", "Glob", `{"pattern":"~/.aws/*"}`, `"paths":["~/.aws"]`},
		{"claude", "Read", `{"file_path":"a","secret_path":"/etc/shadow"}`, `"unknownFields":["secret_path"]`},
		{"claude", "Read", `{"file_path":"a","globPaths":["x"]}`, `{"file_path":"a","unknownFields":["globPaths"]}`},
		{"claude", "Bash", `{"command":"ls","shell":"/tmp/x"}`, `"unknownFields":["shell"]`},
		{"claude", "Dream", `{"what":1}`, `{"what":1}`},
		{"gemini", "grep_search", `{"pattern":"x","dir_path":"/p","include_pattern":".env"}`,
			`"globPaths":["/p/.env","/p/.env/**","/p/**/.env"]`},
		{"gemini", "read_many_files", `{"include":["**/.env"]}`, `"globPaths":["**/.env"]`},
		{"gemini", "glob", `{"pattern":"/etc/*","wait_for_previous":true}`, `"paths":["/etc"]`},
		{"codex", "grep_files", `{"pattern":"x","include":".env","path":"/p"}`, `"/p/**/.env"`},
		{"crush", "grep", `{"pattern":"x","include":".env"}`, `"./**/.env"`},
		{"crush", "glob", `{"pattern":"/root/.ssh/*"}`, `"paths":["/root/.ssh"]`},
	} {
		in := `{"tool_name":"` + c.native + `","tool_input":` + c.in + `,"cwd":"/p"}`
		agent, _ := Named(c.agent)
		e, err := Read(c.agent, agent.events[0].name, []byte(in))
		got := strings.ReplaceAll(string(e.Input), `"]},"globPaths"`, `"],"globPaths"`)
		if want := strings.ReplaceAll(c.want, `"]},"globPaths"`, `"],"globPaths"`); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s %s %s:\n%s %v, want\n%s", c.agent, c.native, c.in, e.Input, err, c.want)
		}
	}
	for _, in := range []string{`{"pattern":"x","glob":5}`, `{"pattern":"x","glob":{"a":1}}`, `{"pattern":"x","path":["/"]}`} {
		if e, err := Read("claude", "PreToolUse", []byte(`{"tool_name":"Grep","tool_input":`+in+`}`)); err == nil {
			t.Errorf("%s: %s", in, e.Input)
		}
	}
}
