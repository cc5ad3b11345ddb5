//go:build linux

package fake

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/harness"
	"mycelium/internal/model/fake/faketest"
)

// insideVar marks the copy of this test that runs without a network.
const insideVar = "MODELTEST_INSIDE"

// withoutNetwork runs the test again in a network namespace that holds nothing but loopback; true in that copy.
func withoutNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVar) != "" {
		if err := faketest.LoopbackUp(); err != nil {
			t.Fatal(err)
		}
		if c, err := net.DialTimeout("tcp", "192.0.2.1:443", time.Second); err == nil {
			c.Close()
			t.Fatal("there is a network")
		}
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), insideVar+"=1")
	faketest.NoNetwork(cmd)
	out, err := cmd.CombinedOutput()
	t.Logf("without a network:\n%s", out)
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("the copy without a network: %v", err)
	}
	return false
}

// claude finds Claude Code, or skips.
func claude(t *testing.T) string {
	t.Helper()
	path, err := faketest.Find("../../..", "claude")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return path
}

// ask runs Claude Code once, headless, and returns what it says of its run.
func ask(t *testing.T, s *Server, dir string, args ...string) (result claudeResult) {
	t.Helper()
	path := claude(t)
	agent, _ := harness.Named("claude")
	environ, err := agent.Scripted(t.TempDir(), s.URL(), Key)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{"-p", "--output-format", "json"}, args...)...)
	cmd.Dir, cmd.Env = dir, environ
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	out, err := cmd.Output()
	t.Logf("claude %q: %s, %d requests", args, time.Since(began).Round(time.Millisecond), len(s.Requests()))
	if err != nil {
		t.Fatalf("claude: %v\n%s\n%s", err, out, stderr.Bytes())
	}
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatalf("claude wrote no JSON: %v\n%s", err, out)
	}
	return result
}

type claudeResult struct {
	Subtype string `json:"subtype"`
	IsError bool   `json:"is_error"`
	Result  string `json:"result"`
	Turns   int    `json:"num_turns"`
	Usage   struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	} `json:"usage"`
}

func TestClaudeCodeSaysWhatIsScripted(t *testing.T) {
	claude(t)
	if !withoutNetwork(t) {
		return
	}
	s := New(Step{Text: "こんにちは、台本から。", Thinking: "hm", Usage: Usage{Input: 123, Output: 45}})
	defer s.Close()
	got := ask(t, s, t.TempDir(), "hi")
	if got.Result != "こんにちは、台本から。" || got.IsError || got.Usage.Input != 123 || got.Usage.Output != 45 {
		t.Errorf("Claude Code says %+v", got)
	}
	turns := s.Turns()
	if len(turns) != 1 || !turns[0].Stream || !strings.Contains(turns[0].Text("user"), "hi") || !slices.Contains(turns[0].ToolNames(), "Bash") {
		t.Errorf("it asked %d times: %+v", len(turns), turns)
	}
	if turns[0].Header.Get("X-Api-Key") != Key {
		t.Errorf("it came with another key")
	}
}

func TestClaudeCodeRunsAScriptedTool(t *testing.T) {
	claude(t)
	if !withoutNetwork(t) {
		return
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "メモ.txt"), []byte("牛乳を買う\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := New(
		Step{Text: "Let me look.", ToolUses: []ToolUse{
			{Name: "Bash", Input: map[string]any{"command": "echo made > made.txt && cat メモ.txt", "description": "reads the note"}},
			{Name: "Read", Input: map[string]any{"file_path": filepath.Join(dir, "メモ.txt")}},
		}},
		Step{Func: func(r Request) Step {
			var seen []string
			for _, b := range r.ToolResults() {
				seen = append(seen, b.Text)
			}
			return Step{Text: "results: " + strings.Join(seen, " | ")}
		}},
	)
	defer s.Close()
	got := ask(t, s, dir, "--allowedTools", "Bash,Read", "--", "what is in the note?")
	if strings.Count(got.Result, "牛乳を買う") != 2 || got.IsError {
		t.Errorf("Claude Code says %+v", got)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "made.txt")); err != nil || string(b) != "made\n" {
		t.Errorf("the tool did not run: %q %v", b, err)
	}
	if turns := s.Turns(); len(turns) != 2 || turns[1].Step != 1 || len(turns[1].ToolResults()) != 2 {
		t.Errorf("it asked %d times", len(turns))
	}
}
