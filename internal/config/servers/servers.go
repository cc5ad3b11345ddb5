// Package servers reads the mcpServers of mycelium.yaml and of clients' files, and checks each entry.
package servers

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
	"mycelium/internal/code"
	"mycelium/internal/config/source"
	"mycelium/internal/config/toolindex"
	"mycelium/internal/policy"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// Files is the name of the built-in filesystem server, which always exists. It serves the project folder unless an entry of that name has
// other args.
const Files = "files"

// Server is a checked entry and its place.
type Server struct {
	backend.Server
	Bare bool   // its tools have no prefix towards clients
	File string // as shown
	Key  string // its name in the file
}

// File is a file with entries.
type File struct {
	Name string // as shown
	Data []byte
	Dir  string // of the project or the user
	User bool   // it is one of the user's files, which hold for every project
	Addr string // where this project's daemon listens, host:port
}

// Result is what [Read] made of the entries of a file. An entry with a fault is left out and the others count: a missing server only
// makes fewer tools.
type Result struct {
	Servers  []Server
	Problems []policy.Problem
	LeftOut  []policy.Problem // entries that are left out or renamed, for people
}

type reader struct {
	File
	Result
}

// maxCalls bounds concurrency and queue of a server.
const maxCalls = 65536

// headerLetters are the characters of a token (RFC 9110).
const headerLetters = yamlfile.Lower + yamlfile.Upper + yamlfile.Digits + "!#$%&'*+.^_`|~-"

var (
	serverName = yamlfile.Word{First: yamlfile.Lower + yamlfile.Digits, Rest: yamlfile.Lower + yamlfile.Digits + "-", Most: 64}
	// HeaderName is the form of an HTTP header's name.
	HeaderName = yamlfile.Word{First: headerLetters, Rest: headerLetters}
	// EnvName is the form of an environment variable's name.
	EnvName = yamlfile.Word{First: yamlfile.Lower + yamlfile.Upper + "_", Rest: yamlfile.Lower + yamlfile.Upper + yamlfile.Digits + "_"}
)

// Read reads the entries of mycelium.yaml.
func Read(f File, entries map[string]*Entry) Result {
	raw := map[string]Server{}
	for name, e := range entries {
		if e == nil {
			e = &Entry{}
		}
		e.set(&e.Server)
		raw[name] = Server{Server: e.Server, Bare: e.Bare}
	}
	r := &reader{File: f}
	r.take(raw)
	return r.Result
}

// ReadClient reads the entries of a client's file. It maps the keys that are known here by another name.
func ReadClient(f File, entries map[string]*ClientEntry) Result {
	r := &reader{File: f}
	raw := map[string]Server{}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		if e == nil {
			e = &ClientEntry{}
		}
		e.set(&e.Server)
		s := Server{Server: e.Server, Bare: e.Bare}
		for _, u := range []string{e.HTTPURL, e.ServerURL} {
			if s.URL == "" {
				s.URL = u
			}
		}
		s.Disabled = s.Disabled || e.Enabled != nil && !*e.Enabled
		warn := func(key, message, hint string) {
			r.Problems = append(r.Problems, source.Warning(r.Name, r.entryLine(name, key), "server "+strconv.Quote(name)+": "+message, hint))
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
	r.take(raw)
	return r.Result
}

// ValidName reports whether a server may have this name.
func ValidName(name string) bool { return serverName.MatchString(name) }

// take checks the entries and maps their names.
func (r *reader) take(raw map[string]Server) {
	names := map[string][]string{} // mapped name → names in the file
	for name := range raw {
		names[MapName(name)] = append(names[MapName(name)], name)
	}
	bare := ""
	for _, mapped := range slices.Sorted(maps.Keys(names)) {
		written := names[mapped]
		slices.Sort(written)
		s := raw[written[0]]
		s.Name, s.File, s.Key = mapped, r.Name, written[0]
		s.Shared = r.User
		if !r.admit(&s, written) {
			continue
		}
		ps := r.checkServer(s.Key, &s)
		r.Problems = append(r.Problems, ps...)
		if source.Faulty(ps) {
			continue
		}
		if mapped != s.Key {
			r.leave(&s, "is known as "+strconv.Quote(mapped)+"; its tools are "+mapped+"__…", "")
		}
		if s.Bare && bare != "" {
			r.Problems = append(r.Problems, source.Fault(s.File, r.entryLine(s.Key, ""),
				"servers "+strconv.Quote(bare)+" and "+strconv.Quote(mapped)+" are both bare", "at most one server can stand without prefix"))
			s.Bare = false
		} else if s.Bare {
			bare = mapped
		}
		r.Servers = append(r.Servers, s)
	}
}

// admit reports whether an entry may have its name, and does not start this program again. written are all names in the file that are
// mapped to its name.
func (r *reader) admit(s *Server, written []string) bool {
	bad := func(message, hint string) bool {
		r.Problems = append(r.Problems, source.Fault(s.File, r.entryLine(s.Key, ""), message, hint))
		return false
	}
	switch {
	case !ValidName(s.Name):
		return bad("server name "+strconv.Quote(s.Key)+" cannot be used",
			"use 1 to 64 of the characters a-z 0-9 -, beginning with a letter or digit")
	case len(written) > 1:
		return bad(fmt.Sprintf("servers %s are all known as %s; none of them is used", source.QuotedList(written), strconv.Quote(s.Name)),
			"rename all but one")
	case s.Name == policy.AgentServer:
		return bad("server name "+strconv.Quote(s.Key)+" is reserved for an agent's own tools", "rename the entry")
	case strings.HasPrefix(s.Name, "mycelium-"), s.Name == "mycelium":
		r.leave(s, "is left out: the name is this program's own, which offers those tools itself",
			"remove the entry, or rename it if it is another server")
		return false
	}
	if why := r.startsUs(&s.Server); why != "" {
		r.leave(s, "is left out: "+why, "remove the entry; the client should start us, and we start the other servers")
		return false
	}
	return true
}

// leave tells people that an entry was left out or renamed.
func (r *reader) leave(s *Server, message, hint string) {
	r.LeftOut = append(r.LeftOut, source.Warning(s.File, r.entryLine(s.Key, ""), "server "+strconv.Quote(s.Key)+" "+message, hint))
}

// MapName maps a client's name of a server to the form of ours: lower case, and "-" for any other character.
func MapName(name string) string {
	mapped := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return strings.Trim(mapped, "-")
}

// entryLine is the line of an entry, or of a key of it.
func (r *reader) entryLine(name string, key string) int {
	at := "$.mcpServers." + source.Key(name)
	if key != "" {
		if n := yamlfile.Line(r.Data, at+"."+key); n > 0 {
			return n
		}
	}
	if n := yamlfile.Line(r.Data, at); n > 0 {
		return n
	}
	return yamlfile.Line(r.Data, "$.mcpServers")
}

// checkServer checks and normalises an entry.
func (r *reader) checkServer(name string, s *Server) []policy.Problem {
	var ps []policy.Problem
	bad := func(key, message, hint string) {
		ps = append(ps, source.Fault(s.File, r.entryLine(name, key), "server "+strconv.Quote(name)+": "+message, hint))
	}
	warn := func(key, message, hint string) {
		ps = append(ps, source.Warning(s.File, r.entryLine(name, key), "server "+strconv.Quote(name)+": "+message, hint))
	}
	if s.Builtin != "" || s.Name == Files {
		r.checkBuiltin(s, bad, warn)
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
	case s.Command == "" && s.URL == "" && r.hasKey(name, "command"):
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
		checkURL(s, bad)
		if s.Env != nil || s.Args != nil || s.Cwd != "" {
			warn("url", "args, env and cwd have no meaning for a server with a url", "remove them")
		}
		if s.Type == "" {
			s.Type = "http"
		}
	} else if s.Headers != nil {
		warn("headers", "headers have no meaning for a server with a command", "remove them, or write env")
	}
	checkOAuth(s, bad)
	checkValues(s, bad)
	return ps
}

// hasKey reports whether an entry has a key, even without a value.
func (r *reader) hasKey(name, key string) bool {
	return yamlfile.Line(r.Data, "$.mcpServers."+source.Key(name)+"."+key) > 0
}

func checkURL(s *Server, bad source.Report) {
	if strings.HasPrefix(s.URL, "${") {
		return // its value is known only when the server starts
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

func checkValues(s *Server, bad source.Report) {
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		if !EnvName.MatchString(k) {
			bad("env", "env names the variable "+strconv.Quote(k), "use letters, digits and _")
		} else if strings.ContainsRune(s.Env[k], 0) {
			bad("env", "the value of "+k+" contains a NUL", "remove it")
		}
	}
	for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
		if !HeaderName.MatchString(k) {
			bad("headers", "headers names "+strconv.Quote(k), "use the characters of an HTTP header's name")
		} else if strings.ContainsAny(s.Headers[k], "\r\n\x00") {
			bad("headers", "the value of header "+k+" contains a line break", "write it on one line")
		}
	}
	if strings.ContainsRune(s.Command+strings.Join(s.Args, "")+s.Cwd, 0) {
		bad("command", "command, args or cwd contain a NUL", "remove it")
	}
	for _, path := range s.Data {
		switch {
		case s.Command == "":
			bad("data", "data has no meaning for a server without a command: it is not started here", "remove it")
		case path == "" || strings.ContainsRune(path, 0) || strings.Contains(path, "${"):
			bad("data", "data names "+strconv.Quote(path), "write the path of a file or a folder that the server writes, without variables")
		case filepath.Clean(path) == filepath.Clean(s.Command) || code.IsProgramName(path):
			bad("data", "data names "+path+", which is a program", "name only what the server writes")
		}
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
	if s.Sandbox != "" && s.URL != "" {
		bad("sandbox", "sandbox has no meaning for a server with a url: it is not started here", "remove it")
	}
	if s.Category != "" && !toolindex.IsCategoryID(s.Category) {
		bad("category", "category is "+strconv.Quote(s.Category), "write an id such as filesystem, search, network or general")
	}
}

// checkBuiltin checks an entry that changes the arguments of a built-in server.
func (r *reader) checkBuiltin(s *Server, bad, warn source.Report) {
	switch {
	case s.Builtin == "":
		bad("", "the name belongs to the built-in server for the project's files",
			"give the entry another name, or write {builtin: files, args: [FOLDER]}")
		return
	case s.Builtin != Files:
		hint := "the built-in server is: " + Files
		if near := text.Nearest(s.Builtin, []string{Files}); near != "" {
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
	if r.User {
		return // it is for every project
	}
	dir := s.Args[0]
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.Dir, dir)
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		bad("args", "the folder "+strconv.Quote(s.Args[0])+" does not exist", "create it, or correct args")
	} else if !source.Within(r.Dir, source.Resolve(dir)) {
		warn("args", "the folder "+strconv.Quote(s.Args[0])+" lies outside of the project", "")
	}
}

// Line is the line of the entry in its file, whose text is data.
func (s *Server) Line(data []byte) int {
	return yamlfile.Line(data, "$.mcpServers."+source.Key(s.Key))
}

// Folder is the folder that an entry of the built-in filesystem server names, for a project.
func (s *Server) Folder(project string) string {
	dir := "."
	if len(s.Args) > 0 {
		dir = s.Args[0]
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(project, dir)
	}
	return source.Resolve(dir)
}
