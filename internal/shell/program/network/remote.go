package network

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// netcat handles nc: it listens with -l, runs programs with -e, and connects to sockets with -U.
func netcat(c *program.Call) {
	switch {
	case c.Has("U"):
		c.Part.Hosts = nil
		for _, t := range c.Operands[:min(1, len(c.Operands))] {
			c.Role('b', t)
			ourSocket(c, t)
		}
	case c.Has("l"):
		c.Does |= effect.Listen
		c.Does &^= effect.Upload
	case c.Has("z"):
		c.Does &^= effect.Upload
	}
	if c.HasAny("e", "c", "lua-exec") || c.Said("exec", 1) || c.Said("sh-exec", 2) || c.Said("lua-exec", 2) {
		c.Does |= effect.RemoteCode | effect.ServeShell
	}
	if len(c.Operands) > 2 { // of some systems, an option takes a value that takes none of others, so that another word is the host
		c.Unclear("which host it connects to is not known")
	}
	for _, t := range c.Operands {
		if t.Text == program.DaemonPort {
			c.Does |= effect.Operator
		}
	}
}

// socat has addresses as operands.
func socat(c *program.Call) {
	for _, t := range c.Operands {
		socatAddress(c, t)
	}
}

// socatAddress handles KIND:rest,option…
func socatAddress(c *program.Call, t program.Word) {
	kind, rest, _ := strings.Cut(t.Text, ":")
	rest, _, _ = strings.Cut(rest, ",")
	switch k := strings.ToUpper(kind); {
	case t.Unknown:
		c.Unclear("an address is not known")
	case strings.Contains(k, "EXEC") || strings.Contains(k, "SYSTEM") || k == "SHELL":
		c.Does |= effect.RemoteCode
		c.RunNested(program.Known(rest))
	case strings.Contains(k, "UNIX") || strings.Contains(k, "ABSTRACT"):
		c.Role('b', program.Known(rest))
		ourSocket(c, t)
	case strings.Contains(k, "LISTEN"):
		c.Does |= effect.Listen
	case strings.HasPrefix(k, "TCP") || strings.HasPrefix(k, "UDP") || strings.HasPrefix(k, "OPENSSL") || strings.HasPrefix(k, "SSL"):
		c.Host(program.Known(rest))
		ourAddress(c, ":"+rest[strings.LastIndexByte(rest, ':')+1:])
	case strings.Contains(k, "/") || k == "FILE" || k == "OPEN" || k == "GOPEN" || k == "CREATE":
		if rest == "" {
			rest = t.Text
		}
		c.Role('b', program.Known(rest))
	}
}

// ssh runs a command on another machine.
func ssh(c *program.Call, args []program.Word) {
	c.Scan(args)
	if c.Has("V") {
		c.Finish()
		return
	}
	c.Does |= effect.Network
	if c.HasAny("L", "R", "D", "w") { // ports of this machine are open to another one
		c.Does |= effect.Listen
	}
	rest := c.Operands
	if len(rest) > 0 {
		c.Host(rest[0])
		rest = rest[1:]
	}
	for _, o := range c.Options {
		if o.Name == "o" {
			sshOption(c, o.Value)
		}
	}
	c.RunElsewhere(rest)
}

// sshOption handles -o Key=value. Some values are commands.
func sshOption(c *program.Call, v program.Word) {
	key, val, ok := strings.Cut(v.Text, "=")
	if !ok {
		key, val, _ = strings.Cut(v.Text, " ")
	}
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "proxycommand", "localcommand", "knownhostscommand":
		c.RunNested(program.Word{Text: val, Unknown: v.Unknown})
	case "include", "pkcs11provider", "securitykeyprovider", "xauthlocation":
		c.Role('x', program.Word{Text: val, Unknown: v.Unknown})
	case "match":
		c.Unclear("a condition of ssh's settings may be a command")
	case "identityfile", "userknownhostsfile", "certificatefile", "controlpath":
		c.Role('r', program.Word{Text: val, Unknown: v.Unknown})
	}
}

// transfer handles rsync, scp and sftp: host:path is on another machine.
func transfer(c *program.Call) {
	n := len(c.Operands)
	for i, t := range c.Operands {
		at := strings.IndexByte(t.Text, ':')
		switch {
		case at > 0 && !strings.Contains(t.Text[:at], "/"):
			c.Host(t)
			if i == n-1 && n > 1 {
				c.Does |= effect.Upload
			}
		case c.Address(t):
			if i == n-1 && n > 1 {
				c.Does |= effect.Upload
			}
		case i == n-1 && n > 1:
			c.File(policy.Write, t)
			program.WriteSettings(c, t)
			if c.HasAny("delete", "del") {
				c.File(policy.Delete, t)
			}
		default:
			c.File(policy.Read, t)
			if c.Has("remove-source-files") {
				c.File(policy.Delete, t)
			}
		}
	}
	if n > 1 && c.Part.Program == "rsync" && c.Does&effect.Network == 0 {
		program.Move(c, c.Operands[n-1], c.Operands[:n-1])
	}
	program.Backups(c, "suffix")
	for _, o := range c.Options {
		if o.Name == "o" {
			sshOption(c, o.Value)
		}
	}
}

// configure changes an interface if anything stands behind its name.
func configure(c *program.Call) {
	if len(c.Operands) > 1 {
		c.Does |= effect.Privilege
	}
}

// sockets of other programs are closed with -K.
func sockets(c *program.Call) {
	if c.Has("K") {
		c.Does |= effect.Privilege | effect.Process
	}
}
