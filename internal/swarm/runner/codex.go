package runner

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/agent"
	"mycelium/internal/model"
	"mycelium/internal/rawjson"
)

// codex is `codex exec --json` (0.169.0): one process a turn, one JSON object a line.
var codex = Dialect{name: Codex, read: readCodex, args: func(model, resume string) []string {
	args := []string{"exec"}
	if resume != "" {
		args = append(args, "resume", resume)
	}
	args = append(args, "--json", "--skip-git-repo-check")
	if model != "" {
		args = append(args, "-m", model)
	}
	return append(args, "-") // the prompt is on its input
}}

// codexLine is one line of Codex.
type codexLine struct {
	Type    string `json:"type"`
	Thread  string `json:"thread_id"`
	Message string `json:"message"` // of error
	Error   struct {
		Message string `json:"message"`
	} `json:"error"` // of turn.failed
	Item  codexItem `json:"item"`
	Usage struct {
		Input      int64 `json:"input_tokens"` // those of the cache included
		CacheRead  int64 `json:"cached_input_tokens"`
		CacheWrite int64 `json:"cache_write_input_tokens"`
		Output     int64 `json:"output_tokens"`
	} `json:"usage"`
}

// codexItem is a part of a turn.
type codexItem struct {
	ID      string         `json:"id"`
	Type    string         `json:"type"`
	Text    string         `json:"text"` // of agent_message and reasoning
	Message string         `json:"message"`
	Status  string         `json:"status"`
	Command string         `json:"command"`
	Output  string         `json:"aggregated_output"`
	Server  string         `json:"server"`
	Tool    string         `json:"tool"`
	Args    jsontext.Value `json:"arguments"`
	Changes jsontext.Value `json:"changes"`
	Query   string         `json:"query"`
	Result  jsontext.Value `json:"result"`
	Error   jsontext.Value `json:"error"`
}

func readCodex(t *turn, line []byte) {
	var l codexLine
	if rawjson.Decode(line, &l) != nil {
		return // of a kind that concerns nobody here
	}
	switch l.Type {
	case "thread.started":
		t.ID = l.Thread
	case "item.started":
		if tool, args := l.Item.call(); tool != "" {
			t.calls(l.Item.ID, tool, args)
		}
	case "item.completed":
		l.Item.ended(t)
	case "turn.completed":
		u := l.Usage
		t.ends(model.Usage{Input: u.Input - u.CacheRead, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
	case "turn.failed":
		t.failed = l.Error.Message
	case "error": // also while it tries again: only turn.failed ends the turn
		t.tell(agent.Event{Note: l.Message})
	}
}

// call is the tool that an item calls, as the policy names it, and its arguments; "": it calls none.
func (i *codexItem) call() (tool string, args []byte) {
	switch i.Type {
	case "command_execution":
		return "agent__Bash", rawjson.Object(rawjson.Field{Name: "command", Value: rawjson.Quote(i.Command)})
	case "file_change":
		return "agent__Edit", rawjson.Object(rawjson.Field{Name: "changes", Value: i.Changes})
	case "mcp_tool_call":
		return gatewayTool(i.Server, i.Tool), i.Args
	case "web_search":
		return "agent__WebSearch", rawjson.Object(rawjson.Field{Name: "query", Value: rawjson.Quote(i.Query)})
	}
	return "", nil
}

// ended takes an item that is whole. Some begin and end in one line.
func (i *codexItem) ended(t *turn) {
	switch i.Type {
	case "agent_message":
		t.says(i.Text, true)
		return
	case "reasoning":
		t.tell(agent.Event{Thinking: i.Text})
		return
	case "error":
		t.tell(agent.Event{Note: i.Message})
		return
	}
	tool, args := i.call()
	if tool == "" {
		return
	}
	if i.Type == "file_change" || i.Type == "web_search" { // told once, when they have ended
		t.calls(i.ID, tool, args)
	}
	said := i.Output
	if i.Type == "mcp_tool_call" {
		said = strings.TrimSpace(string(i.Result) + " " + string(i.Error))
	}
	t.done(i.ID, said, i.Status == "failed" || i.Status == "declined")
}

// gatewayTool is the name of a tool of an MCP server as the policy knows it: the server is our gateway, which names its tools so itself.
func gatewayTool(server, tool string) string {
	if server == gateway {
		return tool
	}
	return server + "__" + tool
}

// gateway is the name of our gateway among the MCP servers of a worker: what the launcher writes (install.DefaultGateway).
const gateway = "mycelium"
