package shell

import (
	"strings"

	"mycelium/internal/policy"
)

// packageScript is npm test, npm run x, npm exec x and the subcommands that only a project knows (yarn lint).
func packageScript(c *call) {
	words := c.words
	if len(words) > 1 && words[1].s == "node" && c.part.Program != "npm" {
		c.known(find("node"), words[2:])
		return
	}
	c.scripts(words[1:])
	for i, w := range words {
		switch w.s {
		case "exec", "x", "dlx":
			runner(c, words[i+1:])
			return
		case "create", "init", "innit":
			if i+1 < len(words) && !strings.HasPrefix(words[i+1].s, "-") {
				c.does |= doesInstall | doesNetwork
			}
		}
	}
	c.does |= doesProjectCode
	if len(words) > 2 && words[len(words)-1].s == "env" {
		c.does |= doesSecrets // it shows the whole environment
	}
	c.settings(words)
	c.works("rw")
	args := words[1:]
	for i, w := range args {
		if w.s == "--" {
			args = args[i+1:]
			break
		}
	}
	c.guess(args)
	c.finish()
}

// runner is npx, bunx, uvx: a package is fetched, if it is not there, and runs. Known tools that a project has are what they are.
func runner(c *call, args []text) {
	pkg, rest, named := text{}, args, false
	for len(rest) > 0 {
		s := rest[0].s
		switch {
		case s == "-c" || s == "--call":
			if len(rest) > 1 {
				c.nested(rest[1])
			}
			rest = nil
		case s == "-p" || s == "--package" || s == "--from" || s == "--with" || s == "--python":
			if len(rest) > 1 && (s == "-p" || s == "--package" || s == "--from") {
				pkg, named = rest[1], true
			}
			rest = rest[min(2, len(rest)):]
			continue
		case strings.HasPrefix(s, "--package=") || strings.HasPrefix(s, "--from="):
			pkg, named = rest[0].from(strings.IndexByte(s, '=')+1), true
			rest = rest[1:]
			continue
		case s == "--" || strings.HasPrefix(s, "-") && len(s) > 1:
			rest = rest[1:]
			continue
		}
		break
	}
	if len(rest) == 0 {
		c.does |= doesInstall | doesNetwork
		c.finish()
		return
	}
	if rest[0].unknown {
		c.unclear("which package runs is not known")
	}
	name := packageName(rest[0].s)
	if isAgentPackage(rest[0].s) || isAgentPackage(pkg.s) {
		c.does |= doesAgent
	}
	p := find(name)
	fetches := c.part.Program == "uvx" || c.part.Program == "pipx" || c.part.Program == "pnpx" || c.part.Program == "uv" || contains(c.argv(), "dlx")
	if p != nil && !fetches && !named && !strings.Contains(rest[0].s, "@") && p.raw != asAgent && p.raw != asOurs && projectTool(name) {
		c.does |= doesProjectCode
		c.known(p, rest[1:]) // a tool of the project
		return
	}
	c.does |= doesInstall | doesNetwork | doesProjectCode
	if p != nil && p.raw == asAgent {
		c.does |= doesAgent
	}
	if p != nil && p.raw == asOurs {
		c.does |= doesOperator
	}
	c.guess(rest[1:])
	c.finish()
}

// projectTool reports whether a tool is one that projects have among their own dependencies.
func projectTool(name string) bool {
	switch name {
	case "tsc", "vue-tsc", "eslint", "prettier", "jest", "vitest", "mocha", "vite", "webpack", "next", "turbo", "nx", "lerna", "playwright", "tsx", "ts-node", "biome", "stylelint",
		"oxlint", "nyc", "prisma", "ng", "standard", "ruff", "black", "mypy", "pytest", "flake8", "isort", "pyright", "pylint":
		return true
	}
	return false
}

// packageName is the name of the program of a package: without scope and version.
func packageName(s string) string {
	if i := strings.LastIndexByte(s, '@'); i > 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		s = s[i+1:]
	}
	return s
}

// isAgentPackage reports whether a package is an agent.
func isAgentPackage(s string) bool {
	s = strings.ToLower(s)
	for _, p := range [...]string{"claude", "codex", "gemini-cli", "charmland/crush", "opencode", "aider", "goose", "qwen-code", "sourcegraph/amp", "cline", "copilot", "openhands", "auggie"} {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// installs are npm install, pip install, go get: with a name something new comes, without one what the project declares.
func installs(c *call) {
	c.does |= doesProjectCode
	fresh := c.has("g") || c.has("e") && c.program.name != "install|i"
	for _, t := range c.operands {
		switch {
		case t.s == ".", strings.HasPrefix(t.s, "./"), strings.HasPrefix(t.s, ".["):
			c.file(policy.Read, text{s: strings.TrimSuffix(cutAt(t.s, '['), "/"), unknown: t.unknown})
		case t.s == "sync", t.s == "compile":
		default:
			fresh = true
			if strings.Contains(t.s, "://") {
				c.address(text{s: strings.TrimPrefix(t.s, "git+"), unknown: t.unknown})
			} else if strings.HasPrefix(t.s, "/") || strings.HasPrefix(t.s, "..") || strings.HasPrefix(t.s, "file:") {
				c.role('r', text{s: strings.TrimPrefix(t.s, "file:"), unknown: t.unknown})
			}
		}
	}
	if v, ok := c.value("e"); ok && (v.s == "." || strings.HasPrefix(v.s, "./") || strings.HasPrefix(v.s, ".[")) {
		fresh = c.has("g") || len(c.operands) > 0
	}
	if v, ok := c.value("r"); ok && strings.Contains(v.s, "://") {
		fresh = true
	}
	if c.has("u") || c.has("i") || c.has("extra-index-url") || c.has("f") {
		fresh = true
	}
	if fresh {
		c.does |= doesInstall
	} else {
		c.does |= doesDeps
	}
}

func cutAt(s string, b byte) string {
	if i := strings.IndexByte(s, b); i >= 0 {
		return s[:i]
	}
	return s
}

// manifest are settings of a package manager: reading them is nothing, changing them is.
func manifest(c *call) {
	switch c.program.name {
	case "clean":
		if c.has("modcache") {
			c.file(policy.Delete, c.home("go/pkg/mod"))
		}
		if c.has("cache") || c.has("fuzzcache") {
			c.file(policy.Delete, c.home(".cache/go-build"))
		}
		return
	case "audit":
		if len(c.operands) > 0 || c.has("fix") {
			c.does |= doesDeps | doesProjectCode
		}
		if c.has("force") {
			c.does |= doesInstall
		}
		return
	}
	sets := c.has("w") || c.has("u") || len(c.operands) > 0 && (c.operands[0].s == "edit" || c.operands[0].s == "set")
	for _, t := range c.operands {
		sets = sets || t.s == "set" || strings.Contains(t.s, "=") || t.unknown
	}
	for _, t := range c.operands {
		switch {
		case t.s == "set" || t.s == "delete" || t.s == "rm" || t.s == "edit" || t.s == "clean" || t.s == "purge" || t.s == "unset" || strings.Contains(t.s, "=") && c.program.name != "config|c|set|pkg|cache":
			c.does |= doesWrite
		case t.unknown:
			c.unclear("a setting is not known")
		}
		if !sets {
			continue
		}
		if s := strings.ToLower(t.s); strings.Contains(s, "script") || strings.Contains(s, "registry") || t.s == "edit" || strings.Contains(t.s, "TOOLEXEC") || strings.Contains(t.s, "GOFLAGS") || strings.Contains(t.s, "PROXY") || strings.Contains(t.s, "index-url") {
			c.unclear("the setting changes which code runs")
		}
	}
	if c.has("w") || c.has("u") {
		c.does |= doesWrite
	}
}

// container is docker run and docker exec: what is mounted is ours, what runs is not.
func container(c *call, args []text) {
	c.scan(c.program, args)
	c.does |= doesContainer
	for _, o := range c.found {
		switch o.name {
		case "privileged", "cap-add", "device":
			c.does |= doesPrivilege
		case "pid", "ipc", "userns", "network":
			if o.val.s == "host" {
				c.does |= doesPrivilege
			}
		case "security-opt":
			c.does |= doesPrivilege
		case "v":
			c.mounted(o.val)
		case "mount":
			for part := range strings.SplitSeq(o.val.s, ",") {
				if k, v, _ := strings.Cut(part, "="); k == "source" || k == "src" {
					c.mounted(text{s: v, unknown: o.val.unknown})
				}
			}
		}
	}
	c.elsewhere(nil, nil)
}

// mounted is a folder of ours that a container gets.
func (c *call) mounted(t text) {
	src, _, _ := strings.Cut(t.s, ":")
	if t.unknown {
		c.unclear("which folder the container gets is not known")
		return
	}
	if strings.ContainsAny(src, "/.~") {
		c.role('b', known(src))
		if src == "/" || strings.HasSuffix(src, "docker.sock") {
			c.does |= doesPrivilege
		}
	}
}

// sql judges a statement.
func (c *call) sql(t text) {
	c.does |= doesDatabase
	if t.unknown {
		c.unclear("which statement runs is not known")
		return
	}
	words := strings.FieldsFunc(strings.ToUpper(t.s), func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' })
	reads := len(words) > 0
	for i, w := range words {
		switch w {
		case "DROP", "TRUNCATE", "DROPDATABASE", "DELETEMANY", "FLUSHALL", "FLUSHDB":
			c.does |= doesDestructive
			reads = false
		case "DELETE", "UPDATE":
			reads = false
			if !strings.Contains(strings.ToUpper(t.s), "WHERE") && (w == "DELETE" || i == 0) {
				c.does |= doesDestructive
			}
		case "INSERT", "ALTER", "CREATE", "GRANT", "REVOKE", "REPLACE", "COPY", "VACUUM", "ATTACH", "LOAD_EXTENSION", "IMPORT", "OUTFILE", "INTO":
			reads = false
		}
	}
	if strings.Contains(t.s, "\\!") || strings.Contains(strings.ToUpper(t.s), "PROGRAM") || strings.Contains(t.s, ".shell") || strings.Contains(t.s, ".system") {
		c.does |= doesInlineCode
	}
	if reads {
		c.does |= doesRead
	} else {
		c.does |= doesWrite
	}
}

// statement is a client of a database: what it runs may come from its input.
func statement(c *call) {
	if c.program.name == "redis-cli" {
		if len(c.operands) > 0 && redisReads(c.operands[0].s) {
			c.does = c.does&^doesDatabase | doesRead
			return
		}
		for _, t := range c.operands {
			c.sql(t)
		}
		return
	}
	switch {
	case c.in.doc != nil:
		c.sql(*c.in.doc)
	case c.in.stmt != nil:
		if t, ok := c.piped(); ok {
			c.sql(t)
		} else {
			c.unclear("the statements are not known")
		}
	case c.in.file != nil:
		c.role('x', *c.in.file)
	}
}

// redisReads reports whether a command of redis changes nothing.
func redisReads(s string) bool {
	switch strings.ToLower(s) {
	case "ping", "info", "get", "mget", "keys", "scan", "ttl", "type", "exists", "dbsize", "llen", "hget", "hgetall", "lrange", "smembers":
		return true
	}
	return false
}

// argv are the words as they are known.
func (c *call) argv() []string {
	list := make([]string, len(c.words))
	for i, w := range c.words {
		list[i] = w.s
	}
	return list
}
