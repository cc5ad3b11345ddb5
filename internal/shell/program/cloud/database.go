package cloud

import (
	"slices"
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Clients of databases. A statement that only asks is no change: the client reads. Everything else is a statement that runs in a database.

// inputStatement is a client of a database, whose statements may come from its input.
func inputStatement(c *program.Call) {
	switch {
	case c.Input.Document != nil:
		program.Statement(c, *c.Input.Document)
	case c.Input.Output != nil:
		if t, ok := c.Input.Output(); ok {
			program.Statement(c, t)
		} else {
			c.Unclear("the statements are not known")
		}
	case c.Input.File != nil:
		c.Role('x', *c.Input.File)
	}
	if c.Has("debug") {
		c.Unclear("an option says which file it writes")
	}
	if asksDatabase(c) {
		c.Does = c.Does&^effect.Database | effect.Read
	}
}

// asksDatabase reports whether all that a client is given are statements that ask. The options, the first operand and the environment say
// which server it asks: one that is not known is none.
func asksDatabase(c *program.Call) bool {
	texts, known := statements(c)
	if !known || len(texts) == 0 || !knowsServer(c) {
		return false
	}
	for _, text := range texts {
		switch name := c.Part.Program; {
		case telling(text):
			return false
		case name == "mongosh" || name == "mongo":
			if !asksMongo(text) {
				return false
			}
		case name == "psql" && showsSchema(text), strings.HasPrefix(name, "sqlite") && showsTables(text):
		case !asksSQL(text, name):
			return false
		}
	}
	return true
}

// statements returns the statements that a client is given. known is false if a file has some, or one is not known.
func statements(c *program.Call) (texts []string, known bool) {
	if strings.HasPrefix(c.Part.Program, "mongo") && len(c.Operands) > 1 { // a script
		return nil, false
	}
	if c.HasAny("f", "i", "init", "append") || c.Input.File != nil || c.Has("A") && c.Part.Program != "psql" {
		return nil, false
	}
	words := []program.Word{}
	for _, o := range c.Options {
		if program.Named("c|e|eval|init-command|Q|q|cmd", o.Name) && o.HasValue {
			words = append(words, o.Value)
		}
		if o.Name == "v" && !strings.HasPrefix(o.Value.Text, "ON_ERROR_STOP") || o.Name == "o" && strings.HasPrefix(o.Value.Text, "|") {
			return nil, false
		}
	}
	if strings.HasPrefix(c.Part.Program, "sqlite") && len(c.Operands) > 0 {
		words = append(words, c.Operands[1:]...)
	}
	if c.Input.Document != nil {
		words = append(words, *c.Input.Document)
	} else if c.Input.Output != nil && len(words) == 0 {
		text, ok := c.Input.Output()
		if !ok {
			return nil, false
		}
		words = append(words, text)
	}
	for _, w := range words {
		if w.Unknown {
			return nil, false
		}
		texts = append(texts, w.Text)
	}
	return texts, true
}

// knowsServer finds out which server a client asks. It is this machine if nothing names another.
func knowsServer(c *program.Call) bool {
	name := c.Part.Program
	if strings.HasPrefix(name, "sqlite") {
		return true
	}
	for _, v := range [...]string{"PGHOST", "PGHOSTADDR", "PGSERVICE", "PGSERVICEFILE", "PGSYSCONFDIR", "PSQLRC", "MYSQL_HOST", "MYSQL_HOME"} {
		if _, ok := c.State.Lookup(v); ok {
			return false
		}
		for _, e := range c.Env {
			if e.Name == v {
				return false
			}
		}
	}
	to := slices.Clip(c.Operands[:min(1, len(c.Operands))])
	if v, ok := c.Value("d"); ok && name == "psql" {
		to = append(to, v)
	}
	for _, w := range to {
		switch {
		case w.Unknown:
			return false
		case strings.Contains(w.Text, "://"):
			c.Address(w)
		case strings.ContainsAny(w.Text, "=") || strings.HasPrefix(name, "mongo") && strings.ContainsAny(w.Text, "/.:"):
			return false
		}
	}
	if strings.HasPrefix(name, "mongo") && len(c.Part.Hosts) == 0 {
		c.Host(program.Known("localhost"))
	}
	return true
}

// telling reports whether a statement names what may be a secret.
func telling(text string) bool {
	return program.ContainsAny(strings.ToLower(text), "passw", "secret", "token", "credential", "api_key", "apikey", "private_key",
		"pg_authid", "pg_shadow", "pg_user_mapping", "pg_subscription", "authentication_string", "mysql.", "pg_hba")
}

// showsSchema reports whether a text is a command of psql that shows tables, or other parts of a schema.
func showsSchema(text string) bool {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	if strings.ContainsAny(rest, "\\|`\n") {
		return false
	}
	letters := strings.TrimPrefix(name, "\\d")
	return program.Named(`\l|\l+|\conninfo|\z|\encoding|\timing|\x`, name) ||
		letters != name && len(letters) < 5 && strings.Trim(letters, "abcdefgilmnopstuvwxyEFOPRS+") == ""
}

// showsTables reports whether a text is a command of sqlite3 that shows tables, or how it shows them.
func showsTables(text string) bool {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	return program.Named(".tables|.schema|.headers|.header|.mode|.indexes|.indices|.databases|.dbinfo|.width|.separator|.nullvalue|.timeout|"+
		".fullschema|.dump", name) && !strings.ContainsAny(rest, "|\n")
}

// redis is redis-cli, whose operands are the statement.
func redis(c *program.Call) {
	looks := len(c.Operands) == 0 && c.HasAny("scan", "bigkeys", "memkeys", "stat", "latency")
	if (looks || redisReads(c.Operands)) && !c.HasAny("eval", "rdb", "pipe", "cluster") {
		c.Does = c.Does&^effect.Database | effect.Read
		return
	}
	for _, t := range c.Operands {
		program.Statement(c, t)
	}
}

// redisReads reports whether a command of redis changes nothing.
func redisReads(words []program.Word) bool {
	if len(words) == 0 {
		return false
	}
	switch strings.ToLower(words[0].Text) {
	case "ping", "info", "get", "mget", "keys", "scan", "ttl", "pttl", "type", "exists", "dbsize", "llen", "lindex", "lrange", "hget", "hmget",
		"hgetall", "hlen", "hkeys", "hvals", "hexists", "hscan", "smembers", "sismember", "scard", "sscan", "zrange", "zcard", "zscore",
		"zcount", "zscan", "strlen", "getrange", "xlen", "xrange", "bitcount", "randomkey", "time", "lastsave":
		return true
	}
	if len(words) == 1 {
		return false
	}
	return program.Named("memory usage|memory stats|object encoding|client list|client info|cluster info|cluster nodes|slowlog get|"+
		"slowlog len|command count|command info|xinfo stream", strings.ToLower(words[0].Text+" "+words[1].Text))
}

// onlyOne handles a command of mysqladmin, which runs each of its operands.
func onlyOne(c *program.Call) {
	if len(c.Operands) > 0 {
		c.Does |= effect.Database
	}
}
