package harness

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Lines as Claude Code 2.1.330 writes them, shortened.
const (
	callLine = `{"type":"assistant","timestamp":"2026-11-23T11:52:44Z","sessionId":"s","message":{"content":[` +
		`{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`
	resultLine = `{"type":"user","timestamp":"2026-11-23T11:52:45Z","sessionId":"s","message":{"content":[` +
		`{"tool_use_id":"t1","type":"tool_result","content":CONTENT,"is_error":ERROR}]}}`
)

func TestParseCalls(t *testing.T) {
	got := ParseCalls([]byte(callLine))
	if len(got) != 1 || got[0].ID != "t1" || got[0].Tool != "Bash" || got[0].Result || got[0].Session != "s" {
		t.Errorf("the call: %+v", got)
	}
	for result, ran := range map[[2]string]bool{
		{`"hi"`, "false"}: true, {`[{"type":"text","text":"hi"}]`, "false"}: true, {`"Exit code 1"`, "true"}: true,
		{`"<tool_use_error>Error: No such tool available: X</tool_use_error>"`, "true"}: false,
		{`"not from here (rule: no-push)"`, "true"}:                                     false,
		{`"The user doesn't want to proceed with this tool use."`, "true"}:              false,
	} {
		got := ParseCalls([]byte(strings.NewReplacer("CONTENT", result[0], "ERROR", result[1]).Replace(resultLine)))
		if len(got) != 1 || got[0].ID != "t1" || !got[0].Result || got[0].Ran != ran {
			t.Errorf("%s: %+v, want %t", result, got, ran)
		}
	}
	for _, line := range []string{"", "{", `"tool_use`, strings.Replace(callLine, `"assistant"`, `"api-request-blob"`, 1),
		strings.Replace(callLine, "2026", "20x6", 1), strings.Replace(callLine, "t1", strings.Repeat("t", maxID+1), 1)} {
		if got := ParseCalls([]byte(line)); len(got) != 0 {
			t.Errorf("%.80s: %+v", line, got)
		}
	}
}

func FuzzParseCalls(f *testing.F) {
	f.Add([]byte(callLine))
	f.Add([]byte(resultLine))
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, c := range ParseCalls(line) {
			if c.ID == "" || len(c.ID) > maxID || len(c.Tool) > maxID || len(c.Session) > maxID {
				t.Errorf("%+v", c)
			}
		}
	})
}

// TestTranscripts: those of a folder and of the folders below it are found, with those of subagents, and nothing else is.
func TestTranscripts(t *testing.T) {
	home := t.TempDir()
	projects := filepath.Join(home, ".claude", "projects")
	for _, name := range []string{"-w-my-shop/a.jsonl", "-w-my-shop/a/subagents/agent-1.jsonl", "-w-my-shop-sub/b.jsonl",
		"-w-my-shop/a/tool-results/x.jsonl", "-w-my-shop/notes.txt", "-w-my-shopping/c.jsonl", "-w-other/d.jsonl", "-w-my-shop/memory/e.jsonl"} {
		if err := seed(filepath.Join(projects, name), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/dev/zero", filepath.Join(projects, "-w-my-shop", "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := claude.Transcripts("/w/my.shop", []string{"HOME=" + home}, func(path string, _ fs.FileInfo) {
		rel, _ := filepath.Rel(projects, path)
		got = append(got, rel)
	})
	slices.Sort(got)
	want := []string{"-w-my-shop-sub/b.jsonl", "-w-my-shop/a.jsonl", "-w-my-shop/a/subagents/agent-1.jsonl"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v, want %v", got, err, want)
	}
}
