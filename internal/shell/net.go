package shell

import (
	"strings"

	"mycelium/internal/policy"
)

// DaemonAddress is where our own daemon listens unless it is told otherwise: what an agent says there, an operator could say.
const daemonPort = "8420"

// curl sends what -d, -F and -T name, and writes what -o and -O name.
func curl(c *call) {
	for _, o := range c.found {
		switch o.name {
		case "d", "data-ascii", "data-binary", "data-urlencode", "json", "F", "url-query":
			c.does |= doesUpload
			c.attached(o)
		case "data-raw", "form-string", "T", "Q":
			c.does |= doesUpload
		case "X":
			if m := strings.ToUpper(o.val.s); m != "GET" && m != "HEAD" && m != "OPTIONS" {
				c.does |= doesUpload
			}
		case "O", "remote-name-all":
			c.file(policy.Write, known("."))
		case "b":
			if !strings.Contains(o.val.s, "=") {
				c.role('r', o.val)
			}
		case "H", "variable", "w":
			if strings.Contains(o.val.s, "%output{") {
				c.unclear("where its output is written is not known")
			}
			if rest, ok := strings.CutPrefix(o.val.s, "@"); ok {
				c.role('r', text{s: rest, unknown: o.val.unknown})
			}
		case "unix-socket":
			c.does |= doesProcess
			c.ourSocket(o.val)
		case "connect-to", "resolve":
			c.unclear("the host is not the one that the address names")
		}
	}
	if c.has("G") {
		c.does &^= doesUpload
	}
	if v, ok := c.value("o"); ok && v.s != "-" && c.has("output-dir") {
		c.does |= doesWrite
	}
	c.addresses(c.operands)
}

// attached is @file in a value that is sent, and name=@file or name=<file of a form.
func (c *call) attached(o option) {
	s := o.val.s
	if o.name == "F" || o.name == "data-urlencode" {
		if i := strings.IndexAny(s, "=@"); i >= 0 && s[i] == '=' {
			s = s[i+1:]
		}
	}
	if s == "" || s[0] != '@' && (s[0] != '<' || o.name != "F") {
		return
	}
	s = s[1:]
	if o.name == "F" {
		s, _, _ = strings.Cut(s, ";")
	}
	if s != "-" || o.val.unknown {
		c.role('r', text{s: s, unknown: o.val.unknown})
	}
}

// addresses looks for our own daemon, and for files, among addresses.
func (c *call) addresses(list []text) {
	for _, t := range list {
		scheme, rest, _ := strings.Cut(t.s, "://")
		switch strings.ToLower(scheme) {
		case strings.ToLower(t.s), "http", "https", "ws", "wss":
		case "file":
			if i := strings.IndexByte(rest, '/'); i > 0 { // the machine's own name
				rest = rest[i:]
			}
			c.role('r', text{s: rest, unknown: t.unknown})
		default:
			c.unclear("what is said in " + scheme + " is not known")
		}
		c.ourAddress(t.s)
	}
}

// ourAddress reports an act of the operator where an address is that of our daemon.
func (c *call) ourAddress(s string) {
	if strings.Contains(s, ":"+daemonPort) {
		c.does |= doesOperator
	}
}

func (c *call) ourSocket(t text) {
	if strings.Contains(t.s, ".mycelium") || strings.Contains(t.s, "mycelium") || t.unknown {
		c.does |= doesOperator
	}
}

// wget writes what it fetches into the working directory, unless -O says otherwise.
func wget(c *call) {
	if c.has("e") || c.has("config") {
		c.unclear("settings of wget that were not read")
	}
	for _, o := range c.found {
		switch o.name {
		case "post-file", "body-file", "post-data", "body-data":
			c.does |= doesUpload
		case "method":
			if m := strings.ToUpper(o.val.s); m != "GET" && m != "HEAD" {
				c.does |= doesUpload
			}
		}
	}
	if !c.has("O") && !c.has("spider") && !c.has("P") {
		c.file(policy.Write, known("."))
	}
	c.addresses(c.operands)
}

// listener is nc and socat: they listen with -l, run programs with -e, and reach sockets.
func listener(c *call) {
	if c.program.name == "socat" {
		for _, t := range c.operands {
			c.socatAddress(t)
		}
		return
	}
	switch {
	case c.has("U"):
		c.part.Hosts = nil
		for _, t := range c.operands[:min(1, len(c.operands))] {
			c.role('b', t)
			c.ourSocket(t)
		}
	case c.has("l"):
		c.does |= doesListen
		c.does &^= doesUpload
	case c.has("z"):
		c.does &^= doesUpload
	}
	if c.has("e") || c.has("c") || c.has("lua-exec") || c.said("exec", 1) || c.said("sh-exec", 2) || c.said("lua-exec", 2) {
		c.does |= doesRemoteCode | doesServeShell
	}
	for _, t := range c.operands {
		if t.s == daemonPort {
			c.does |= doesOperator
		}
	}
}

// socatAddress is KIND:rest,option…
func (c *call) socatAddress(t text) {
	kind, rest, _ := strings.Cut(t.s, ":")
	rest, _, _ = strings.Cut(rest, ",")
	switch k := strings.ToUpper(kind); {
	case t.unknown:
		c.unclear("an address is not known")
	case strings.Contains(k, "EXEC") || strings.Contains(k, "SYSTEM") || k == "SHELL":
		c.does |= doesRemoteCode
		c.nested(known(rest))
	case strings.Contains(k, "UNIX") || strings.Contains(k, "ABSTRACT"):
		c.role('b', known(rest))
		c.ourSocket(t)
	case strings.Contains(k, "LISTEN"):
		c.does |= doesListen
	case strings.HasPrefix(k, "TCP") || strings.HasPrefix(k, "UDP") || strings.HasPrefix(k, "OPENSSL") || strings.HasPrefix(k, "SSL"):
		c.host(known(rest))
		c.ourAddress(":" + rest[strings.LastIndexByte(rest, ':')+1:])
	case strings.Contains(k, "/") || k == "FILE" || k == "OPEN" || k == "GOPEN" || k == "CREATE":
		if rest == "" {
			rest = t.s
		}
		c.role('b', known(rest))
	}
}

// request is httpie, and gh api: with a field or a method it changes something.
func request(c *call) {
	if c.program.name == "api" {
		method := ""
		if v, ok := c.value("X"); ok {
			method = strings.ToUpper(v.s)
		}
		if c.has("f") || c.has("F") || c.has("input") || method != "" && method != "GET" {
			if method != "GET" {
				c.does |= doesPublish | doesUpload
			}
		}
		return
	}
	for _, t := range c.operands {
		switch s := t.s; {
		case strings.ToUpper(s) == s && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && s != "":
			if s != "GET" && s != "HEAD" {
				c.does |= doesUpload
			}
		case strings.Contains(s, "=@") || strings.Contains(s, ":=@"):
			c.does |= doesUpload
			_, file, _ := strings.Cut(s, "@")
			c.role('r', text{s: file, unknown: t.unknown})
		case strings.Contains(s, "==") || strings.Contains(s, "://") || strings.HasPrefix(s, ":") || !strings.ContainsAny(s, "=@"):
			if len(c.part.Hosts) == 0 {
				c.host(t)
			}
			c.ourAddress(s)
		default:
			c.does |= doesUpload
		}
	}
}

// isService reports whether a program asks the services of the project, without being told where they are.
func isService(name string) bool {
	switch name {
	case "git", "npm", "yarn", "pnpm", "bun", "go", "cargo", "pip", "pip3", "uv", "poetry", "bundle", "composer", "docker", "podman", "kubectl", "helm", "terraform", "tofu",
		"aws", "gcloud", "az", "gh", "glab":
		return true
	}
	return false
}

// otherPlaces looks among all words of a program with subcommands for options that lead it to another machine or to other settings.
func otherPlaces(c *call) {
	for i, t := range c.words {
		switch name, _, _ := strings.Cut(t.s, "="); {
		case c.program.name == "tmux":
			if strings.Contains(t.s, "#(") {
				c.does |= doesInlineCode
			}
		case c.program.name == "gh" || c.program.name == "glab":
			if name == "--hostname" || strings.Count(t.s, "/") > 1 && i > 0 && (named("-R|--repo", c.words[i-1].s) || strings.HasPrefix(t.s, "-R") || name == "--repo") {
				c.unclear("the service is another one")
			}
		case t.s == "--privileged" || name == "--privileged" && t.s != "--privileged=false":
			c.does |= doesHostRights
		case c.program.name == "docker":
			if i > 0 && i < 3 && (strings.HasPrefix(t.s, "-H") || named("-c|--host|--context|--config", name)) {
				c.unclear("the service is another one")
			}
		case strings.HasPrefix(name, "--reg") || strings.HasPrefix(name, "--userc") || strings.HasPrefix(name, "--globalc") || strings.HasPrefix(name, "--script-") ||
			strings.HasPrefix(name, "--node-o") || strings.HasPrefix(name, "--@") || strings.Contains(name, ":registry"):
			c.unclear("the option " + name + " changes what is fetched or run")
		case strings.Contains(t.s, "://"):
			c.address(t)
		}
	}
}

// filter is jq and yq, whose programs can show the environment and read files.
func filter(c *call) {
	for _, t := range c.operands[:min(1, len(c.operands))] {
		for _, word := range [...]string{"$ENV", "env", "strenv", "envsubst"} {
			if hasWord(t.s, word) {
				c.does |= doesSecrets
			}
		}
		if hasWord(t.s, "load") || hasWord(t.s, "load_str") || hasWord(t.s, "import") || hasWord(t.s, "include") {
			c.unclear("which files the filter reads is not known")
		}
	}
}

// hasWord reports whether a word stands in the program of a filter, neither as a key nor in a text.
func hasWord(s, word string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return false
		}
		at := from + i
		from = at + len(word)
		before := at == 0 || strings.IndexByte(" |(,;[{:", s[at-1]) >= 0
		after := from == len(s) || strings.IndexByte(" |(),;]}.", s[from]) >= 0
		if before && after {
			return true
		}
	}
}
