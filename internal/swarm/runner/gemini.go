package runner

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/agent"
	"mycelium/internal/harness"
	"mycelium/internal/model"
	"mycelium/internal/rawjson"
)

// gemini is `gemini --output-format stream-json` (0.61.0): one process a turn, one JSON object a line. Its tools need no consent of its own
// (--yolo): the hook decides about each of them, and the sandbox is around the program.
var gemini = Dialect{name: Gemini, read: readGemini, args: func(model, resume string) []string {
	args := []string{"--skip-trust", "--yolo", "--output-format", "stream-json"}
	if model != "" {
		args = append(args, "-m", model)
	}
	if resume != "" {
		args = append(args, "--resume", resume)
	}
	return args // the prompt is on its input
}}

// geminiLine is one line of Gemini CLI.
type geminiLine struct {
	Type     string         `json:"type"`
	Session  string         `json:"session_id"`
	Role     string         `json:"role"`
	Content  string         `json:"content"`
	Delta    bool           `json:"delta"`
	Tool     string         `json:"tool_name"`
	ID       string         `json:"tool_id"`
	Args     jsontext.Value `json:"parameters"`
	Status   string         `json:"status"`
	Output   string         `json:"output"`
	Severity string         `json:"severity"`
	Message  string         `json:"message"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		Input  int64 `json:"input"` // without those of the cache
		Cached int64 `json:"cached"`
		Output int64 `json:"output_tokens"`
	} `json:"stats"`
}

func readGemini(t *turn, line []byte) {
	var l geminiLine
	if rawjson.Decode(line, &l) != nil {
		return // of a kind that concerns nobody here
	}
	switch l.Type {
	case "init":
		t.ID = l.Session
	case "message":
		if l.Role == "assistant" {
			t.says(l.Content, !l.Delta)
		}
	case "tool_use":
		t.calls(l.ID, geminiTool(l.Tool), l.Args)
	case "tool_result":
		said := strings.TrimSpace(l.Output + "\n" + l.Error.Message)
		t.done(l.ID, said, l.Status != "success")
	case "error":
		t.tell(agent.Event{Note: l.Message})
	case "result":
		if l.Status != "success" {
			t.failed = l.Error.Message
			if t.failed == "" {
				t.failed = "it says " + l.Status
			}
		}
		t.ends(model.Usage{Input: l.Stats.Input, Output: l.Stats.Output, CacheRead: l.Stats.Cached})
	}
}

// geminiTool is the name of a tool as the policy knows it.
func geminiTool(native string) string {
	if ours, ok := strings.CutPrefix(native, "mcp_"+gateway+"_"); ok {
		return ours
	}
	known, _ := harness.Named(Gemini)
	for _, pair := range known.Tools() {
		if pair[0] == native {
			return "agent__" + pair[1]
		}
	}
	return "agent__" + native
}
