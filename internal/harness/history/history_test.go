package history

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// read reads a file of testdata, which the real agent wrote in a run against the scripted model (Claude Code 2.1.197, Codex 0.169.0 and
// Gemini CLI of package.json), with long instructions left out.
func read(t testing.TB, agent string) *Conversation {
	t.Helper()
	f, err := Open(filepath.Join("testdata", agent+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := Read(agent, f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// lines writes a conversation in a short form.
func lines(c *Conversation) (out []string) {
	for _, m := range c.Messages {
		out = append(out, m.Role+": "+m.Text)
		if m.Thinking != "" {
			out = append(out, "  thought: "+m.Thinking)
		}
		for _, k := range m.Calls {
			out = append(out, fmt.Sprintf("  %s %s: %s failed=%t", k.Name, k.Input, strings.TrimSpace(k.Output), k.Failed))
		}
	}
	return out
}

const done = "assistant: **Done**: きのこ & <b>bold</b>"

func TestRead(t *testing.T) {
	prompt := "user: Look at the mushrooms. きのこを見て。"
	for agent, want := range map[string]struct {
		id, model string
		lines     []string
	}{
		Claude: {"5527d589-196c-4f25-be88-7ea11f2dd5f0", "claude-opus-4-8", []string{prompt,
			"assistant: I look.", "  thought: I look first.",
			`  Bash {"command":"echo きのこ","description":"does what the script says"}: きのこ failed=false`,
			"assistant: ", `  Bash {"command":"false","description":"does what the script says"}: Exit code 1 failed=true`, done}},
		Codex: {"01a21521-eb4a-7651-aa14-404fde6a0e73", "gpt-5", []string{prompt,
			"assistant: I look.\n\n**Done**: きのこ & <b>bold</b>",
			`  exec_command {"cmd":"echo きのこ"}: きのこ failed=false`, `  exec_command {"cmd":"false"}:  failed=true`}},
		Gemini: {"d1827ccf-7d25-4811-8aa7-59d872c0a4f0", "gemini-2.5-flash", []string{prompt, "assistant: I look.",
			`  run_shell_command {"command":"echo きのこ","description":"does what the script says"}: ` +
				"<untrusted_context>\nOutput: きのこ\nProcess Group PGID: 16817\n</untrusted_context> failed=false",
			"assistant: ", `  run_shell_command {"command":"false","description":"does what the script says"}: ` +
				"<untrusted_context>\nOutput: (empty)\nExit Code: 1\nProcess Group PGID: 16819\n</untrusted_context> failed=false", done}},
	} {
		c := read(t, agent)
		if c.ID != want.id || c.Model != want.model || c.Faults != 0 || c.Started.IsZero() || agent != Gemini && c.Dir != "/home/u/project" {
			t.Errorf("%s: %+v", agent, c)
		}
		if diff := cmp.Diff(want.lines, lines(c)); diff != "" {
			t.Errorf("%s: %s", agent, diff)
		}
	}
}

// TestBrokenLines: a line that cannot be read is reported with its number, and the rest is read.
func TestBrokenLines(t *testing.T) {
	for _, agent := range []string{Claude, Codex, Gemini} {
		raw, err := os.ReadFile(filepath.Join("testdata", agent+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.SplitAfter(string(raw), "\n")
		broken := whole[0] + "{\"type\": \"user\", \n" + "\x00\xff\n\n[1]\n" + strings.Join(whole[1:], "") + `{"type":"assis`
		c, err := Read(agent, strings.NewReader(broken))
		if err != nil {
			t.Fatalf("%s: %v", agent, err)
		}
		if diff := cmp.Diff(lines(read(t, agent)), lines(c)); diff != "" {
			t.Errorf("%s: %s", agent, diff)
		}
		if c.Faults != 4 || c.Skipped[0].Line != 2 || c.Skipped[1].Line != 3 || c.Skipped[2].Line != 5 {
			t.Errorf("%s: %d faults: %+v", agent, c.Faults, c.Skipped)
		}
		if _, err := Read(agent, strings.NewReader("no JSON\n")); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: a file without a message: %v", agent, err)
		}
	}
	long := `{"type":"user","message":{"role":"user","content":"` + strings.Repeat("x", maxLine) + "\"}}\n"
	c, err := Read(Claude, strings.NewReader(long+`{"type":"user","message":{"role":"user","content":"short"}}`))
	if err != nil || len(c.Messages) != 1 || c.Faults != 1 {
		t.Errorf("a line that is too long: %+v, %v", c, err)
	}
}

// TestOlderForms: forms of earlier versions, and lines that change what came before.
func TestOlderForms(t *testing.T) {
	for name, c := range map[string]struct{ agent, in, want string }{
		"Gemini, one object": {Gemini, "{\n\"sessionId\":\"s\",\"messages\":[{\"id\":\"1\",\"type\":\"user\",\"content\":\"hello\"}," +
			"{\"id\":\"2\",\"type\":\"info\",\"content\":\"update\"},{\"id\":\"3\",\"type\":\"gemini\",\"content\":\"hi\"," +
			"\"thoughts\":[{\"subject\":\"Greet\",\"description\":\"back\"}]}]}",
			"user: hello|assistant: hi|  thought: Greet: back"},
		"Gemini, taken back": {Gemini, `{"id":"1","type":"user","content":"one"}` + "\n" + `{"id":"2","type":"user","content":"two"}` + "\n" +
			`{"$rewindTo":"2"}` + "\n" + `{"id":"3","type":"user","content":"three"}`, "user: one|user: three"},
		"Codex, output as an object": {Codex, `{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c",` +
			`"arguments":"no JSON"}}` + "\n" + `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c",` +
			`"output":"{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}"}}`, `assistant: |  shell "no JSON": no failed=true`},
		"Codex, its own message": {Codex, `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text",` +
			`"text":"<environment_context>x</environment_context>"}]}}` + "\n" +
			`{"type":"compacted","payload":{"message":"before"}}`, "system: before"},
		"Claude Code, subagents and images": {Claude, `{"type":"user","isSidechain":true,"message":{"content":"hidden"}}` + "\n" +
			`{"type":"user","isMeta":true,"message":{"content":"hidden"}}` + "\n" +
			`{"type":"user","isCompactSummary":true,"message":{"content":"before"}}` + "\n" +
			`{"type":"user","message":{"content":[{"type":"image"},{"type":"text","text":"see"}]}}`, "system: before|user: [image]\n\nsee"},
	} {
		got, err := Read(c.agent, strings.NewReader(c.in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if said := strings.Join(lines(got), "|"); said != c.want {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// TestFind: only the conversations of a folder are found.
func TestFind(t *testing.T) {
	home := t.TempDir()
	put := func(from, to string) {
		raw, err := os.ReadFile(filepath.Join("testdata", from))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(home, to)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(home, to), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{Claude: ".claude/projects/-home-u-project/5.jsonl", Codex: ".codex/sessions/2026/11/25/rollout-5.jsonl",
		Gemini: ".gemini/tmp/project/chats/session-5.jsonl"}
	for agent, to := range files {
		put(agent+".jsonl", to)
	}
	if err := os.WriteFile(filepath.Join(home, ".gemini/tmp/project/.project_root"), []byte("/home/u/project"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Places{Home: home, Getenv: func(string) string { return "" }}
	for agent, to := range files {
		for dir, want := range map[string]bool{"/home/u/project": true, "/home/u": true, "/home/u/pro": false, "/home/v": false} {
			found, err := p.Find(agent, dir)
			if err != nil || (len(found) == 1 && found[0] == filepath.Join(home, to)) != want || len(found) > 1 {
				t.Errorf("%s in %s: %v, %v", agent, dir, found, err)
			}
		}
	}
	if _, err := p.Find("emacs", home); err == nil {
		t.Error("an unknown agent is no error")
	}
}

func fuzz(f *testing.F, agent string) {
	raw, err := os.ReadFile(filepath.Join("testdata", agent+".jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	for line := range strings.Lines(string(raw)) {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := Read(agent, strings.NewReader(string(raw)))
		if err != nil {
			return
		}
		for _, m := range c.Messages {
			if m.Role != "user" && m.Role != "assistant" && m.Role != "system" || !utf8.ValidString(m.Text) {
				t.Errorf("%+v", m)
			}
			for _, k := range m.Calls {
				if len(k.Input) > 0 && !k.Input.IsValid() {
					t.Errorf("the input of %s is no JSON: %q", k.Name, k.Input)
				}
			}
		}
	})
}

func FuzzReadClaudeFile(f *testing.F) { fuzz(f, Claude) }
func FuzzReadCodexFile(f *testing.F)  { fuzz(f, Codex) }
func FuzzReadGeminiFile(f *testing.F) { fuzz(f, Gemini) }
