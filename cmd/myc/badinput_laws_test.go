package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mycelium/internal/rpc"
)

// strangeServer is an MCP server that offers what the lists say, raw.
func strangeServer(t *testing.T, lists map[string]string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(r.Body)
		m, bad := rpc.Parse(body)
		if err != nil || bad != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := `{"content":[{"type":"text","text":"ran"}]}`
		switch {
		case m.Method == "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{"name":"strange",` +
				`"version":"1"}}`
		case m.Method == "resources/read":
			result = `{"contents":[{"uri":"file:///a.md","text":"A"}]}`
		case m.Method == "prompts/get":
			result = `{"messages":[]}`
		case strings.HasSuffix(m.Method, "/list"):
			key := strings.TrimSuffix(strings.TrimPrefix(m.Method, "resources/templates"), "/list")
			if key == "" {
				key = "resourceTemplates"
			}
			result = `{"` + key + `":[` + lists[key] + `]}`
		case m.Method != "tools/call":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, m.ID)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func strangeProject(url string) []string {
	return []string{
		"mycelium.yaml", "mcpServers:\n  files: {builtin: files, args: ['.']}\n  docs: {type: http, url: '" + url + "'}\n" +
			"session: {defaultRole: guest, roles: [guest, developer]}\n",
		"skills/reader/SKILL.yaml", "name: reader\ndescription: Reads.\nallowedRoles: [guest, developer]\n" +
			"allowedTools: [files__read_file, docs__echo]\n" +
			"allowedResources: ['docs__file:///a.md']\nallowedPrompts: [docs__sum]\n",
		"skills/all/SKILL.yaml", "name: all\ndescription: All of it.\nallowedRoles: [developer]\nallowedTools: ['docs__*']\n" +
			"allowedResources: ['docs__**']\nallowedPrompts: ['docs__hush']\n",
	}
}

// TestHiddenIsAbsent compares bytes: on every surface what is hidden is answered like what does not exist (T6, T7), but for the name
// that was asked for, and no list names it. A developer sees all of it, so that "hidden" is true.
func TestHiddenIsAbsent(t *testing.T) {
	t.Parallel()
	url := strangeServer(t, map[string]string{
		"tools":     `{"name":"echo","inputSchema":{"type":"object"}},{"name":"hush","inputSchema":{"type":"object"}}`,
		"resources": `{"uri":"file:///a.md","name":"a"},{"uri":"file:///hush.md","name":"h"}`,
		"prompts":   `{"name":"sum"},{"name":"hush"}`,
	})
	w := newBadWorld(t, strangeProject(url)...)
	w.serve()
	// the server's catalog is learned by this
	if o := w.run("", "tools", "--role", "developer"); o.code != 0 || !strings.Contains(o.out, "docs__hush") {
		t.Fatalf("a developer does not see docs__hush: %+v", o)
	}
	for surface, talk := range w.talks() {
		meta := ""
		if strings.HasSuffix(surface, "2026") {
			meta = badMeta + ","
		}
		ask := func(method, params string) string {
			return talk.say(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + strings.TrimSuffix(meta+params, ",") + `}}`)
		}
		for _, c := range []struct{ method, hidden, absent string }{
			{"tools/call", `"name":"docs__hush","arguments":{}`, `"name":"docs__hish","arguments":{}`},
			{"tools/call", `"name":"docs__hush","arguments":{"path":7}`, `"name":"docs__hish","arguments":{"path":7}`},
			{"tools/call", `"name":"docs__hush","arguments":[]`, `"name":"docs__hish","arguments":[]`},
			{"tools/call", `"name":"docs__hush"`, `"name":"host__hish"`},
			{"tools/call", `"name":"docs__hush","task":{}`, `"name":"docs__hish","task":{}`},
			{"resources/read", `"uri":"docs+file:///hush.md"`, `"uri":"docs+file:///hish.md"`},
			{"prompts/get", `"name":"docs__hush"`, `"name":"docs__hish"`},
			{"prompts/get", `"name":"docs__hush","arguments":{"a":"b"}`, `"name":"docs__hish","arguments":{"a":"b"}`},
			{"completion/complete", `"ref":{"type":"ref/prompt","name":"docs__hush"},"argument":{"name":"a","value":""}`,
				`"ref":{"type":"ref/prompt","name":"docs__hish"},"argument":{"name":"a","value":""}`},
			{"resources/subscribe", `"uri":"docs+file:///hush.md"`, `"uri":"docs+file:///hish.md"`},
		} {
			hidden, absent := ask(c.method, c.hidden), ask(c.method, c.absent)
			same := strings.NewReplacer("host__hish", "docs__hush", "hish", "hush").Replace(absent)
			if hidden != same || !strings.Contains(hidden, `"error"`) {
				t.Errorf("%s: %s\nhidden %s\nabsent %s", surface, c.method, hidden, absent)
			}
		}
		for _, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
			if list := ask(method, ``); strings.Contains(list, "hush") || !strings.Contains(list, `"result"`) {
				t.Errorf("%s: %s: %s", surface, method, list)
			}
		}
	}
	for _, args := range [][]string{{"call", "--role", "guest"}, {"call", "--role", "guest", "--json"}} {
		hidden, absent := w.run("", append(args, "docs__hush")...), w.run("", append(args, "docs__hish")...)
		if hidden.code != 3 || hidden.text() != strings.ReplaceAll(absent.text(), "hish", "hush") {
			t.Errorf("myc %q:\nhidden %+v\nabsent %+v", args, hidden, absent)
		}
	}
	if o := w.run("", "tools", "--role", "guest", "--json"); strings.Contains(o.text(), "hush") {
		t.Errorf("a guest's tools: %+v", o)
	}
}

// TestStrangeCatalogs: names that collide, that could be taken for one another or that are none are left out with every claimant, and
// status says so (T8).
func TestStrangeCatalogs(t *testing.T) {
	t.Parallel()
	tool := func(name string) string { return `{"name":` + name + `,"inputSchema":{"type":"object"}}` }
	names := []string{
		`"echo"`, `"twice"`, `"twice"`, `"case"`, `"Case"`, `"zero\u200bwidth"`, `"cyr\u0456llic"`, `"nul\u0000"`, `"a/b"`, `""`, `7`,
		`"` + strings.Repeat("l", 129) + `"`, `"two__parts"`, `"esc\u001b[31m"`,
	}
	var tools []string
	for _, n := range names {
		tools = append(tools, tool(n))
	}
	tools = append(tools, `"text"`, `null`)
	w := newBadWorld(t, strangeProject(strangeServer(t, map[string]string{
		"tools": strings.Join(tools, ","), "resources": `{"uri":"file:///a.md","name":"a"}`, "prompts": `{"name":"sum"},{"name":"hush"}`,
	}))...)
	w.serve()
	o := w.run("", "tools", "--role", "developer", "--json")
	if got := strings.Count(o.out, `"name": "docs__`); o.code != 0 || got != 2 || !strings.Contains(o.out, `"docs__echo"`) ||
		!strings.Contains(o.out, `"docs__two__parts"`) {
		t.Errorf("%d tools of docs are left: %s; %s", got, o.errout, w.run("", "status").out)
	}
	status := w.run("", "status", "--json").out
	if !strings.Contains(status, "12 left out of its catalog") {
		t.Errorf("status does not say it: %s", status)
	}
	for _, name := range []string{"docs__twice", "docs__case", "docs__Case", "docs__nul", "docs__"} {
		if o := w.run("", "call", "--role", "developer", name); o.code != 3 || !strings.Contains(o.errout, "Unknown tool: "+name) {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if o := w.run("", "call", "--role", "developer", "docs__echo"); o.code != 0 || o.out != "ran\n" {
		t.Errorf("docs__echo: %+v", o)
	}
}

// TestConfiguredLimit: server.maxBody is the limit on every surface, to the byte.
func TestConfiguredLimit(t *testing.T) {
	t.Parallel()
	const limit = 3000
	w := newBadWorld(t, "mycelium.yaml", "mcpServers: {files: {builtin: files, args: ['.']}}\nsession: {defaultRole: guest}\n"+
		"server: {maxBody: "+fmt.Sprint(limit)+"}\n")
	w.serve()
	for surface, talk := range w.talks() {
		good := badGood(strings.HasSuffix(surface, "2026"), "1")
		for length, want := range map[int]bool{limit - 1: true, limit: true, limit + 1: false, 5 * limit: false} {
			padded := strings.Replace(good, "{", "{"+strings.Repeat(" ", length-len(good)), 1)
			answer := talk.say(padded)
			if isGood(answer) != want || !want && !strings.Contains(answer, "the limit is 3000 bytes") {
				t.Errorf("%s: %d bytes: %.200s", surface, length, answer)
			}
		}
		if err := talk.still(); err != nil {
			t.Errorf("%s: %v", surface, err)
		}
	}
	args := `{"path":"hello.txt"` + strings.Repeat(" ", limit) + `}`
	if o := w.run(args, "call", "files__read_file", "--args", "-"); o.code != 1 || !strings.Contains(o.errout, "the limit is 3000 bytes") {
		t.Errorf("myc call: %+v", o)
	}
}
