package gateway

import (
	"fmt"
	"strings"
	"testing"

	"mycelium/internal/gate/control"
	"mycelium/internal/rawjson"
)

// The id of a task is valid in the session that got it, while that session sees the tool that made the task.
func TestTasks(t *testing.T) {
	b := newWorld(t)
	s := b.server(Options{})
	p, other := dial(t, s, b.open("guest")), dial(t, s, b.open("guest"))
	created := p.ask(modernCall("1", "docs__task", `{}`))
	id := rawjson.TextAt([]byte(created), "result", "taskId")
	if id == "" || strings.Contains(created, "theirs") {
		t.Fatal(created)
	}
	ask := func(p *pipe, method, id, more string) string {
		return p.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"taskId":%q%s,`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, method, id, more))
	}
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
		got := ask(p, method, id, `,"x":1.0`)
		if !strings.Contains(got, `"status":"completed", "result":{"n":12345678901234567890}`) ||
			!strings.Contains(got, method+`{\"taskId\":\"theirs\",\"x\":1.0}`) {
			t.Errorf("%s: %s", method, got)
		}
		if again := rawjson.TextAt([]byte(got), "result", "taskId"); again == "" || again == "theirs" {
			t.Errorf("%s: the server's own id came through: %s", method, got)
		}
	}
	if b.records(`"note":"tasks/get"`) != 1 {
		t.Error("the request is not in the audit")
	}
	absent := strings.ReplaceAll(ask(p, "tasks/get", "absent", ""), "absent", id)
	if got := ask(other, "tasks/get", id, ""); got != absent {
		t.Errorf("another session: %s, want %s", got, absent)
	}
	if got := ask(p, "tasks/list", id, ""); !strings.Contains(got, "-32601") {
		t.Errorf("tasks/list: %s", got)
	}
	b.Swap(compile(t, t.TempDir(), control.Definitions()))
	if got := ask(p, "tasks/get", id, ""); got != absent {
		t.Errorf("of a hidden tool: %s, want %s", got, absent)
	}
}
