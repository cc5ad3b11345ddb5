package main

import (
	"bytes"
	"fmt"
	"testing"

	"mycelium/internal/rawjson"
)

// npm's reference server asks the client of a call, through the gateway: a form, a page, a model.
func TestARealServerAsks(t *testing.T) {
	t.Parallel()
	node, every := nodeProgram(t), npmPart(t, everything)
	p := newProject(t, map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, roles: [guest]}\nmcpServers:\n  every: {command: %q, args: [%q]}\n", node,
			every),
		"skills/asks/SKILL.yaml": `name: asks
description: Tools that ask.
allowedRoles: [guest]
allowedTools: [every__trigger-elicitation-request, every__trigger-url-elicitation, every__trigger-sampling-request]
`,
	})
	p.must("tools") // the first look learns what the server offers
	w := startWire(t, p.command("mcp"))
	w.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{}},`+
		`"clientInfo":{"name":"wire","version":"1"}}`)
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, c := range []struct{ tool, args, method, answer, says string }{
		{"trigger-elicitation-request", `{}`, "elicitation/create", `{"action":"accept","content":{"name":"Ann of the e2e","check":true}}`,
			"Ann of the e2e"},
		{"trigger-url-elicitation", `{"url":"https://example.com/x"}`, "elicitation/create", `{"action":"accept"}`,
			"User completed the URL elicitation flow"},
		{"trigger-sampling-request", `{"prompt":"sing"}`, "sampling/createMessage",
			`{"role":"assistant","model":"m-1","content":{"type":"text","text":"la la la"}}`, "la la la"},
	} {
		id := w.request("tools/call", fmt.Sprintf(`{"name":"every__%s","arguments":%s}`, c.tool, c.args))
		question := w.until(c.method)
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, rawjson.Member(question, "id"), c.answer))
		if got := w.await(id); !bytes.Contains(got, []byte(c.says)) {
			t.Errorf("%s: %s", c.tool, got)
		}
	}
	// A client without the capability is asked nothing, and the server is told why.
	bare := startWire(t, p.command("mcp")).hello("2025-11-25")
	if got := bare.await(bare.request("tools/call",
		`{"name":"every__trigger-sampling-request","arguments":{"prompt":"sing"}}`)); !bytes.Contains(got,
		[]byte("does not have the capability")) {
		t.Errorf("without the capability: %s", got)
	}
}
