package config

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// checkDocument checks the values of mycelium.yaml. A value that cannot be meant breaks the file: what it would have restricted
// is not known.
func (l *layer) checkDocument() {
	file, data := l.docFile, l.docData
	bad := func(key, message, hint string) {
		l.problems = append(l.problems, fault(file, lineOf(data, key), message, hint))
		l.breakAll(file)
	}
	l.checkSession(file, data)
	if s := l.doc.Policy; s != nil {
		for key, v := range map[string]string{"mcp": s.Fallback.MCP, "agent": s.Fallback.Agent} {
			if v != "" && !slices.Contains(effects, v) {
				bad("policy.fallback."+key, "policy.fallback."+key+" is "+quoted(v), nearest(v, effects))
			}
		}
	}
	l.checkLimits(bad)
	if s := l.doc.Audit; s != nil && s.Sync != "" && s.Sync != "interval" && s.Sync != "call" {
		bad("audit.sync", "audit.sync is "+quoted(s.Sync), nearest(s.Sync, []string{"interval", "call"}))
	}
	if s := l.doc.Store; s != "" {
		switch path, sqlite := strings.CutPrefix(s, "sqlite://"); {
		case sqlite && path == "":
			bad("store", "store names no file", "write sqlite://.mycelium/mycelium.db")
		case strings.HasPrefix(s, "postgres://"), strings.HasPrefix(s, "postgresql://"):
			bad("store", "this version does not read postgres:// yet", "write sqlite://.mycelium/mycelium.db, or leave store out")
		case !sqlite:
			bad("store", "store must begin with sqlite://", "write sqlite://.mycelium/mycelium.db, or leave store out")
		}
	}
	if s := l.doc.Server; s != nil {
		if s.MaxBody < 0 || s.MaxBody > 1<<30 {
			bad("server.maxBody", fmt.Sprintf("server.maxBody is %d", s.MaxBody), "write a number of bytes from 1 to 1073741824, or leave it out for 4 MiB")
		}
		if host, port, err := net.SplitHostPort(s.Addr); s.Addr != "" && (err != nil || port == "") {
			bad("server.addr", "server.addr is "+quoted(s.Addr), "write host:port, such as "+DefaultAddr)
		} else if s.Addr != "" && !loopback(host) {
			l.problems = append(l.problems, warning(file, lineOf(data, "server.addr"), "server.addr "+s.Addr+" can be reached from other machines", "use 127.0.0.1 unless that is meant"))
		}
		checkHosts(s.Hosts, bad)
		if s.OAuth != nil {
			s.OAuth.check(bad)
		}
		if s.Anonymous != "" && (s.OAuth != nil || len(s.Hosts) > 0) {
			l.problems = append(l.problems, warning(file, lineOf(data, "server.anonymous"), "server.anonymous and a public name: behind a proxy that does not say so, everybody is anonymous", "leave server.anonymous out where others can reach this machine"))
		}
	}
	if a := l.doc.Approval; a != nil {
		a.Check(bad)
	}
	if w := l.doc.Spawn; w != nil {
		w.check(bad)
	}
	if a := l.doc.Agents; a != nil {
		a.check(bad)
	}
	if t := l.doc.Telemetry; t != nil {
		t.check(bad)
	}
	if g := l.doc.Log; g != nil {
		g.check(bad)
	}
	for i, name := range l.doc.Env {
		if !envName.MatchString(name) {
			bad(fmt.Sprintf("env[%d]", i), "env names the variable "+quoted(name), "write names only, such as GITHUB_TOKEN; values stay in the environment")
		}
	}
}

// promotions from the strictest to the widest.
var promotions = []string{"manual", "confirm", "auto"}

// checkSession checks the session section of a file.
func (l *layer) checkSession(file string, data []byte) {
	s := l.doc.Session
	if s == nil {
		return
	}
	bad := func(key, message, hint string) {
		l.problems = append(l.problems, fault(file, lineOf(data, key), message, hint))
		l.breakAll(file)
	}
	if s.Promotion != "" && !slices.Contains(promotions, s.Promotion) {
		bad("session.promotion", "session.promotion is "+quoted(s.Promotion), nearest(s.Promotion, promotions))
	}
	if s.DefaultRole != "" && !roleID.MatchString(s.DefaultRole) {
		bad("session.defaultRole", "session.defaultRole is "+quoted(s.DefaultRole), "use 1 to 64 of the characters A-Z a-z 0-9 . _ -")
	}
	for i, r := range s.Roles {
		if !roleID.MatchString(r) {
			bad(fmt.Sprintf("session.roles[%d]", i), "session.roles names "+quoted(r), "name each role; wildcards are not read here")
		}
	}
	if s.RequireApproval != nil && *s.RequireApproval {
		if s.Promotion == "auto" {
			l.problems = append(l.problems, warning(file, lineOf(data, "session.promotion"), "promotion: auto and requireApproval: true contradict each other; confirm is taken", "keep promotion only"))
		}
		if s.Promotion != "manual" {
			s.Promotion = "confirm"
		}
	}
}

// lineOf is the line of a dotted key.
func lineOf(data []byte, key string) int {
	for at := "$." + key; ; {
		if n := yamlfile.Line(data, at); n > 0 {
			return n
		}
		i := strings.LastIndexAny(at, ".[")
		if i <= 1 {
			return 0
		}
		at = at[:i]
	}
}

// nearest is a hint that names what was meant, or every choice.
func nearest(word string, choices []string) string {
	if near := text.Nearest(word, choices); near != "" {
		return "did you mean " + near + "?"
	}
	return "write " + strings.Join(choices[:len(choices)-1], ", ") + " or " + choices[len(choices)-1]
}
