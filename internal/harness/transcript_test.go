package harness

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// claudeTranscript is a part of a transcript of Claude Code 2.1.197: a line for each block.
const claudeTranscript = `{"type":"queue-operation","operation":"enqueue","content":"Go."}
{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Look at the shop."},` +
	`"timestamp":"2026-11-22T02:09:32.797Z"}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-4-8","content":[{"type":"thinking","thinking":"I must ` +
	`look first.","signature":"x"}],"usage":{"cache_read_input_tokens":30,"cache_creation_input_tokens":20}},` +
	`"timestamp":"2026-11-22T02:09:33Z"}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-4-8","content":[{"type":"text","text":"I look."}]},` +
	`"timestamp":"2026-11-22T02:09:33.5Z"}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"toolu_1",` +
	`"name":"Read","input":{"file_path":"a"}}]},"timestamp":"2026-11-22T02:09:34Z"}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"toolu_2",` +
	`"name":"Task","input":{"prompt":"role: guest","subagent_type":"x"}}]},"timestamp":"2026-11-22T02:09:34Z"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"toolu_9 きのこ"}]}}
not JSON {{{
{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"Now I write."},{"type":"tool_use",` +
	`"id":"toolu_3","name":"Write"}]}}
{"type":"assistant","message":{"id":"m3","role":"assistant","content":[{"type":"tool_use","id":"toolu_4","name":"Bash"}]}}
{"type":"user","isMeta":true,"message":{"role":"user","content":"[a caveat]"}}
`

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReasoning(t *testing.T) {
	path := writeFile(t, "r.jsonl", claudeTranscript)
	for _, id := range []string{"toolu_1", "toolu_2"} {
		got := Transcript(path).Reasoning(id, false)
		if got == nil || got.Thinking != "I must look first." || got.Summary != "I look." || got.Type != "extended_thinking" ||
			got.Model != "claude-opus-4-8" ||
			got.CacheRead != 30 || got.CacheWrite != 20 {
			t.Errorf("%s: %+v", id, got)
		}
	}
	if got := Transcript(path).Reasoning("toolu_3", true); got == nil || got.Thinking != "Now I write." || got.Type != "reasoning" ||
		got.Summary != "" {
		t.Errorf("words only: %+v", got)
	}
	for _, id := range []string{"toolu_4", "toolu_9", "", "toolu_"} {
		if got := Transcript(path).Reasoning(id, false); got != nil {
			t.Errorf("%q: %+v", id, got)
		}
	}
	if got := Transcript(path).Prompt("toolu_2"); got != "role: guest" {
		t.Errorf("the prompt of a task: %q", got)
	}
	if got := Transcript(path).FirstPrompt(); got != "Look at the shop." {
		t.Errorf("the first prompt: %q", got)
	}
	seen := Transcript(path).Recent(3)
	if strings.Join(seen.Messages, "|") != "assistant: Now I write.|assistant used Write|assistant used Bash" || seen.Said != "Now I write." ||
		strings.Join(seen.Tools, " ") != "Task Write Bash" {
		t.Errorf("lately: %+v", seen)
	}
}

// TestLongTranscript: only the end of a long transcript is read, without the line that the cut splits.
func TestLongTranscript(t *testing.T) {
	early := strings.ReplaceAll(claudeTranscript, "toolu_1", "toolu_early")
	path := writeFile(t, "r.jsonl",
		early+`{"type":"user","message":{"role":"user","content":"`+strings.Repeat("x", 2*maxTail)+"\"}}\n"+claudeTranscript)
	if Transcript(path).Reasoning("toolu_1", false) == nil || Transcript(path).Reasoning("toolu_early", false) != nil {
		t.Error("not the end is read")
	}
}

// TestTranscriptsThatAreNone: an agent may name any path. None of them blocks, and other formats are ignored.
func TestTranscriptsThatAreNone(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir, filepath.Join(dir, "absent.jsonl"), "/dev/zero", ""} {
		if Transcript(path).Reasoning("t", false) != nil || Transcript(path).FirstPrompt() != "" || startedBy(path) != "" ||
			Transcript(path).Prompt("t") != "" || len(Transcript(path).Recent(3).Messages) > 0 {
			t.Errorf("%s says something", path)
		}
	}
	for _, e := range []Event{
		{Agent: "codex", Transcript: "/a/r.jsonl"}, {Agent: "claude", Transcript: "r.jsonl"}, {Agent: "claude", Transcript: "/etc/passwd"},
		{Agent: "claude"},
	} {
		if got := e.RunTranscript(); got != "" {
			t.Errorf("%+v: %s", e, got)
		}
	}
	for _, e := range []Event{
		{Agent: "claude", Transcript: "/a/r.jsonl", AgentID: "../../x"}, {Agent: "claude", Transcript: "/a/r.jsonl", AgentID: "x/y"},
		{Agent: "claude", Transcript: "/a/r.jsonl"},
		{Agent: "claude", Transcript: "a/r.jsonl", AgentID: "x"}, {Agent: "gemini", Transcript: "/a/r.jsonl", AgentID: "x"},
	} {
		if got := e.ofChild(".jsonl"); got != "" {
			t.Errorf("%+v: %s", e, got)
		}
	}
	e := Event{Agent: "claude", Transcript: "/a/r.jsonl", AgentID: "a5b-_Z"}
	if got := e.OwnTranscript(); got != "/a/r/subagents/agent-a5b-_Z.jsonl" {
		t.Error(got)
	}
}

func FuzzTranscript(f *testing.F) {
	f.Add(claudeTranscript, "toolu_1")
	f.Add(`{"type":"assistant","message":{"id":"","content":[{"type":"tool_use","id":"t"}]}}`, "t")
	f.Add(`{"type":"assistant","message":{"content":{"a":1}}}`+"\n[]\n\"x\"\n{}", "t")
	f.Add(`{"toolUseId":"t1"}`, "t1")
	f.Fuzz(func(t *testing.T, text, id string) {
		if id == "" {
			return
		}
		if got, _ := reasoningIn([]byte(text), id); got != nil && (got.Thinking == "" || !strings.Contains(text, id)) {
			t.Errorf("%q: %+v", id, got)
		}
		if n := len(recentIn([]byte(text), 5).Messages); n > 5 {
			t.Errorf("%d messages", n)
		}
		if got := TaskOf(jsontext.Value(text)); len(got.Prompt) > len(text) {
			t.Errorf("a prompt of %d bytes out of %d", len(got.Prompt), len(text))
		}
	})
}

// BenchmarkReasoning measures the time of a hook with a long transcript, for a call that has been written and for one that has not.
func BenchmarkReasoning(b *testing.B) {
	other := strings.NewReplacer("toolu_", "toolu_x", `"id":"m`, `"id":"x`).Replace(claudeTranscript)
	path := writeFile(b, "r.jsonl", strings.Repeat(other, 2*maxTail/len(other))+claudeTranscript)
	for id, there := range map[string]bool{"toolu_1": true, "toolu_absent": false} {
		b.Run(id, func(b *testing.B) {
			for b.Loop() {
				if (Transcript(path).Reasoning(id, true) != nil) != there {
					b.Fatal("not what the transcript says")
				}
			}
		})
	}
}

// TestReasoningNearTheEnd: the short end of the file suffices only if it has the whole message. Otherwise the rest of the message, its
// thinking or the call itself, is found further up.
func TestReasoningNearTheEnd(t *testing.T) {
	filler := func(n int) string {
		return `{"type":"user","message":{"role":"user","content":"` + strings.Repeat("x", n) + "\"}}\n"
	}
	line := func(id, block string) string {
		return `{"type":"assistant","message":{"id":"` + id + `","role":"assistant","content":[` + block + "]}}\n"
	}
	thought, call := line("m8", `{"type":"thinking","thinking":"Far up."}`), line("m8", `{"type":"tool_use","id":"toolu_8","name":"Read"}`)
	other := line("m7", `{"type":"text","text":"Before."}`)
	for name, text := range map[string]string{
		"all of it at the end":          filler(2*nearTail) + other + thought + call,
		"the thinking before the cut":   other + thought + filler(nearTail) + call,
		"the call before the cut":       other + thought + call + filler(nearTail),
		"nothing before the message":    filler(2*nearTail) + thought + call,
		"a result between its lines":    other + thought + filler(nearTail-len(call)-100) + filler(10) + call,
		"a message after, and the call": other + thought + call + filler(2*nearTail) + line("m9", `{"type":"text","text":"What now?"}`),
	} {
		path := writeFile(t, "r.jsonl", text)
		for _, coming := range []bool{false, true} {
			if name == "a message after, and the call" && coming { // it is not the next call any more
				continue
			}
			if got := Transcript(path).Reasoning("toolu_8", coming); got == nil || got.Thinking != "Far up." {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}
