package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

// elements are the raw values of a JSON array.
func elements(t *testing.T, array []byte) [][]byte {
	t.Helper()
	var raw []jsontext.Value
	if err := json.Unmarshal(array, &raw); err != nil {
		t.Fatalf("%s: %v", array, err)
	}
	out := make([][]byte, len(raw))
	for i, v := range raw {
		out[i] = v
	}
	return out
}

// behind is a project with npm's two reference servers behind the gateway, of which a skill grants a few tools, resources and prompts.
func behind(t *testing.T) *project {
	t.Helper()
	node, every, fs := nodeProgram(t), npmPart(t, everything), npmPart(t, filesystem)
	return newProject(t, map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, roles: [guest]}\nmcpServers:\n"+
			"  fs: {command: %q, args: [%q, DIR/data]}\n"+
			// What the server is told goes through tee, so that a test can see it.
			"  every: {command: sh, args: [-c, \"tee -a DIR/../told.jsonl | '%s' '%s'\"]}\n", node, fs, node, every),
		"skills/outside/SKILL.yaml": `name: outside
description: A few tools of two servers.
allowedRoles: [guest]
allowedTools:
  - fs__read_text_file
  - fs__list_directory
  - fs__directory_tree
  - every__echo
  - every__get-sum
  - every__get-tiny-image
  - every__get-structured-content
  - every__get-annotated-message
  - every__gzip-file-as-resource
  - every__trigger-long-running-operation
allowedResources: ["every__demo://resource/static/**", "every__demo://resource/session/**", "every__demo://resource/dynamic/text/**"]
allowedPrompts: [every__simple-prompt, every__args-prompt]
`,
		"data/mushrooms.txt": "シイタケ 100 g\n\ttab and \"quotes\" and \\ and \u2028\n",
		"data/sub/more.txt":  "x",
	})
}

var grantedTools = []string{"every__echo", "every__get-annotated-message", "every__get-structured-content", "every__get-sum",
	"every__get-tiny-image",
	"every__gzip-file-as-resource", "every__trigger-long-running-operation", "fs__directory_tree", "fs__list_directory", "fs__read_text_file"}

// What skills grant of real servers is listed, called, read and got with the bytes of the server itself; the rest is unknown.
func TestRealServersBehindTheGateway(t *testing.T) {
	t.Parallel()
	p := behind(t)
	p.must("tools") // the first look learns what the servers offer
	w := startWire(t, p.command("mcp")).hello("2025-11-25")
	direct := map[string]*wire{
		"every": startWire(t, exec.Command(nodeProgram(t), npmPart(t, everything))).hello("2025-11-25"),
		"fs":    startWire(t, exec.Command(nodeProgram(t), npmPart(t, filesystem), filepath.Join(p.dir, "data"))).hello("2025-11-25"),
	}
	if got := w.names("tools/list", "tools", "name"); !slices.Equal(got, grantedTools) {
		t.Errorf("the guest is shown %v", got)
	}
	sameDefinitions(t, w, direct)
	for _, c := range []struct{ server, tool, args string }{
		{"every", "echo", `{"message":"こんにちは \u0001 𝄞"}`},
		{"every", "get-sum", `{"a":0.1,"b":12345678901234567890}`},
		{"every", "get-sum", `{"a":"not a number"}`},
		{"every", "get-tiny-image", `{}`},
		{"every", "get-structured-content", `{"location":"Chicago"}`},
		{"every", "get-annotated-message", `{"messageType":"error","includeImage":true}`},
		{"fs", "read_text_file", `{"path":"DIR/data/mushrooms.txt"}`},
		{"fs", "list_directory", `{"path":"DIR/data"}`},
		{"fs", "directory_tree", `{"path":"DIR/data"}`},
		{"fs", "read_text_file", `{"path":"DIR/outside.txt"}`},
	} {
		args := strings.ReplaceAll(c.args, "DIR", p.dir)
		got := w.ask("tools/call", fmt.Sprintf(`{"name":"%s__%s","arguments":%s}`, c.server, c.tool, args))
		want := direct[c.server].ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.tool, args))
		if !bytes.Equal(got, want) {
			t.Errorf("%s %s\n got %s\nwant %s", c.tool, args, got, want)
		}
	}
	hiddenIsUnknown(t, w, p)
	resourcesAndPrompts(t, w, direct["every"])
	if s := p.status(); s.Tools.Visible != len(grantedTools) || s.Tools.Catalog != 8+5+1+3+10+17+15+37 {
		t.Errorf("status counts %+v", s.Tools)
	}
}

// sameDefinitions compares the definitions of granted tools with the server's own: equal but for the name.
func sameDefinitions(t *testing.T, w *wire, direct map[string]*wire) {
	t.Helper()
	own := map[string][]byte{}
	for server, d := range direct {
		for _, def := range elements(t, rawjson.Member(d.ask("tools/list", `{}`), "tools")) {
			name := rawjson.TextAt(def, "name")
			own[server+"__"+name] = rawjson.Set(def, "name", rawjson.Quote(server+"__"+name))
		}
	}
	for _, def := range elements(t, rawjson.Member(w.ask("tools/list", `{}`), "tools")) {
		name := rawjson.TextAt(def, "name")
		if want, ok := own[name]; ok && !bytes.Equal(def, want) {
			t.Errorf("definition of %s\n got %s\nwant %s", name, def, want)
		}
	}
}

// hiddenIsUnknown calls tools that the servers have and no skill grants: the answer is that of a tool that nobody has.
func hiddenIsUnknown(t *testing.T, w *wire, p *project) {
	t.Helper()
	for _, name := range []string{"fs__write_file", "fs__move_file", "every__get-env", "nowhere__tool", "write_file"} {
		args := fmt.Sprintf(`{"path":%q,"content":"x"}`, filepath.Join(p.dir, "data", "new.txt"))
		got := w.refused("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
		if want := fmt.Sprintf(`{"code":-32602,"message":"Unknown tool: %s"}`, name); got != want {
			t.Errorf("%s is answered %s, want %s", name, got, want)
		}
	}
	if p.read("data/new.txt") != "" {
		t.Error("a hidden tool has written a file")
	}
}

func resourcesAndPrompts(t *testing.T, w, direct *wire) {
	t.Helper()
	got, want := w.names("resources/list", "resources", "uri"), direct.names("resources/list", "resources", "uri")
	for i, uri := range want {
		want[i] = "every+" + uri
	}
	slices.Sort(want)
	if !slices.Equal(got, want) || len(want) < 5 {
		t.Errorf("resources %v, want %v", got, want)
	}
	if got := w.names("resources/templates/list", "resourceTemplates", "uriTemplate"); !slices.Equal(got,
		[]string{"every+demo://resource/dynamic/text/{resourceId}"}) {
		t.Errorf("templates %v", got)
	}
	uri := `demo://resource/static/document/features.md`
	if got, want := w.ask("resources/read", `{"uri":"every+`+uri+`"}`),
		direct.ask("resources/read", `{"uri":"`+uri+`"}`); !bytes.Equal(got, want) {
		t.Errorf("resource\n got %s\nwant %s", got, want)
	}
	// What came in a result is read under the name in which it came, and in the same way.
	if got, want := w.ask("resources/read", `{"uri":"`+uri+`"}`), direct.ask("resources/read", `{"uri":"`+uri+`"}`); !bytes.Equal(got, want) {
		t.Errorf("resource of a result\n got %s\nwant %s", got, want)
	}
	if got := w.ask("resources/read", `{"uri":"every+demo://resource/dynamic/text/7"}`); !bytes.Contains(got, []byte("Resource 7")) {
		t.Errorf("resource of a template: %s", got)
	}
	for _, uri := range []string{"every+demo://resource/dynamic/blob/1", "nowhere+demo://resource/dynamic/blob/1",
		"demo://resource/static/document/instructions.md"} {
		if got, want := w.refused("resources/read", `{"uri":"`+uri+`"}`),
			`{"code":-32002,"message":"Resource not found","data":{"uri":"`+uri+`"}}`; got != want {
			t.Errorf("%s is answered %s, want %s", uri, got, want)
		}
	}
	if got := w.names("prompts/list", "prompts", "name"); !slices.Equal(got, []string{"every__args-prompt", "every__simple-prompt"}) {
		t.Errorf("prompts %v", got)
	}
	args := `"arguments":{"city":"函館"}}`
	if got, want := w.ask("prompts/get", `{"name":"every__args-prompt",`+args),
		direct.ask("prompts/get", `{"name":"args-prompt",`+args); !bytes.Equal(got, want) {
		t.Errorf("prompt\n got %s\nwant %s", got, want)
	}
	for _, name := range []string{"every__completable-prompt", "nowhere__prompt"} {
		if got, want := w.refused("prompts/get", `{"name":"`+name+`"}`), `{"code":-32602,"message":"Unknown prompt: `+name+`"}`; got != want {
			t.Errorf("%s is answered %s, want %s", name, got, want)
		}
	}
}

// Progress of a real long-running tool reaches the client that asked for it, a cancelled call is cancelled at the server, and
// what the server adds while it runs is announced.
func TestNoticesOfARealServer(t *testing.T) {
	t.Parallel()
	p := behind(t)
	p.must("tools")
	w := startWire(t, p.command("mcp")).hello("2025-06-18")
	other := startWire(t, p.command("mcp")).hello("2025-06-18")

	w.ask("tools/call", `{"name":"every__trigger-long-running-operation","arguments":{"duration":0.2,"steps":4},`+
		`"_meta":{"progressToken":"東京-1"}}`)
	for i := range 4 {
		want := fmt.Sprintf(`{"progress":%d,"total":4,"progressToken":"東京-1"}`, i+1)
		if got := rawjson.Member(w.until("notifications/progress"), "params"); string(got) != want {
			t.Errorf("progress %s, want %s", got, want)
		}
	}
	w.ask("tools/call", `{"name":"every__trigger-long-running-operation","arguments":{"duration":0.1,"steps":2}}`)
	if slices.ContainsFunc(w.seen, func(line string) bool { return is(line, "notifications/progress") }) {
		t.Errorf("progress without a token: %v", w.seen)
	}

	// The first step tells that the call runs; it would take an hour.
	slow := w.request("tools/call", `{"name":"every__trigger-long-running-operation","arguments":{"duration":3600,"steps":36000},`+
		`"_meta":{"progressToken":9}}`)
	w.until("notifications/progress")
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + slow + `,"reason":"enough"}}`)
	p.eventually("the server is told that the call is cancelled",
		func() bool { return strings.Contains(p.read("../told.jsonl"), "notifications/cancelled") })
	if got := w.ask("tools/call", `{"name":"every__echo","arguments":{"message":"still here"}}`); !bytes.Contains(got, []byte("still here")) {
		t.Errorf("after a cancelled call: %s", got)
	}

	// A new resource: its announcement reaches every session that may read it.
	data := "data:text/plain;base64," + base64.StdEncoding.EncodeToString([]byte("spores"))
	w.ask("tools/call", `{"name":"every__gzip-file-as-resource","arguments":{"name":"spores.gz","data":"`+data+`"}}`)
	for _, c := range []*wire{w, other} {
		c.until("notifications/resources/list_changed")
		if got := c.names("resources/list", "resources", "uri"); !slices.Contains(got, "every+demo://resource/session/spores.gz") {
			t.Errorf("the new resource is not listed: %v", got)
		}
	}
	if got := w.ask("resources/read", `{"uri":"every+demo://resource/session/spores.gz"}`); !bytes.Contains(got, []byte(`"blob":"H4sI`)) {
		t.Errorf("the new resource: %s", got)
	}
	if slices.ContainsFunc(other.seen, func(line string) bool { return is(line, "notifications/progress") }) {
		t.Errorf("another session hears of the progress: %v", other.seen)
	}
}

// A server behind a wrapper, as npx is one, leaves no process: neither when the daemon is asked to stop, nor when it is killed, nor
// when a client that owns the project itself is killed.
func TestNoProcessOutlivesItsOwner(t *testing.T) {
	t.Parallel()
	node, every := nodeProgram(t), npmPart(t, everything)
	for _, how := range []string{"stop", "kill -9", "kill -9 of mcp --alone"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{
				// Two shells that stay, and node below them.
				"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest}\nmcpServers:\n"+
					"  every: {command: sh, args: [-c, \"sh -c '%s %s; true'; true\"]}\n", node, every),
				"skills/outside/SKILL.yaml": "name: outside\ndescription: One tool.\nallowedRoles: [guest]\nallowedTools: [every__echo]\n",
			})
			var owner int
			if how == "kill -9 of mcp --alone" {
				p.must("tools")
				w := startWire(t, p.command("mcp", "--alone")).hello("2025-06-18")
				w.ask("tools/call", `{"name":"every__echo","arguments":{"message":"hi"}}`)
				owner = w.cmd.Process.Pid
			} else {
				p.must("serve", "--background", "--addr", "127.0.0.1:0")
				p.must("tools")
				if got := p.must("call", "every__echo", "--args", `{"message":"hi"}`); got != "Echo: hi\n" {
					t.Fatalf("echo says %q", got)
				}
				owner = p.status().Daemon.PID
			}
			alive := p.processes()
			nodes := 0
			for _, line := range alive {
				if strings.HasPrefix(line, node) {
					nodes++
				}
			}
			if len(alive) < 5 || nodes != 1 { // the owner, its keeper, two shells, node
				t.Fatalf("these run: %v", alive)
			}
			if how == "stop" {
				p.must("stop")
			} else if err := syscall.Kill(owner, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if left := p.gone(); len(left) > 0 {
				t.Errorf("these are left: %v", left)
			}
		})
	}
}

// A server that dies does not take the daemon with it, and is there again for a later call.
func TestAServerThatIsKilledComesBack(t *testing.T) {
	t.Parallel()
	p := behind(t)
	p.must("serve", "--background", "--addr", "127.0.0.1:0")
	p.must("tools")
	p.must("call", "every__echo", "--args", `{"message":"one"}`)
	killed := 0
	for pid, line := range p.processes() {
		if strings.HasSuffix(line, everything) && !strings.HasPrefix(line, "sh ") {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			killed = pid
		}
	}
	if killed == 0 {
		t.Fatalf("no such process among %v", p.processes())
	}
	p.eventually("the killed process is gone", func() bool {
		_, err := os.Stat("/proc/" + strconv.Itoa(killed))
		return os.IsNotExist(err)
	})
	ok := poll(p.ctx, patience, func() bool {
		out, _, err := p.run("call", "every__echo", "--args", `{"message":"two"}`)
		return err == nil && out == "Echo: two\n"
	})
	if !ok {
		t.Errorf("the server does not come back: %+v", p.status().Backends)
	}
}

// Decision 5 on a real server: the description of read_file says "Use read_text_file instead". Who does not see that tool does not
// read its name; who does reads the server's own words.
func TestRealServerNamesNoHiddenTool(t *testing.T) {
	t.Parallel()
	node, fs := nodeProgram(t), npmPart(t, filesystem)
	p := newProject(t, map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, roles: [guest]}\nmcpServers:\n"+
			"  fs: {command: %q, args: [%q, DIR/data]}\n", node, fs),
		"skills/old/SKILL.yaml":  "name: old\ndescription: The old tool.\nallowedRoles: [guest, developer]\nallowedTools: [fs__read_file]\n",
		"skills/rest/SKILL.yaml": "name: rest\ndescription: The rest.\nallowedRoles: [developer]\nallowedTools: [\"fs__*\"]\n",
		"data/a.txt":             "x",
	})
	p.must("tools")
	direct := startWire(t, exec.Command(node, fs, filepath.Join(p.dir, "data"))).hello("2025-11-25")
	own := map[string][]byte{}
	var names []string
	for _, def := range elements(t, rawjson.Member(direct.ask("tools/list", `{}`), "tools")) {
		name := rawjson.TextAt(def, "name")
		own[name] = rawjson.Set(def, "name", rawjson.Quote("fs__"+name))
		names = append(names, name)
	}
	if !bytes.Contains(own["read_file"], []byte("read_text_file")) {
		t.Fatalf("the server no longer names the other tool: %s", own["read_file"])
	}
	w := startWire(t, p.command("mcp")).hello("2025-11-25")
	seen := 0
	for _, def := range elements(t, rawjson.Member(w.ask("tools/list", `{}`), "tools")) {
		name := rawjson.TextAt(def, "name")
		if name != "fs__read_file" {
			continue
		}
		seen++
		if want := bytes.ReplaceAll(own["read_file"], []byte("read_text_file"), []byte("another tool")); !bytes.Equal(def, want) {
			t.Errorf("the guest is shown\n%s\nwant\n%s", def, want)
		}
		for _, hidden := range names {
			if hidden != "read_file" && bytes.Contains(def, []byte(hidden)) {
				t.Errorf("the guest reads of %s: %s", hidden, def)
			}
		}
	}
	whole := startWire(t, p.command("mcp", "--role", "developer")).hello("2025-11-25")
	for _, def := range elements(t, rawjson.Member(whole.ask("tools/list", `{}`), "tools")) {
		name := rawjson.TextAt(def, "name")
		if bare, ok := strings.CutPrefix(name, "fs__"); ok {
			seen++
			if !bytes.Equal(def, own[bare]) {
				t.Errorf("who sees all is shown\n%s\nwant\n%s", def, own[bare])
			}
		}
	}
	if seen != 1+len(names) {
		t.Errorf("%d definitions were compared", seen)
	}
}
