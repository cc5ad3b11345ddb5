package config

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/backend"
	"mycelium/internal/config/source"
	"mycelium/internal/config/toolindex"
	"mycelium/internal/policy"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// FilesServer is the built-in server that always exists: our own filesystem server, on the project folder unless an entry of that
// name changes its args.
const FilesServer = "files"

// server is an entry after mapping, with the place where it stands.
type server struct {
	backend.Server
	bare bool
	file string // as shown
	key  string // its name as it is written there
}

// maxCalls bounds concurrency and queue of a server: what one process can hold.
const maxCalls = 65536

// headerLetters are those of a token (RFC 9110).
const headerLetters = yamlfile.Lower + yamlfile.Upper + yamlfile.Digits + "!#$%&'*+.^_`|~-"

var (
	serverName = yamlfile.Word{First: yamlfile.Lower + yamlfile.Digits, Rest: yamlfile.Lower + yamlfile.Digits + "-", Most: 64}
	headerName = yamlfile.Word{First: headerLetters, Rest: headerLetters}
	envName    = yamlfile.Word{First: yamlfile.Lower + yamlfile.Upper + "_", Rest: yamlfile.Lower + yamlfile.Upper + yamlfile.Digits + "_"}
)

// takeEntries takes the entries of mycelium.yaml.
func (l *layer) takeEntries(entries map[string]*entry) {
	raw := map[string]server{}
	for name, e := range entries {
		if e == nil {
			e = &entry{}
		}
		e.set(&e.Server)
		raw[name] = server{Server: e.Server, bare: e.Bare}
	}
	l.takeServers(raw)
}

// takeClientEntries takes the entries of a client's file, mapping what we know by another name.
func (l *layer) takeClientEntries(entries map[string]*clientEntry) {
	raw := map[string]server{}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		if e == nil {
			e = &clientEntry{}
		}
		e.set(&e.Server)
		s := server{Server: e.Server, bare: e.Bare}
		for _, u := range []string{e.HTTPURL, e.ServerURL} {
			if s.URL == "" {
				s.URL = u
			}
		}
		s.Disabled = s.Disabled || e.Enabled != nil && !*e.Enabled
		warn := func(key, message, hint string) {
			l.problems = append(l.problems, source.Warning(l.serversFrom, l.entryLine(name, key), "server "+strconv.Quote(name)+": "+message, hint))
		}
		if s.Trust {
			s.Trust = false
			warn("trust", "trust means something else in a client's file and is not taken over",
				"move the entry to "+source.MainFile+" if its annotations are to be believed")
		}
		if e.HeadersHelper != "" {
			warn("headersHelper", "headersHelper is not run", "write headers with ${VAR}")
		}
		if e.OAuth != nil {
			s.OAuth = clientOAuth(e.OAuth, warn)
		}
		if e.EnvFile != "" {
			warn("envFile", "envFile is not read", "write env with ${VAR}")
		}
		if e.AlwaysAllow != nil || e.AutoApprove != nil {
			warn("autoApprove", "autoApprove and alwaysAllow have no effect: rules decide", "write an allow rule in "+source.RulesFile)
		}
		if e.IncludeTools != nil || e.ExcludeTools != nil {
			warn("excludeTools", "includeTools and excludeTools have no effect: skills decide",
				"list the tools in a skill's allowedTools, or write a deny rule")
		}
		raw[name] = s
	}
	l.takeServers(raw)
}

// takeServers checks and names the entries. One that does not hold is left out and the rest stand: a missing server only means
// less.
func (l *layer) takeServers(raw map[string]server) {
	names := map[string][]string{} // mapped → as written
	for name := range raw {
		names[mapName(name)] = append(names[mapName(name)], name)
	}
	bare := ""
	for _, mapped := range slices.Sorted(maps.Keys(names)) {
		written := names[mapped]
		slices.Sort(written)
		s := raw[written[0]]
		s.Name, s.file, s.key = mapped, l.serversFrom, written[0]
		s.Shared = l.origin == "user"
		if !l.admit(&s, written) {
			continue
		}
		ps := l.checkServer(s.key, &s)
		l.problems = append(l.problems, ps...)
		if source.Faulty(ps) {
			continue
		}
		if mapped != s.key {
			l.leave(&s, "is known as "+strconv.Quote(mapped)+"; its tools are "+mapped+"__…", "")
		}
		if s.bare && bare != "" {
			l.problems = append(l.problems, source.Fault(s.file, l.entryLine(s.key, ""),
				"servers "+strconv.Quote(bare)+" and "+strconv.Quote(mapped)+" are both bare", "at most one server can stand without prefix"))
			s.bare = false
		} else if s.bare {
			bare = mapped
		}
		l.servers = append(l.servers, s)
	}
}

// admit reports whether the name of an entry can stand, and whether it is another program than this one. written are all the names
// that are mapped to it.
func (l *layer) admit(s *server, written []string) bool {
	bad := func(message, hint string) bool {
		l.problems = append(l.problems, source.Fault(s.file, l.entryLine(s.key, ""), message, hint))
		return false
	}
	switch {
	case !serverName.MatchString(s.Name):
		return bad("server name "+strconv.Quote(s.key)+" cannot be used",
			"use 1 to 64 of the characters a-z 0-9 -, beginning with a letter or digit")
	case len(written) > 1:
		return bad(fmt.Sprintf("servers %s are all known as %s; none of them is used", source.QuotedList(written), strconv.Quote(s.Name)),
			"rename all but one")
	case s.Name == policy.AgentServer:
		return bad("server name "+strconv.Quote(s.key)+" is reserved for an agent's own tools", "rename the entry")
	case strings.HasPrefix(s.Name, "mycelium-"), s.Name == "mycelium":
		l.leave(s, "is left out: the name is this program's own, which offers those tools itself",
			"remove the entry, or rename it if it is another server")
		return false
	}
	if why := l.startsUs(&s.Server); why != "" {
		l.leave(s, "is left out: "+why, "remove the entry; the client should start us, and we start the other servers")
		return false
	}
	return true
}

// leave notes visibly what was done to an entry.
func (l *layer) leave(s *server, message, hint string) {
	l.leftOut = append(l.leftOut, source.Warning(s.file, l.entryLine(s.key, ""), "server "+strconv.Quote(s.key)+" "+message, hint))
}

// mapName maps a client's name for a server to what ours look like: lower case, and "-" for any other character.
func mapName(name string) string {
	mapped := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return strings.Trim(mapped, "-")
}

// entryLine is where an entry, or a key of it, stands.
func (l *layer) entryLine(name string, key string) int {
	at := "$.mcpServers." + source.Key(name)
	if key != "" {
		if n := yamlfile.Line(l.serversData, at+"."+key); n > 0 {
			return n
		}
	}
	if n := yamlfile.Line(l.serversData, at); n > 0 {
		return n
	}
	return yamlfile.Line(l.serversData, "$.mcpServers")
}

// checkServer checks and normalises one entry.
func (l *layer) checkServer(name string, s *server) []policy.Problem {
	var ps []policy.Problem
	bad := func(key, message, hint string) {
		ps = append(ps, source.Fault(s.file, l.entryLine(name, key), "server "+strconv.Quote(name)+": "+message, hint))
	}
	warn := func(key, message, hint string) {
		ps = append(ps, source.Warning(s.file, l.entryLine(name, key), "server "+strconv.Quote(name)+": "+message, hint))
	}
	if s.Builtin != "" || s.Name == FilesServer {
		l.checkBuiltin(s, bad, warn)
		return ps
	}
	switch strings.ToLower(s.Type) {
	case "":
	case "stdio":
		s.Type = "stdio"
	case "http", "streamable-http", "streamablehttp", "streamable_http":
		s.Type = "http"
	case "sse":
		s.Type = "sse"
	default:
		bad("type", "type "+strconv.Quote(s.Type)+" is not known", "write stdio, http or sse, or leave it out")
	}
	switch {
	case s.Command != "" && s.URL != "":
		bad("url", "has both command and url", "keep command for a program to start, or url for a server that runs elsewhere")
	case s.Command == "" && s.URL == "" && l.hasKey(name, "command"):
		bad("command", "command is empty", "write the program to start")
	case s.Command == "" && s.URL == "":
		bad("", "has neither command nor url", "write command and args of a program to start, or type: http and a url")
	case (s.Type == "http" || s.Type == "sse") && s.URL == "":
		bad("type", "type is "+s.Type+" and there is no url", "write url, or leave type out")
	case s.Type == "stdio" && s.Command == "":
		bad("type", "type is stdio and there is no command", "write command, or type: http")
	case strings.TrimSpace(s.Command) == "" && s.URL == "":
		bad("command", "command is empty", "write the program to start")
	}
	if s.URL != "" {
		l.checkURL(s, bad)
		if s.Env != nil || s.Args != nil || s.Cwd != "" {
			warn("url", "args, env and cwd have no meaning for a server with a url", "remove them")
		}
		if s.Type == "" {
			s.Type = "http"
		}
	} else if s.Headers != nil {
		warn("headers", "headers have no meaning for a server with a command", "remove them, or write env")
	}
	l.checkOAuth(s, bad)
	l.checkValues(s, bad)
	return ps
}

// hasKey reports whether an entry has a key at all.
func (l *layer) hasKey(name, key string) bool {
	return yamlfile.Line(l.serversData, "$.mcpServers."+source.Key(name)+"."+key) > 0
}

func (l *layer) checkURL(s *server, bad source.Report) {
	if strings.HasPrefix(s.URL, "${") {
		return // known only when the server is started
	}
	u, err := url.Parse(strings.NewReplacer("${", "", "}", "").Replace(s.URL)) // a variable may stand for a part of it
	switch {
	case err != nil:
		bad("url", "url cannot be parsed", "write it like https://host/mcp")
	case u.Scheme != "http" && u.Scheme != "https":
		bad("url", "url begins with "+strconv.Quote(u.Scheme+":"), "write it like https://host/mcp")
	case u.Host == "":
		bad("url", "url has no host", "write it like https://host/mcp")
	case u.User != nil:
		bad("url", "url contains a user name or password, which would reach logs", "write headers: {Authorization: \"Basic ${CREDENTIALS}\"}")
	}
}

func (l *layer) checkValues(s *server, bad source.Report) {
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		if !envName.MatchString(k) {
			bad("env", "env names the variable "+strconv.Quote(k), "use letters, digits and _")
		} else if strings.ContainsRune(s.Env[k], 0) {
			bad("env", "the value of "+k+" contains a NUL", "remove it")
		}
	}
	for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
		if !headerName.MatchString(k) {
			bad("headers", "headers names "+strconv.Quote(k), "use the characters of an HTTP header's name")
		} else if strings.ContainsAny(s.Headers[k], "\r\n\x00") {
			bad("headers", "the value of header "+k+" contains a line break", "write it on one line")
		}
	}
	if strings.ContainsRune(s.Command+strings.Join(s.Args, "")+s.Cwd, 0) {
		bad("command", "command, args or cwd contain a NUL", "remove it")
	}
	for _, n := range []struct {
		key   string
		value int
	}{{"concurrency", s.Concurrency}, {"queue", s.Queue}} {
		if n.value < 0 || n.value > maxCalls {
			bad(n.key, fmt.Sprintf("%s is %d", n.key, n.value), fmt.Sprintf("write 1 to %d, or leave it out", maxCalls))
		}
	}
	if s.Additions != "" && s.Additions != "trust" && s.Additions != "quarantine" {
		bad("additions", "additions is "+strconv.Quote(s.Additions), "write trust or quarantine")
	}
	if s.Category != "" && !toolindex.IsCategoryID(s.Category) {
		bad("category", "category is "+strconv.Quote(s.Category), "write an id such as filesystem, search, network or general")
	}
}

// checkBuiltin checks an entry that changes the arguments of a built-in server.
func (l *layer) checkBuiltin(s *server, bad, warn source.Report) {
	switch {
	case s.Builtin == "":
		bad("", "the name belongs to the built-in server for the project's files",
			"give the entry another name, or write {builtin: files, args: [FOLDER]}")
		return
	case s.Builtin != FilesServer:
		hint := "the built-in server is: " + FilesServer
		if near := text.Nearest(s.Builtin, []string{FilesServer}); near != "" {
			hint = "did you mean " + near + "?"
		}
		bad("builtin", "there is no built-in server "+strconv.Quote(s.Builtin), hint)
		return
	case s.Name != s.Builtin:
		bad("builtin", "builtin: "+s.Builtin+" belongs to the entry called "+s.Builtin, "rename the entry")
		return
	case s.Command != "" || s.URL != "":
		bad("builtin", "has builtin and command or url", "keep one of them")
		return
	case len(s.Args) > 1 || len(s.Args) == 1 && (s.Args[0] == "" || strings.ContainsRune(s.Args[0], 0)):
		bad("args", "args of builtin: files must be one folder", `write args: ["."]`)
		return
	}
	if len(s.Args) == 0 {
		s.Args = []string{"."}
	}
	if l.origin == "user" {
		return // which project it is for is not known here
	}
	dir := s.Args[0]
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(l.dir, dir)
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		bad("args", "the folder "+strconv.Quote(s.Args[0])+" does not exist", "create it, or correct args")
	} else if !source.Within(l.dir, source.Resolve(dir)) {
		warn("args", "the folder "+strconv.Quote(s.Args[0])+" lies outside of the project", "")
	}
}
