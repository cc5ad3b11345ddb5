package config

import (
	"strings"
	"testing"

	"mycelium/internal/config/source"
	"mycelium/internal/skill"
)

// malformed are files that people get wrong, each with what they are told. broken says what the fault denies: all, role:ID or
// nothing.
var malformed = []struct {
	name, file, text string
	want             string // one line per problem
	broken           string
}{
	{"unknown key", "mycelium.yaml", "sesion:\n  defaultRole: x\n", `mycelium.yaml:1: unknown key "sesion" (did you mean "session"?)`, "all"},
	{"unknown key below", "mycelium.yaml", "session:\n  defaultRoles: x\n",
		`mycelium.yaml:2: unknown key "defaultRoles" in session (did you mean "defaultRole"?)`, "all"},
	{"unknown key of a server", "mycelium.yaml", "mcpServers:\n  a:\n    comand: x\n",
		`mycelium.yaml:3: unknown key "comand" in mcpServers.a (did you mean "command"?)`, "all"},
	{"deadline", "mycelium.yaml", "approval:\n  deadline: soon\n",
		`mycelium.yaml:2: approval.deadline: duration "soon": write "300s", or a number of seconds, from 0 to 24h`, "all"},
	{"mode of approvals", "mycelium.yaml", "approval:\n  mode: phone\n",
		`mycelium.yaml:2: approval.mode is "phone" (write auto, local or remote)`, "all"},
	{"who is asked", "mycelium.yaml", "approval:\n  askVia: agent\n", `mycelium.yaml:2: approval.askVia is "agent" (write client or queue)`,
		"all"},
	{"limit of nothing", "mycelium.yaml", "limits:\n  guest:\n    perMinute: 0\n",
		`mycelium.yaml:3: limits.guest.perMinute: write a whole number of calls from 1 to 1000000000; to forbid all calls, write a deny rule`,
		"all"},
	{"limit below nothing", "mycelium.yaml", "limits: {guest: {session: {concurrent: -1}}}\n",
		`mycelium.yaml:1: limits.guest.session.concurrent: write a whole number of calls from 1 to 1000000000; to forbid all calls, write a ` +
			`deny rule`, "all"},
	{"limit that is no number", "mycelium.yaml", "limits: {guest: {perDay: 1.5}}\n",
		`mycelium.yaml:1: limits.guest.perDay: write a whole number of calls from 1 to 1000000000; to forbid all calls, write a deny rule`,
		"all"},
	{"limit over all bounds", "mycelium.yaml", "limits: {guest: {perHour: 99999999999999999999}}\n",
		`mycelium.yaml:1: limits.guest.perHour: write a whole number of calls from 1 to 1000000000; to forbid all calls, write a deny rule`,
		"all"},
	{"unknown limit", "mycelium.yaml", "limits: {guest: {perSecond: 1}}\n",
		`mycelium.yaml:1: unknown key "perSecond" in limits.guest (known keys: concurrent, perDay, perHour, perMinute, session, tools)`, "all"},
	{"limit of a tool that is no name", "mycelium.yaml", "limits:\n  guest:\n    tools: {search: {perMinute: 1}}\n",
		`mycelium.yaml:3: limits.guest.tools: tool name "search": no "__" between server and tool; write server__tool (write server__tool, ` +
			`server__* or *)`, "all"},
	{"limit of a role that is no name", "mycelium.yaml", "limits:\n  'a b': {perMinute: 1}\n",
		`mycelium.yaml:2: limits names the role "a b" (use 1 to 64 of the characters A-Z a-z 0-9 . _ -, or "*" for every role)`, "all"},
	{"doubled key", "mycelium.yaml", "store: sqlite://a\nstore: sqlite://b\n",
		`mycelium.yaml:2: the key "store" is given twice (first on line 1) (keep one of them)`, "all"},
	{"doubled key in JSON", ".mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n \"command\": \"y\"}}}",
		`.mcp.json:2: the key "command" is given twice (first on line 1) (keep one of them)`, "all"},
	{"wrong type", "mycelium.yaml", "session:\n  roles: guest\n",
		`mycelium.yaml:2: session.roles must be a list, not the text "guest" (write it as a list: ["guest"])`, "all"},
	{"text for a switch", "mycelium.yaml", "policy:\n  strict: \"yes\"\n",
		`mycelium.yaml:2: policy.strict must be true or false, not the text "yes" (write true or false, without quotes)`, "all"},
	{"list for a map", "mycelium.yaml", "- a\n- b\n", `mycelium.yaml:1: the file must be a map, not a list (write key: value lines)`, "all"},
	{"bad duration", "mycelium.yaml", "mcpServers:\n  a:\n    command: x\n    timeout: soon\n",
		`mycelium.yaml:4: mcpServers.a.timeout: duration "soon" cannot be read (write 30s, 500ms or 2m; a bare number is milliseconds)`, "all"},
	{"negative duration", "mycelium.yaml", "mcpServers: {a: {command: x, stopTimeout: -3s}}\n",
		`mycelium.yaml:1: mcpServers.a.stopTimeout: duration "-3s" is out of range (write 0 to 24h)`, "all"},
	{"fallback", "mycelium.yaml", "policy:\n  fallback:\n    agent: alow\n",
		`mycelium.yaml:3: policy.fallback.agent is "alow" (did you mean allow?)`, "all"},
	{"promotion", "mycelium.yaml", "session:\n  promotion: sometimes\n",
		`mycelium.yaml:2: session.promotion is "sometimes" (write manual, confirm or auto)`, "all"},
	{"wildcard in session.roles", "mycelium.yaml", "session:\n  roles:\n    - guest\n    - '*'\n",
		`mycelium.yaml:4: session.roles names "*" (name each role; wildcards are not read here)`, "all"},
	{"sync", "mycelium.yaml", "audit: {sync: cal}\n", `mycelium.yaml:1: audit.sync is "cal" (did you mean call?)`, "all"},
	{"store", "mycelium.yaml", "store: mysql://x\n", `mycelium.yaml:1: store must begin with sqlite:// (write ` +
		`sqlite://mycelium.db, or leave store out)`, "all"},
	{"store of a later version", "mycelium.yaml", "store: postgres://x\n",
		`mycelium.yaml:1: this version does not read postgres:// yet (write sqlite://mycelium.db, or leave store out)`, "all"},
	{"address", "mycelium.yaml", "server: {addr: localhost}\n",
		`mycelium.yaml:1: server.addr is "localhost" (write host:port, such as 127.0.0.1:8420)`, "all"},
	{"open address", "mycelium.yaml", "server:\n  addr: 0.0.0.0:8420\n",
		`warning: mycelium.yaml:2: server.addr 0.0.0.0:8420 can be reached from other machines (use 127.0.0.1 unless that is meant)`, ""},
	{"body", "mycelium.yaml", "server: {maxBody: -1}\n", `mycelium.yaml:1: server.maxBody is -1 (write a number of bytes from 1 to ` +
		`1073741824, or leave it out for 4 MiB)`, "all"},
	{"host with a scheme", "mycelium.yaml", "server: {hosts: ['https://mcp.example.com']}\n",
		`mycelium.yaml:1: server.hosts names "https://mcp.example.com" (write a name such as mcp.example.com, without scheme and path; ` +
			`wildcards are not read)`, "all"},
	{"host of all", "mycelium.yaml", "server: {hosts: ['*.example.com']}\n",
		`mycelium.yaml:1: server.hosts names "*.example.com" (write a name such as mcp.example.com, without scheme and path; wildcards are ` +
			`not read)`, "all"},
	{"oauth without anything", "mycelium.yaml", "server:\n  oauth: {scopes: [a]}\n",
		"mycelium.yaml:2: server.oauth does not name the resource (write the URL by which clients reach this gateway, such as resource: " +
			"https://mcp.example.com/mcp)\nmycelium.yaml:2: server.oauth names no issuer (write issuers: [https://login.example.com])", "all"},
	{"oauth without TLS", "mycelium.yaml", "server: {oauth: {resource: 'http://m.example/mcp', issuers: ['http://id.example']}}\n",
		"mycelium.yaml:1: server.oauth.resource is \"http://m.example/mcp\" (write the https URL by which clients reach this gateway, such as " +
			"https://mcp.example.com/mcp)\nmycelium.yaml:1: server.oauth.issuers names \"http://id.example\" (write the issuer exactly as its " +
			"tokens do (iss): an https URL)", "all"},
	{"shared secrets", "mycelium.yaml", "server: {oauth: {resource: 'https://m.example/mcp', issuers: ['https://id.example'], algorithms: " +
		"[HS256]}}\n", `mycelium.yaml:1: server.oauth.algorithms names "HS256" (did you mean ES256?)`, "all"},
	{"no algorithm", "mycelium.yaml",
		"server: {oauth: {resource: 'https://m.example/mcp', issuers: ['https://id.example'], algorithms: []}}\n",
		`mycelium.yaml:1: server.oauth.algorithms is empty: no token could be good (leave it out, or name one)`, "all"},
	{"keys of nobody", "mycelium.yaml", "server: {oauth: {resource: 'https://m.example/mcp', issuers: ['https://id.example'], jwks: " +
		"{'https://x.example': 'http://x.example/k'}}}\n", "mycelium.yaml:1: server.oauth.jwks has \"http://x.example/k\" (write an https " +
		"URL)\nmycelium.yaml:1: server.oauth.jwks has the issuer \"https://x.example\", which is not under issuers (write it under issuers " +
		"too, exactly as its tokens say it)", "all"},
	{"two scopes in one", "mycelium.yaml", "server: {oauth: {resource: 'https://m.example/mcp', issuers: ['https://id.example'], scopes: " +
		"['a b']}}\n", `mycelium.yaml:1: server.oauth.scopes names "a b" (one entry is one scope, without spaces and quotes)`, "all"},
	{"a role that is none", "mycelium.yaml", "server: {oauth: {resource: 'https://m.example/mcp', issuers: ['https://id.example'], roles: " +
		"{eng: 'the boss'}}}\n", `mycelium.yaml:1: server.oauth.roles gives "eng" the role "the boss" (use 1 to 64 of the characters A-Z a-z ` +
		`0-9 . _ -)`, "all"},
	{"clocks of yesterday", "mycelium.yaml", "server: {oauth: {resource: 'https://m.example/mcp', issuers: ['https://id.example'], " +
		"skew: 1h}}\n", `mycelium.yaml:1: server.oauth.skew is "1h0m0s" (write 5m or less: so long an expired token stays good)`, "all"},
	{"unknown key of oauth", "mycelium.yaml", "server: {oauth: {resource: 'https://m.example/mcp', issuers: ['https://id.example'], " +
		"audiences: [x]}}\n", `mycelium.yaml:1: unknown key "audiences" in server.oauth (did you mean "audience"?)`, "all"},
	{"empty audience", "mycelium.yaml", "server: {oauth: {resource: 'https://m.example/mcp', issuers: ['https://id.example'], audience: " +
		"['']}}\n", `mycelium.yaml:1: server.oauth.audience has an empty entry (leave it out: the resource itself always counts)`, "all"},
	{"anonymous for all", "mycelium.yaml", "server: {anonymous: guest, hosts: [mcp.example.com]}\n",
		`warning: mycelium.yaml:1: server.anonymous and a public name: behind a proxy that does not say so, everybody is anonymous (leave ` +
			`server.anonymous out where others can reach this machine)`, ""},
	{"receiver that is none", "mycelium.yaml", "telemetry: {endpoint: 'localhost:4318'}\n",
		`mycelium.yaml:1: telemetry.endpoint is "localhost:4318" (write the base URL of an OTLP receiver over HTTP, such as ` +
			`http://127.0.0.1:4318; credentials go under headers)`, "all"},
	{"more than all", "mycelium.yaml", "telemetry: {endpoint: 'http://h:1', sample: 1.5}\n",
		`mycelium.yaml:1: telemetry.sample is 1.5 (write a share from 0 to 1)`, "all"},
	{"to nobody", "mycelium.yaml", "telemetry: {sample: 0.5}\n",
		`mycelium.yaml:1: telemetry says how to send and not where (write endpoint: http://127.0.0.1:4318)`, "all"},
	{"header of two lines", "mycelium.yaml", "telemetry: {endpoint: 'http://h:1', headers: {X: \"a\\nb\"}}\n",
		`mycelium.yaml:1: telemetry.headers has "X" (use the characters of an HTTP header's name, and one line for its value)`, "all"},
	{"format of the log", "mycelium.yaml", "log: {format: xml}\n", `mycelium.yaml:1: log.format is "xml" (write text or json)`, "all"},
	{"level of the log", "mycelium.yaml", "log: {level: warning}\n",
		`mycelium.yaml:1: log.level is "warning" (write debug, info, warn or error)`, "all"},
	{"unknown key of secrets", "mycelium.yaml", "secrets: {files: x}\n",
		`mycelium.yaml:1: unknown key "files" in secrets (did you mean "file"?)`, "all"},
	{"secrets in the file", "mycelium.yaml", "secrets: {GITHUB_TOKEN: x}\n",
		`mycelium.yaml:1: unknown key "GITHUB_TOKEN" in secrets (known keys: file, identity, keyring)`, "all"},
	{"value in env", "mycelium.yaml", "env: [TOKEN=x]\n", `mycelium.yaml:1: env names the variable "TOKEN=x" (write names only, such as ` +
		`GITHUB_TOKEN; values stay in the environment)`, "all"},
	{"rules file that is not there", "mycelium.yaml", "policy:\n  rules:\n    - none.yaml\n",
		`mycelium.yaml:3: policy.rules names none.yaml, which does not exist (create it, or correct the path; it is relative to the folder of ` +
			`mycelium.yaml)`, "all"},
	{"misnamed", "mycelium.yml", "policy: {strict: true}\n", `warning: mycelium.yml:0: is not read (rename it to mycelium.yaml)`, ""},

	{"bad url", "mycelium.yaml", "mcpServers:\n  a:\n    url: 'ht tp://x'\n",
		`mycelium.yaml:3: server "a": url cannot be parsed (write it like https://host/mcp)`, ""},
	{"url of another kind", "mycelium.yaml", "mcpServers: {a: {url: 'ftp://x/y'}}\n",
		`mycelium.yaml:1: server "a": url begins with "ftp:" (write it like https://host/mcp)`, ""},
	{"url without host", "mycelium.yaml", "mcpServers: {a: {url: 'https:///mcp'}}\n",
		`mycelium.yaml:1: server "a": url has no host (write it like https://host/mcp)`, ""},
	{"password in a url", "mycelium.yaml", "mcpServers: {a: {url: 'https://u:p@h/mcp'}}\n",
		`mycelium.yaml:1: server "a": url contains a user name or password, which would reach logs (write headers: {Authorization: "Basic ` +
			`${CREDENTIALS}"})`, ""},
	{"command and url", "mycelium.yaml", "mcpServers:\n  a:\n    command: x\n    url: https://h/mcp\n",
		`mycelium.yaml:4: server "a": has both command and url (keep command for a program to start, or url for a server that runs elsewhere)`,
		""},
	{"neither", "mycelium.yaml", "mcpServers:\n  a:\n", `mycelium.yaml:2: server "a": has neither command nor url (write command and args ` +
		`of a program to start, or type: http and a url)`, ""},
	{"empty command", "mycelium.yaml", "mcpServers:\n  a:\n    command: ''\n",
		`mycelium.yaml:3: server "a": command is empty (write the program to start)`, ""},
	{"http without url", "mycelium.yaml", "mcpServers: {a: {type: http, command: x}}\n",
		`mycelium.yaml:1: server "a": type is http and there is no url (write url, or leave type out)`, ""},
	{"type", "mycelium.yaml", "mcpServers: {a: {type: carrier-pigeon, command: x}}\n",
		`mycelium.yaml:1: server "a": type "carrier-pigeon" is not known (write stdio, http or sse, or leave it out)`, ""},
	{"header", "mycelium.yaml", "mcpServers: {a: {url: 'https://h/mcp', headers: {'X Y': z}}}\n",
		`mycelium.yaml:1: server "a": headers names "X Y" (use the characters of an HTTP header's name)`, ""},
	{"header with a line break", "mycelium.yaml", "mcpServers: {a: {url: 'https://h/mcp', headers: {X: \"a\\nb\"}}}\n",
		`mycelium.yaml:1: server "a": the value of header X contains a line break (write it on one line)`, ""},
	{"reserved name", "mycelium.yaml", "mcpServers:\n  agent: {command: x}\n",
		`mycelium.yaml:2: server name "agent" is reserved for an agent's own tools (rename the entry)`, ""},
	{"unknown built-in", "mycelium.yaml", "mcpServers: {x: {builtin: file}}\n",
		`mycelium.yaml:1: server "x": there is no built-in server "file" (did you mean files?)`, ""},
	{"built-in under another name", "mycelium.yaml", "mcpServers: {docs: {builtin: files}}\n",
		`mycelium.yaml:1: server "docs": builtin: files belongs to the entry called files (rename the entry)`, ""},
	{"built-in folder", "mycelium.yaml", "mcpServers: {files: {builtin: files, args: [nowhere]}}\n",
		`mycelium.yaml:1: server "files": the folder "nowhere" does not exist (create it, or correct args)`, ""},
	{"two bare ones", "mycelium.yaml", "mcpServers:\n  a: {command: x, bare: true}\n  b: {command: y, bare: true}\n",
		`mycelium.yaml:3: servers "a" and "b" are both bare (at most one server can stand without prefix)`, ""},

	{"broken JSON", "config.json", "{\"mcpServers\": {", `config.json:1: `, "all"},
	{"unknown key of a client's file", ".mcp.json", "{\"mcpServers\": {\"a\": {\n\"comand\": \"x\"}}}",
		`.mcp.json:2: unknown key "comand" in mcpServers.a (did you mean "command"?)`, "all"},
	{"session in a client's file", ".mcp.json", "{\"mcpServers\": {},\n\"session\": {\"defaultRole\": \"x\"}}",
		`.mcp.json:2: session is not read from this file (move it to mycelium.yaml)`, "all"},

	{"tab", "roles/dev.yaml", "allowedSkills:\n\t- reader\n", "roles/dev.yaml:2: ", "role:dev"},
	{"role with an unknown key", "roles/dev.yaml", "id: dev\nallowedSkill: [a]\n",
		`roles/dev.yaml:2: unknown key "allowedSkill" (did you mean "allowedSkills"?)`, "role:dev"},
	{"role whose broken file has another id", "roles/dev.yaml", "id: boss\nx: y: z\n", "roles/dev.yaml:2: ", "role:boss"},
	{"role id", "roles/dev.yaml", "id: a b\n", `roles/dev.yaml:1: the role's id is "a b" (use 1 to 64 of the characters A-Z a-z 0-9 . _ -)`,
		"all"},
	{"role id that differs", "roles/dev.yaml", "\nid: other\n",
		`warning: roles/dev.yaml:2: the file declares role "other", not "dev" (name the file other.yaml)`, ""},
	{"a mode of promotion that does not exist", "roles/dev.yaml", "promotion: confrm\n",
		`roles/dev.yaml:1: promotion is "confrm" (did you mean confirm?)`, "role:dev"},
	{"two prompts", "roles/dev.yaml", "prompt: a\nsystemPrompt: b\n",
		`roles/dev.yaml:2: prompt and systemPrompt are the same key (keep one of them)`, "role:dev"},
	{"temperature", "roles/dev.yaml", "model: {provider: anthropic,\n  temperature: 3}\n",
		`roles/dev.yaml:2: model.temperature is 3 (write a number from 0 to 1)`, "role:dev"},
	{"provider", "roles/dev.yaml", "model:\n  provider: acme\n",
		`warning: roles/dev.yaml:2: model.provider is "acme" (known are anthropic, openai, gemini, ollama)`, ""},
	{"role that inherits itself", "roles/dev.yaml", "inherits: dev\n",
		`roles/dev.yaml:1: role "dev" inherits itself: dev → dev (remove inherits, or name another role)`, "role:dev"},
	{"unknown ancestor", "roles/dev.yaml", "\ninherits: ghost\n",
		`roles/dev.yaml:2: role dev: it inherits "ghost", a role that no file and no skill names (no call of this role, or of one that ` +
			`inherits it, is allowed until this is fixed)`, "role:dev"},
	{"index", "roles/index.yaml", "roles:\n  - id: a\n  - toolId: [b]\n",
		`roles/index.yaml:3: unknown key "toolId" in roles[1] (did you mean "toolIds"?)`, "all"},
	{"index without id", "roles/index.yaml", "roles:\n  - description: x\n",
		`roles/index.yaml:2: the role's id is "" (use 1 to 64 of the characters A-Z a-z 0-9 . _ -)`, "all"},

	{"rules version", "rules.yaml", "version: 7\nrules: []\n", `rules.yaml:1: version 7 is not known (write version: 1)`, "all"},
	{"rule with an unknown key", "rules.yaml", "rules:\n  - name: a\n    acton: deny\n",
		`rules.yaml:3: unknown key "acton" in rules[0] (did you mean "action"?)`, "all"},
	{"unmatched", "rules.yaml", "version: 1\ndefaults:\n  unmatched: maybe\n",
		`rules.yaml:3: defaults.unmatched is "maybe" (write deny, ask or allow (escalate is ask))`, "all"},
	{"budgets", "rules.yaml", "version: 1\ndefaults: {max_turns_per_agent: 50}\n",
		`warning: rules.yaml:2: defaults.max_turns_per_agent: 50 is read as agents.turns, where that is not smaller (myc config migrate shows ` +
			`the present form)`, ""},
	{"negative budget", "rules.yaml", "version: 1\ndefaults:\n  max_budget_per_agent: -1\n",
		`rules.yaml:3: defaults.max_budget_per_agent is -1 (write a number above 0; 0 is no bound)`, "all"},
	{"not UTF-8", "rules.yaml", "version: 1 # \xff\n", `rules.yaml:0: cannot be read: it is not UTF-8 (make it a readable text file, or ` +
		`remove it)`, "all"},
	{"too large", "rules.yaml", strings.Repeat("#\n", 1<<20), `rules.yaml:0: cannot be read: it is larger than 1024 KiB (make it a ` +
		`readable text file, or remove it)`, "all"},
}

func TestMalformedFiles(t *testing.T) {
	for _, c := range malformed {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(c.file, c.text)
			w.trust()
			p := w.load()
			got := strings.Join(lines(p.Problems), "\n")
			if got != c.want && (!strings.HasSuffix(c.want, " ") || !strings.HasPrefix(got, c.want)) {
				t.Errorf("told:\n%s\nwant:\n%s", got, c.want)
			}
			role, isRole := strings.CutPrefix(c.broken, "role:")
			if (p.Broken.All != "") != (c.broken == "all") || isRole && p.Broken.Roles[role] == "" || c.broken == "" && len(p.Broken.Roles) > 0 {
				t.Errorf("broken %+v, want %q", p.Broken, c.broken)
			}
		})
	}
}

// TestCircle: a circle of inheritance names itself and denies every role in it.
func TestCircle(t *testing.T) {
	w := newWorld(t)
	w.write("roles/a.yaml", "inherits: b\n")
	w.write("roles/b.yaml", "id: b\ninherits: c\n")
	w.write("roles/c.yaml", "inherits: a\n")
	w.write("roles/d.yaml", "inherits: a\n")
	w.write("roles/free.yaml", "{}\n")
	w.trust()
	p := w.load()
	want := "roles/a.yaml:1: roles inherit each other in a circle: a → b → c → a (remove inherits from one of them)"
	if got := strings.Join(lines(p.Problems), "\n"); got != want {
		t.Errorf("told:\n%s\nwant:\n%s", got, want)
	}
	for _, id := range []string{"a", "b", "c"} {
		if p.Broken.Roles[id] == "" {
			t.Errorf("role %s is not broken", id)
		}
	}
	if p.Broken.Roles["free"] != "" || p.Broken.All != "" {
		t.Errorf("%+v", p.Broken)
	}
}

// TestToolsThatAreNotThere are warnings with the tool of the catalog that was probably meant.
func TestToolsThatAreNotThere(t *testing.T) {
	w := newWorld(t)
	w.write("roles/r.yaml", "toolIds: [list_directry, files__raed_file, nothing_like_it]\n")
	w.trust()
	_, _, problems := w.load().Compile(builtin(t, w.dir))
	var got []string
	for _, l := range lines(problems) {
		if strings.Contains(l, "toolIds") {
			got = append(got, l)
		}
	}
	want := []string{
		`warning: roles/r.yaml:1: role r: toolIds: "list_directry" is not the name of a tool (did you mean files__list_directory? Until then ` +
			`it grants nothing)`,
		`warning: roles/r.yaml:1: role r: toolIds: "files__raed_file" is not in the catalog (did you mean files__read_file? Until then it ` +
			`grants nothing)`,
		`warning: roles/r.yaml:1: role r: toolIds: "nothing_like_it" is not the name of a tool (it grants nothing)`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("told:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestBrokenRuleBreaks: a rule that does not compile, or whose own example fails, denies everything until it is corrected.
func TestBrokenRuleBreaks(t *testing.T) {
	for name, text := range map[string]string{
		"regex":  "version: 1\nrules:\n  - {name: r, action: deny, tool: a__b, args: {x: [{regex: '('}]}}\n",
		"action": "version: 1\nrules:\n  - {name: r, action: forbid, tool: a__b}\n",
		"example": "version: 1\nrules:\n  - {name: r, action: deny, tool: files__read_file, match: {path: [{glob: '**/x'}]}, examples: " +
			"{match: [{tool: files__read_file, args: {path: y}}]}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("rules.yaml", text)
			w.trust()
			p := w.load()
			if p.Broken.All == "" || len(p.Problems) == 0 || p.Problems[0].File != "rules.yaml" || p.Problems[0].Line != 3 {
				t.Errorf("broken %q, problems %q", p.Broken.All, lines(p.Problems))
			}
			pol, _, more := p.Compile(skill.Catalog{})
			if source.Faulty(more) {
				t.Errorf("told twice: %q", lines(more))
			}
			if d := pol.Decide(callOf("anybody", "agent__Read")); d.Effect != 0 {
				t.Errorf("%+v", d)
			}
		})
	}
}

// TestClosedNamesake: a skill of the user that bounds the project's goes on doing so when its file is broken.
func TestClosedNamesake(t *testing.T) {
	w := newWorld(t)
	w.write("skills/reader/SKILL.yaml", aSkill("reader"))
	w.trust()
	pol, _, _ := w.load().Compile(builtin(t, w.dir))
	if sees(pol, "dev") != "read_file" {
		t.Fatalf("sees %q", sees(pol, "dev"))
	}
	w.writeUser("skills/reader/SKILL.yaml", "name: reader\nallowedTool: [x]\n")
	pol, _, _ = w.load().Compile(builtin(t, w.dir))
	if sees(pol, "dev") != "" {
		t.Errorf("sees %q though the user's skill of that name is broken", sees(pol, "dev"))
	}
}
