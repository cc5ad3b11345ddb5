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
		case "H", "variable", "w":
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
		if rest, ok := strings.CutPrefix(t.s, "file://"); ok {
			c.role('r', text{s: rest, unknown: t.unknown})
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
	if c.has("e") || c.has("c") {
		c.does |= doesRemoteCode
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
