package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/backend"
	"mycelium/internal/config/scaffold"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
)

func TestEmptyProject(t *testing.T) {
	w := newWorld(t)
	p := w.load()
	if len(p.Problems) > 0 || p.Broken.All != "" || p.Trusted || len(p.Untrusted) > 0 {
		t.Errorf("problems %q, broken %q, trusted %v, untrusted %q", lines(p.Problems), p.Broken.All, p.Trusted, p.Untrusted)
	}
	want := File{
		MCPServers: map[string]backend.Server{"files": {Name: "files", Builtin: "files", Args: []string{"."}}},
		Session:    Session{Promotion: "auto", ToolSearch: "auto"},
		Policy:     Policy{Fallback: policy.Fallback{MCP: "allow", Agent: "ask"}},
		Audit:      Audit{Dir: "audit", Sync: "interval"},
		Store:      "sqlite://" + w.state().Database(),
		Server:     Server{Addr: "127.0.0.1:8420", MaxBody: 4 << 20},
	}
	if d := cmp.Diff(want, p.File); d != "" {
		t.Error(d)
	}
	for key, from := range p.Sources {
		if from != "default" {
			t.Errorf("source of %s is %s", key, from)
		}
	}
}

const everything = `
mcpServers:
  files:  {builtin: files, args: ["src"]}
  fs:     {command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", .], env: {TOKEN: "${TOKEN}"}, timeout: 30s,` +
	` trust: true, category: filesystem}
  remote: {type: http, url: "https://example.com/mcp", headers: {Authorization: "Bearer ${REMOTE_TOKEN}"}}
  fixture: {command: ./server, bare: true, concurrency: 4, queue: 16, ping: 30s, askTimeout: 1h}
session:  {defaultRole: developer, roles: [developer, guest], defaultSkills: [common], promotion: confirm, toolSearch: 60}
policy:   {strict: false, fallback: {mcp: ask, agent: deny}, rules: [rules.yaml, more/rules.yaml]}
audit:    {dir: log, redact: [ssn], sync: call}
store:    sqlite://state/x.db
server:   {addr: "127.0.0.1:9999", anonymous: guest, maxBody: 1000, idle: 90s}
env: [REMOTE_TOKEN]
`

func TestEveryKey(t *testing.T) {
	w := newWorld(t)
	w.write("mycelium.yaml", everything)
	w.mkdir(filepath.Join(w.dir, "src"))
	w.write("rules.yaml", "version: 1\nrules:\n  - {name: a, action: deny, tool: fs__x}\n")
	w.write("more/rules.yaml", "rules:\n\n  - {name: b, action: ask, tool: fs__y}\n")
	w.trust()
	p := w.load()
	if len(p.Problems) > 0 || len(p.LeftOut) > 0 || p.Broken.All != "" {
		t.Fatalf("problems %q, left out %q, broken %q", lines(p.Problems), lines(p.LeftOut), p.Broken.All)
	}
	wantServers := []backend.Server{
		{Name: "files", Builtin: "files", Args: []string{"src"}},
		{Name: "fixture", Command: "./server", Concurrency: 4, Queue: 16, Ping: backend.Duration(30e9), Ask: backend.Duration(3600e9)},
		{Name: "fs", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "."},
			Env: map[string]string{"TOKEN": "${TOKEN}"}, Timeout: backend.Duration(30e9), Trust: true, Category: "filesystem"},
		{Name: "remote", Type: "http", URL: "https://example.com/mcp", Headers: map[string]string{"Authorization": "Bearer ${REMOTE_TOKEN}"}},
	}
	if d := cmp.Diff(wantServers, p.Servers); d != "" {
		t.Error(d)
	}
	want := File{
		Session: Session{DefaultRole: "developer", Roles: []string{"developer", "guest"}, DefaultSkills: []string{"common"},
			Promotion: "confirm", ToolSearch: "60"},
		Policy: Policy{Fallback: policy.Fallback{MCP: "ask", Agent: "deny"}, Rules: []string{"rules.yaml", "more/rules.yaml"}},
		Audit:  Audit{Dir: "log", Redact: []string{"ssn"}, Sync: "call"},
		Store:  "sqlite://" + w.state().Folder() + "/state/x.db",
		Server: Server{Addr: "127.0.0.1:9999", Anonymous: "guest", MaxBody: 1000, Idle: source.Duration(90e9)},
		Env:    []string{"REMOTE_TOKEN"},
	}
	got := p.File
	got.MCPServers = nil
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if p.Bare != "fixture" || p.ServersFrom != "mycelium.yaml" {
		t.Errorf("bare %q, from %q", p.Bare, p.ServersFrom)
	}
	var at []string
	for _, r := range p.Rules {
		at = append(at, line(policy.Problem{File: r.File, Line: r.Line, Message: r.Name}))
	}
	if d := cmp.Diff([]string{"rules.yaml:3: a", "more/rules.yaml:3: b"}, at); d != "" {
		t.Error(d)
	}
	for key, file := range map[string]string{
		"session.defaultRole": "mycelium.yaml", "mcpServers.fs": "mycelium.yaml", "policy.rules": "rules.yaml, more/rules.yaml",
		"server.maxBody": "mycelium.yaml", "policy.strict": "", "store": "mycelium.yaml", "audit.redact": "mycelium.yaml",
	} {
		if p.Sources[key] != file {
			t.Errorf("source of %s is %q, want %q", key, p.Sources[key], file)
		}
	}
}

func TestFoldersThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	if _, err := Load(Options{Dir: filepath.Join(w.dir, "none")}); err == nil {
		t.Error("a folder that does not exist was loaded")
	}
	if _, err := Load(Options{Dir: w.write("file", "x")}); err == nil {
		t.Error("a file was loaded as a folder")
	}
}

func TestHomeAndRootAreWarnedOf(t *testing.T) {
	w := newWorld(t)
	for _, dir := range []string{w.home, "/"} {
		p, err := Load(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Problems) == 0 || !p.Problems[0].Warning || !strings.Contains(p.Problems[0].Message, "the project folder is "+dir) {
			t.Errorf("%s: %q", dir, lines(p.Problems))
		}
	}
}

func TestLinksAreResolved(t *testing.T) {
	w := newWorld(t)
	link := filepath.Join(w.home, "link")
	if err := os.Symlink(w.dir, link); err != nil {
		t.Fatal(err)
	}
	w.write("mycelium.yaml", "session: {defaultRole: dev}\n")
	w.accept()
	p, err := Load(Options{Dir: link})
	if err != nil {
		t.Fatal(err)
	}
	if p.Dir != w.dir || !p.Trusted || p.File.Session.DefaultRole != "dev" {
		t.Errorf("dir %s, trusted %v, role %q", p.Dir, p.Trusted, p.File.Session.DefaultRole)
	}
}

// TestFirstFileWithServers is decision 14: the first of the three that has mcpServers is read.
func TestFirstFileWithServers(t *testing.T) {
	const yaml, config, client = "mcpServers: {a: {command: a}}\n",
		`{"mcpServers":{"b":{"command":"b"}},"session":{"defaultRole":"r","defaultSkills":["base"]}}`, `{"mcpServers":{"c":{"command":"c"}}}`
	for _, c := range []struct {
		name                 string
		yaml, config, client string
		from                 string
		servers              string
		role                 string
	}{
		{"all", yaml, config, client, "mycelium.yaml", "a files", "r"},
		{"no yaml", "", config, client, "config.json", "b files", "r"},
		{"client only", "", "", client, ".mcp.json", "c files", ""},
		{"yaml without servers", "session: {defaultRole: own}\n", config, client, "config.json", "b files", "own"},
		{"foreign config.json", "", `{"port": 3000, "session": {"secret": "x"}}`, client, ".mcp.json", "c files", ""},
		{"config.json with a session only", "", `{"session": {"defaultRole": "r"}}`, client, ".mcp.json", "c files", "r"},
		{"empty mcpServers counts", "mcpServers: {}\n", "", client, "mycelium.yaml", "files", ""},
		{"none", "", "", "", "", "files", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			for name, text := range map[string]string{"mycelium.yaml": c.yaml, "config.json": c.config, ".mcp.json": c.client} {
				if text != "" {
					w.write(name, text)
				}
			}
			w.trust()
			p := w.load()
			if len(p.Problems) > 0 || p.Broken.All != "" {
				t.Fatalf("%q %s", lines(p.Problems), p.Broken.All)
			}
			var names []string
			for _, s := range p.Servers {
				names = append(names, s.Name)
			}
			if got := strings.Join(names, " "); got != c.servers || p.ServersFrom != c.from || p.File.Session.DefaultRole != c.role {
				t.Errorf("servers %q from %q, role %q; want %q from %q, role %q", got, p.ServersFrom, p.File.Session.DefaultRole, c.servers, c.from,
					c.role)
			}
		})
	}
}

// TestClientEntries reads what clients of today write, with what has no meaning here spoken of.
func TestClientEntries(t *testing.T) {
	w := newWorld(t)
	w.write(".mcp.json", `{
	"mcpServers": {
		"GitHub_MCP.v2": {"type": "http", "url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"},`+
		` "timeout": 5000, "alwaysLoad": true},
		"helper": {"type": "streamable-http", "url": "https://example.com/mcp", "headersHelper": "/bin/get-headers"},
		"gemini": {"httpUrl": "https://example.com/mcp", "trust": true, "excludeTools": ["x"]},
		"off": {"command": "x", "enabled": false},
		"old": {"type": "sse", "url": "https://example.com/sse"},
		"mycelium-router": {"command": "node", "args": ["dist/mcp-server.js"], "env": {"MYCELIUM_CONFIG_PATH": "config.json"}},
		"router": {"command": "node", "args": ["/opt/node_modules/mycelium-router/dist/mcp-server.js"]},
		"us": {"command": "/usr/local/bin/myc", "args": ["mcp"]},
		"npx": {"command": "npx", "args": ["-y", "mycelium-cli@latest", "mcp"]},
		"shell": {"command": "bash", "args": ["-lc", "exec myc mcp --role admin"]},
		"daemon": {"url": "http://localhost:8420/mcp"},
		"notes": {"command": "npx", "args": ["-y", "notes-server", "/home/me/mycelium"]},
		"agent": {"command": "x"},
		"A_b": {"command": "x"},
		"a.B": {"command": "y"},
		"files": {"command": "npx"},
		"__": {"command": "z"}
	}
}`)
	w.trust()
	p := w.load()
	if p.Broken.All != "" {
		t.Error(p.Broken.All)
	}
	var got []string
	for _, s := range p.Servers {
		got = append(got, s.Name+" "+s.Type+" "+s.Command+s.URL)
	}
	want := []string{"files  ", "gemini http https://example.com/mcp", "github-mcp-v2 http https://api.example.com/mcp",
		"helper http https://example.com/mcp", "notes  npx", "off  x", "old sse https://example.com/sse"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, s := range p.Servers {
		if s.Trust || s.Disabled != (s.Name == "off") || s.Name == "github-mcp-v2" && s.Timeout != backend.Duration(5e9) {
			t.Errorf("%+v", s)
		}
	}
	wantLeft := []string{
		`warning: .mcp.json:13: server "daemon" is left out: its url is this program's own (remove the entry; the client should start us, and ` +
			`we start the other servers)`,
		`warning: .mcp.json:3: server "GitHub_MCP.v2" is known as "github-mcp-v2"; its tools are github-mcp-v2__…`,
		`warning: .mcp.json:8: server "mycelium-router" is left out: the name is this program's own, which offers those tools itself (remove ` +
			`the entry, or rename it if it is another server)`,
		`warning: .mcp.json:11: server "npx" is left out: it would start this program again (remove the entry; the client should start us, ` +
			`and we start the other servers)`,
		`warning: .mcp.json:9: server "router" is left out: its args name mycelium-router/dist/mcp-server.js, which is replaced by this ` +
			`program (remove the entry; the client should start us, and we start the other servers)`,
		`warning: .mcp.json:12: server "shell" is left out: it would start this program again (remove the entry; the client should start us, ` +
			`and we start the other servers)`,
		`warning: .mcp.json:10: server "us" is left out: it would start this program again (remove the entry; the client should start us, and ` +
			`we start the other servers)`,
	}
	slices.Sort(wantLeft)
	left := lines(p.LeftOut)
	slices.Sort(left)
	if i := slices.IndexFunc(left, func(s string) bool { return strings.Contains(s, `"npx"`) }); i < 0 {
		t.Error("npx is not left out")
	}
	if d := cmp.Diff(wantLeft, left); d != "" {
		t.Error(d)
	}
	wantProblems := []string{
		`warning: .mcp.json:5: server "gemini": trust means something else in a client's file and is not taken over (move the entry to ` +
			`mycelium.yaml if its annotations are to be believed)`,
		`warning: .mcp.json:5: server "gemini": includeTools and excludeTools have no effect: skills decide (list the tools in a skill's ` +
			`allowedTools, or write a deny rule)`,
		`warning: .mcp.json:4: server "helper": headersHelper is not run (write headers with ${VAR})`,
		`.mcp.json:19: server name "__" cannot be used (use 1 to 64 of the characters a-z 0-9 -, beginning with a letter or digit)`,
		`.mcp.json:16: servers "A_b", "a.B" are all known as "a-b"; none of them is used (rename all but one)`,
		`.mcp.json:15: server name "agent" is reserved for an agent's own tools (rename the entry)`,
		`.mcp.json:18: server "files": the name belongs to the built-in server for the project's files (give the entry another name, or write ` +
			`{builtin: files, args: [FOLDER]})`,
	}
	if d := cmp.Diff(wantProblems, lines(p.Problems)); d != "" {
		t.Error(d)
	}
}

// BenchmarkLoad is what every hook without a daemon pays: what init writes, and 60 rules.
func BenchmarkLoad(b *testing.B) {
	home := b.TempDir()
	b.Setenv("HOME", home)
	dir := filepath.Join(home, "p")
	if _, err := scaffold.Init(dir, scaffold.Options{}); err != nil {
		b.Fatal(err)
	}
	var rules strings.Builder
	rules.WriteString("version: 1\nrules:\n")
	for i := range 60 {
		fmt.Fprintf(&rules, "  - name: r%d\n    action: deny\n    tool: Write|Edit\n    match: {path: [{glob: \"**/x%d\"}]}\n    reason: No.\n",
			i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "rules.yaml"), []byte(rules.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	p, err := Load(Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	c, err := p.Candidate()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Accept(time.Now()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p, err := Load(Options{Dir: dir})
		if err != nil || len(p.Problems) > 0 || len(p.Rules) != 60 {
			b.Fatal(err, p.Problems)
		}
	}
}

func TestFolderThatEverybodyMayWriteTo(t *testing.T) {
	w := newWorld(t)
	if err := os.Chmod(w.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if p := w.load(); len(p.Problems) != 1 || !p.Problems[0].Warning || !strings.Contains(p.Problems[0].Message, "everybody on this machine") {
		t.Errorf("%q", lines(p.Problems))
	}
}
